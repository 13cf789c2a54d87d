"""The adapters for third-party implementations: they call them under the right conventions.

Two cases are enough to see a wrong one: with keys and values of different sizes, and with a square state, which its
transpose fits. Both begin from a state. ``linattn check`` runs all the rest.
"""

from importlib import import_module
from importlib.util import find_spec

import pytest

import linattn_golden
from linattn import VARIANTS
from linattn_spec import Backend
from linattn_spec.backend import Function
from linattn_spec.backends import triton_interpreter
from linattn_spec.checks import run_check
from linattn_spec.plan import suits
from linattn_spec.results import Check

NEEDED = {
    "transformers_torch": ("torch", "transformers.models.kimi_linear.modeling_kimi_linear"),
    "tree_recurrence": ("torch", "tree_recurrence.reference"),
    "mlstm_kernels": ("torch", "mlstm_kernels.torch"),
    "fla.backend": ("torch", "einops"),
    "mlx_lm": ("mlx.core", "mlx_lm"),
    "jax_linear_attention": ("jax", "jla.ops"),
}
SCENARIOS = ("odd-dims", "square")
FOR_OTHERS = ("long-fresh", "plain", "recipe-64")  # for functions that take no state, or full chunks alone


def adapter(name: str) -> Backend:
    for module in NEEDED[name]:
        pytest.importorskip(module, reason=f"the adapter {name} needs {module}")
    for module in ("triton", "fla") if name == "fla.backend" else ():
        if not find_spec(module):  # nothing imports Triton before the adapter has chosen its interpreter
            pytest.skip(f"the adapter fla.backend needs {module}")
    backend = import_module(f"linattn_spec.backends.{name}").backend
    assert isinstance(backend, Backend)
    return backend


def checks(function: Function) -> list[Check]:
    cases = {case.id.split("/")[1]: case for case in linattn_golden.cases(function.variant)}
    fitting = [[s for s in group if suits(function, cases[s])] for group in (SCENARIOS, FOR_OTHERS)]
    profile = function.profiles[0].name
    return [Check(function.variant, s, function.column, profile, "golden") for s in fitting[0] or fitting[1]]


@pytest.mark.parametrize("name", NEEDED)
def test_the_conventions_are_right(name):
    backend = adapter(name)
    planned = [checks(function) for function in backend.functions]
    assert all(planned)
    results = [run_check(backend, check) for of_one in planned for check in of_one]
    assert len(results) >= 6
    assert {result.check.id: result.reason for result in results if result.status != "pass"} == {}


@pytest.mark.parametrize(("library", "models"), [("transformers", "transformers.models"), ("mlx-lm", "mlx_lm.models")])
def test_the_modules_of_models_that_use_a_variant_exist(library, models):
    pytest.importorskip(models)
    named = [where.split()[1] for variant in VARIANTS for where in variant.used_by.values() if library in where]
    assert named
    assert [module for module in named if not find_spec(f"{models}.{module}")] == []


@pytest.mark.parametrize(("name", "form"), [("tree_recurrence", "recurrent"), ("mlx_lm", "chunkwise")])
def test_mamba_2_does_not_write_without_decay(name, form):
    result = run_check(adapter(name), Check("simple_gla", "gates-zero", form, "fp32", "golden"))
    assert (result.status, "writes dt x" in result.reason) == ("unsupported", True)


@pytest.mark.parametrize("form", ["recurrent", "chunkwise"])
@pytest.mark.parametrize("scenario", ["gates-zero", "gates-strong"])
def test_mamba_2_of_transformers_takes_any_decay(form, scenario):
    result = run_check(adapter("transformers_torch"), Check("simple_gla", scenario, f"{form}.mamba2", "fp32", "golden"))
    assert (result.status, result.reason) == ("pass", "")


def test_no_kernel_of_another_library_is_judged_as_that_of_transformers():
    backend, rwkv = adapter("transformers_torch"), import_module("transformers.models.rwkv.modeling_rwkv")
    for function in backend.functions:
        held = [cell.cell_contents for cell in function.call.__closure__ or ()]
        (called,) = filter(callable, held) if held else (rwkv.rwkv_linear_attention_cpu,)
        assert called.__module__.startswith("transformers.models.")
        assert not hasattr(called, "__wrapped__")


ALONE = {("rwkv4", "recurrent"), ("linear_recurrence", "chunkwise.chunk")}  # one sequence at a time


def test_kernels_of_fla_take_packed_sequences():
    """Those written in PyTorch do not, nor do two more."""
    for function in adapter("fla.backend").functions:
        packs = function.label != "naive" and (function.variant, function.column) not in ALONE
        assert ("cu_seqlens" in function.parameters) == packs, function


def test_a_loop_variable_of_a_kernel_is_an_integer_that_converts():
    assert [(i + 1, i.to("int64") is i) for i in triton_interpreter.loop(2, 6, 2)] == [(3, True), (5, True)]


def test_what_a_kernel_module_took_from_the_language_is_looked_up_when_called():
    """The interpreter replaces the functions of the language while a kernel runs."""
    adapter("fla.backend")
    language = import_module("triton.language")
    names = {"gather": language.gather, "other": len}
    triton_interpreter.prepare(names)
    assert names["other"] is len
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(language, "gather", lambda *arguments: arguments)
        assert names["gather"](1, 2) == (1, 2)
