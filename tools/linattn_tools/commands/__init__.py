"""The subcommands of ``linattn``. ``add`` declares arguments; what a command needs is imported when it runs."""

import argparse


def count(text: str) -> int:
    """The type of an option that is a number of things."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, at least 1; got {text!r}")
    return int(text)
