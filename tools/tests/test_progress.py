"""The progress bar is for people at a terminal."""

import io
import sys

import pytest

from linattn_tools.progress import track


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
def test_a_bar_on_a_terminal_and_nothing_elsewhere(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream())
    monkeypatch.setenv("TERM", "xterm")
    assert list(track([1, 2, 3], total=3, what="proving")) == [1, 2, 3]
    assert ("proving" in sys.stderr.getvalue()) == (stream is Terminal)
    assert sys.stderr.getvalue() == "" or stream is Terminal
