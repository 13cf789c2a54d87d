"""The contract: values outside the domain of an input do no harm to other batch entries and heads."""

from typing import Any

import numpy as np
import pytest
from plain import judged, plain


def leak(*axes: int) -> Any:
    """Every value gets a nothing of all others along these axes: 0 times what is not finite is NaN."""

    def call(**arguments: Any) -> Any:
        output, state = plain(**arguments)
        return output + 0 * output.sum(axis=axes, keepdims=True), state

    return call


def clamped_with_the_largest(**arguments: Any) -> Any:
    """Gates are made harmless for all where one of them is not."""
    return plain(**arguments | {"log_decay": arguments["log_decay"] - max(0, arguments["log_decay"].max())})


def betas_clipped_by_the_largest(**arguments: Any) -> Any:
    beta = arguments["beta"]
    return plain(**arguments | {"beta": beta / max(1, beta.max() / 2)})


def betas_lifted_by_the_smallest(**arguments: Any) -> Any:
    beta = arguments["beta"]
    return plain(**arguments | {"beta": beta - min(0, beta.min())})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (leak(0), "NaN in the last batch entry: output is not finite"),
        (leak(1), "NaN in the last head: output is not finite"),
        (clamped_with_the_largest, "a log_decay of 8 in the last "),
        (betas_clipped_by_the_largest, "a beta of 3 in the last "),
        (betas_lifted_by_the_smallest, "a beta of -1 in the last "),
    ],
    ids=["batch", "heads", "log_decay", "beta above", "beta below"],
)
def test_harm_done_to_others_is_seen(call, words):
    result = judged(call, "domain")
    assert judged(call, "golden").status == "pass"
    assert result.status == "fail"
    assert result.reason.startswith(words)


def test_values_outside_the_domain_reach_the_function():
    """All kinds of them, in every input, first in a batch entry and then in a head."""
    seen = []

    def call(**arguments: Any) -> Any:
        with np.errstate(all="ignore"):
            unusual = {
                name: str(np.asarray(x)[-1, -1].ravel()[0])
                for name, x in arguments.items()
                if isinstance(x, np.ndarray) and not (np.abs(x) < 2.5).all()
            }
        seen.append(unusual)
        return plain(**arguments)

    assert judged(call, "domain").status == "pass"
    data, largest = ("q", "k", "v", "initial_state"), str(np.float32(2.0**127))
    assert len(seen) == 1 + 2 * 6
    for n in (1, 7):
        assert {"nan"} == {seen[n][name] for name in (*data, "log_decay", "beta")}
        assert [{seen[n + i][name] for name in data} for i in (1, 2)] == [{"inf"}, {largest}]
        assert (seen[n + 3]["log_decay"], seen[n + 5]["beta"]) == ("8.0", "3.0")
