"""Adapters for implementations that others wrote, and for our own folds. Each imports what it adapts, and nothing
else does.
"""
