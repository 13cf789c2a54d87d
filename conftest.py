"""What all tests share: Hypothesis draws the same examples on every run, however slow the machine."""

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("suite")
