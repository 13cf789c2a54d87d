"""``linattn_spec.check``: one function, judged in the caller's own test."""

from collections.abc import Callable, Sequence
from typing import Any

from linattn_spec.backend import Backend
from linattn_spec.profiles import Profile
from linattn_spec.results import Result


def check(
    function: Callable[..., Any],
    variant: str,
    *,
    form: str = "recurrent",
    profiles: Sequence[str | Profile] = ("fp32",),
    array: str = "numpy",
    accepts: str = "",
    log_decay_range: float = -20.0,
    **options: Any,
) -> list[Result]:
    """Judge ``function`` as an implementation of ``variant``, in this process.

    It is called by keyword with the inputs of the record that it names, and ``initial_state``; it returns
    ``(output, final_state)``. ``options`` are those of ``Backend.implements``: ``layout``, ``state``, ``vjp`` ...
    Returns all results; raises ``AssertionError`` with what is wrong, and where it begins, or if no case could be
    judged.
    """
    from linattn_spec.checks import run_check
    from linattn_spec.plan import plan

    backend = Backend(
        getattr(function, "__name__", "function"), array=array, profiles=profiles, log_decay_range=log_decay_range
    )
    backend.implements(variant, form, accepts, **options)(function)
    results = [run_check(backend, planned) for planned in plan(backend)]
    wrong = [f"{result.check.id}: {result.reason}" for result in results if result.status in ("fail", "error")]
    if wrong:
        raise AssertionError(f"{len(wrong)} of {len(results)} checks of {variant} failed\n" + "\n".join(wrong))
    if all(result.status in ("unsupported", "noted") for result in results):
        raise AssertionError(f"no case of {variant} could be judged; for example {results[0].reason}")
    return results
