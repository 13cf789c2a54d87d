"""``linattn mutants --list``: a line for every mistake, or all that is told of those that are named."""

import math
import re

import pytest
from commandline import run

from linattn_spec.mistakes import MISTAKES
from linattn_spec.mistakes.gradients import GRADIENT_MISTAKES
from linattn_tools.report.catalogue import short


def test_a_list_has_a_line_for_every_mistake(capsys):
    assert run("mutants", "--list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [one.id for one in (*MISTAKES, *GRADIENT_MISTAKES)]
    assert all(line.endswith(one.sentence) for line, one in zip(lines, (*MISTAKES, *GRADIENT_MISTAKES), strict=True))


def test_of_one_mistake_all_is_told(capsys):
    assert run("mutants", "--list", "state-transposed-out", "initial-state-overwritten") == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.splitlines()[:3] == [
        "state-transposed-out",
        "  The final state is returned as (V, K).",
        "  class       state layout",
    ]
    assert "changes     final_state/S\n" in first
    assert re.search(r"best shown  fp32, linear_attention recurrent: square \(\S+ units\)", first)
    assert "seen in     https://github.com/fla-org/flash-linear-attention/pull/1191" in second
    assert "seen by     untouched" in second
    assert "best shown" not in second


@pytest.mark.parametrize(
    ("units", "words"),
    [
        (0, "0"),
        (19.6, "20"),
        (999, "999"),
        (1234, "1.23k"),
        (56e6, "56M"),
        (7e9, "7G"),
        (1e13, "> 1T"),
        (math.inf, "inf"),
    ],
)
def test_units_in_few_characters(units, words):
    assert short(units) == words
