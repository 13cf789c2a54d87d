"""Adapters for the implementations of others, and for our own folds. Each imports what it adapts; nothing else does."""
