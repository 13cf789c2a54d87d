"""Reports of a run of the conformance suite: for the terminal, and as a page."""
