"""The adapters for third-party implementations: they call them under the right conventions.

Two cases are enough to see a wrong one: with keys and values of different sizes, and with a square state, which its
transpose fits. Both begin from a state. ``linattn check`` runs all the rest.
"""

from importlib import import_module

import pytest

from linattn_spec import Backend
from linattn_spec.checks import run_check
from linattn_spec.results import Check

NEEDED = {
    "transformers_torch": ("torch", "transformers.models.kimi_linear.modeling_kimi_linear"),
    "tree_recurrence": ("torch", "tree_recurrence.reference"),
    "mlx_lm": ("mlx.core", "mlx_lm"),
    "jax_linear_attention": ("jax", "jla.ops"),
}
SCENARIOS = ("odd-dims", "square")


def adapter(name: str) -> Backend:
    for module in NEEDED[name]:
        pytest.importorskip(module, reason=f"the adapter {name} needs {module}")
    backend = import_module(f"linattn_spec.backends.{name}").backend
    assert isinstance(backend, Backend)
    return backend


@pytest.mark.parametrize("name", NEEDED)
def test_the_conventions_are_right(name):
    backend = adapter(name)
    checks = [
        Check(function.variant, scenario, function.column, "fp32", "golden")
        for function in backend.functions
        for scenario in SCENARIOS
    ]
    results = [run_check(backend, check) for check in checks]
    assert len(results) >= 6
    assert {result.check.id: result.reason for result in results if result.status != "pass"} == {}


@pytest.mark.parametrize(("name", "form"), [("tree_recurrence", "recurrent"), ("mlx_lm", "chunkwise")])
def test_mamba_2_does_not_write_without_decay(name, form):
    result = run_check(adapter(name), Check("simple_gla", "gates-zero", form, "fp32", "golden"))
    assert (result.status, "writes dt x" in result.reason) == ("unsupported", True)


def test_no_kernel_of_another_library_is_judged_as_that_of_transformers():
    backend = adapter("transformers_torch")
    for function in backend.functions:
        (called,) = (cell.cell_contents for cell in function.call.__closure__)
        assert called.__module__.startswith("transformers.models.")
        assert not hasattr(called, "__wrapped__")
