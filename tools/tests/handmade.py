"""Small runs made by hand, for the tests of the reports."""

from itertools import combinations

import pytest

from linattn_spec.results import STATUSES, Check, Result, Run

ENVIRONMENT = {"backend": "my kernels.py", "title": "Acme <kernels>", "version": "0.0"}
PLACES = {  # a cell of its own for every status
    "pass": ("linear_attention", "recurrent", "fp32"),
    "fail": ("gla", "chunkwise.fused", "fp32"),
    "limit": ("gla", "chunkwise.fused", "bf16"),
    "error": ("kda", "chunkwise", "fp32"),
    "known": ("gated_delta_rule", "recurrent", "fp32"),
    "noted": ("retention", "recurrent", "fp32"),
    "unsupported": ("kda", "parallel", "fp32"),
    "not run": ("delta_rule", "recurrent", "fp32"),
}
SUBSETS = [subset for size in range(len(STATUSES) + 1) for subset in combinations(STATUSES, size)]
EACH_SUBSET = pytest.mark.parametrize("statuses", SUBSETS, ids=lambda statuses: ", ".join(statuses) or "none")


def result(status, place=("kda", "recurrent", "fp32"), scenario="one-token", kind="golden", reason="", load=None):
    variant, column, profile = place
    return Result(Check(variant, scenario, column, profile, kind), status, reason, load)


def run_of(*results):
    return Run(ENVIRONMENT, results)


def some_of_each(statuses=tuple(STATUSES)):
    """Two or more results of every status, each status in its own cell, with a different count."""
    return run_of(
        *(
            result(status, PLACES[status], f"case-{i}", reason=f"<b>{status}</b> & [red]{i}[/red]; case {i}")
            for count, status in enumerate(statuses, start=2)
            for i in range(count)
        )
    )
