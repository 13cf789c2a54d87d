"""Functions against their textbook formula: every digit, and every derivative.

The formula is evaluated on balls with as many bits as its cancellations need, so that it may be as naive as it is in
print. ``numbers`` are short, so that sums and differences of them are exact.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from drawing import close

from linattn.numbers import ball, complex_step, tape

FAR = np.array([-800, -745, -709, -100, -40, -18, -12, -3, -0.5, -(2.0**-30), -1e-300])
FAR = np.concatenate([FAR, [0], -FAR])

# A function of the library is right within 4 units in the last place; at most three follow one another here, and what
# is between them adds at most 4.
FEW = 3 * 4 + 4


def ulps(got: Any, exact: Any) -> Any:
    """The distance in units in the last place of the exact value."""
    return np.abs(np.subtract(got, exact)) / np.spacing(np.abs(exact))


def all_digits(function: Callable[..., Any], formula: Callable[..., Any], numbers: Mapping[str, Any]) -> bool:
    """The function is right to a few units in the last place, and on balls it is the formula."""
    exact, _ = ball.certify(lambda x: {"y": formula(**x)}, numbers)
    on_balls, _ = ball.certify(lambda x: {"y": function(**x)}, numbers)
    few = np.all(ulps(function(**numbers), exact["y"]) <= FEW)
    return bool(few) and np.array_equal(on_balls["y"], exact["y"])


def all_derivatives(function: Callable[..., Any], formula: Callable[..., Any], numbers: Mapping[str, Any]) -> bool:
    """By the tape and by the complex step they are those of the formula."""

    def of(compute: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
        return lambda x: {"y": compute(**x)}

    cotangents = {"y": np.ones(np.shape(function(**numbers)))}
    exact, _ = ball.certify(lambda x: tape.gradients(of(formula), x, cotangents), numbers)
    by_tape = tape.gradients(of(function), numbers, cotangents)
    return all(
        close(np.asarray(by_tape[name], dtype=float), exact[name])
        and close(complex_step.gradient(of(function), numbers, cotangents, name), exact[name])
        for name in numbers
    )
