"""What the laws between functions of one backend compare, and what they see."""

import re
from typing import Any

import numpy as np
import pytest

import linattn
from linattn.lattice import EDGES
from linattn_spec import Backend
from linattn_spec.backends.numpy_folds import adapter
from linattn_spec.checks import run_check
from linattn_spec.laws.agreement import AGREEMENT
from linattn_spec.results import Check, Result


def backend_of(*functions: tuple[str, str, Any], profiles: tuple[str, ...] = ("fp32",)) -> Backend:
    """Columns ``form`` or ``form.label`` of variants, each with its implementation."""
    backend = Backend("mine", layout="BHTD", profiles=profiles)
    for variant, column, call in functions:
        form, _, label = column.partition(".")
        backend.implements(variant, form, label=label)(call)
    return backend


def right(variant: str, form: str = "recurrent") -> Any:
    return adapter(linattn.variant(variant), form)


def wrong(variant: str, form: str = "recurrent") -> Any:
    """Twice the outputs."""
    call = right(variant, form)

    def doubled(**given: Any) -> Any:
        output, state = call(**given)
        return 2 * output, state

    doubled.__signature__ = call.__signature__  # type: ignore[attr-defined]
    return doubled


def judged(backend: Backend, kind: str, variant: str, column: str = "recurrent", scenario: str = "odd-dims") -> Result:
    return run_check(backend, Check(variant, scenario, column, "fp32", kind))


def test_forms_that_do_not_agree_are_seen_from_both_sides():
    backend = backend_of(("gla", "recurrent", right("gla")), ("gla", "chunkwise", wrong("gla", "chunkwise")))
    seen = [judged(backend, "agreement", "gla", column) for column in ("recurrent", "chunkwise")]
    assert [result.status for result in seen] == ["fail", "fail"]
    assert re.match("against chunkwise: output .*, 0.5 times the right values; final_state/S right", seen[0].reason)
    assert re.match("against recurrent: output .*, 2 times the right values; final_state/S right", seen[1].reason)
    both_right = backend_of(("gla", "recurrent", right("gla")), ("gla", "chunkwise", right("gla", "chunkwise")))
    assert judged(both_right, "agreement", "gla").status == "pass"


def test_two_functions_of_one_form_are_compared_too():
    backend = backend_of(("gla", "recurrent.fused", wrong("gla")), ("gla", "recurrent.naive", right("gla")))
    assert judged(backend, "agreement", "gla", "recurrent.naive").reason.startswith("against recurrent.fused: output")


def test_a_state_that_only_one_of_them_returns_is_not_compared():
    def stateless(q, k, v, scale, initial_state):
        return right("linear_attention")(q=q, k=k, v=v, scale=scale, initial_state=initial_state)[0], None

    name = "linear_attention"
    backend = backend_of((name, "recurrent", right(name)), (name, "chunkwise", stateless))
    assert {judged(backend, "agreement", name, c).status for c in ("recurrent", "chunkwise")} == {"pass"}


@pytest.mark.parametrize(
    "other",
    [
        ("linear_attention", "bidirectional", right("linear_attention", "bidirectional")),
        ("retention", "recurrent", right("retention")),
        ("linear_attention", "chunkwise", lambda q, k, v: None),
    ],
    ids=["sees all tokens", "another variant", "takes no state"],
)
def test_what_cannot_be_compared_is_not(other):
    backend = backend_of(("linear_attention", "recurrent", right("linear_attention")), other)
    result = judged(backend, "agreement", "linear_attention")
    assert (result.status, result.reason) == ("unsupported", "no other function of linear_attention takes the case")


def test_a_general_variant_that_is_wrong_where_it_is_restricted_is_seen():
    """Only where no token decays, which no golden case of odd dimensions has."""

    def forgets_zero_gates(**given: Any) -> Any:
        state = None if (given["log_decay"] == 0).all() else given["initial_state"]
        return right("gated_delta_rule")(**given | {"initial_state": state})

    forgets_zero_gates.__signature__ = right("gated_delta_rule").__signature__  # type: ignore[attr-defined]
    backend = backend_of(
        ("delta_rule", "recurrent", right("delta_rule")), ("gated_delta_rule", "recurrent", forgets_zero_gates)
    )
    assert judged(backend, "golden", "gated_delta_rule").status == "pass"
    result = judged(backend, "reduction", "delta_rule")
    assert result.status == "fail"
    assert result.reason.startswith("gated_delta_rule, log_decay = 0: output is off")


def test_every_edge_is_compared_and_the_worst_is_told():
    backend = backend_of(
        ("linear_attention", "recurrent", right("linear_attention")),
        ("retention", "recurrent", right("retention")),
        ("simple_gla", "recurrent", wrong("simple_gla")),
    )
    assert judged(backend, "reduction", "linear_attention").reason.startswith("simple_gla, log_decay = 0: output")
    assert judged(backend, "reduction", "retention").reason.startswith("simple_gla, log_decay constant over the tokens")


def test_the_function_of_the_same_column_comes_first():
    backend = backend_of(
        ("simple_gla", "recurrent.fused", right("simple_gla")),
        ("gla", "recurrent.naive", wrong("gla")),
        ("gla", "recurrent.fused", right("gla")),
    )
    assert judged(backend, "reduction", "simple_gla", "recurrent.fused").status == "pass"


@pytest.mark.parametrize("form", ["chunkwise", "bidirectional"])
def test_an_edge_that_maps_results_back(form):
    """The normaliser as one more column, in V + 1 columns; without a state where every token sees every token."""
    pair = ("normalised_linear_attention", "linear_attention")
    good = backend_of(*((name, form, right(name, form)) for name in pair))
    assert judged(good, "reduction", pair[0], form).status == "pass"
    squared = backend_of((pair[0], form, wrong(pair[0], form)), (pair[1], form, right(pair[1], form)))
    assert judged(squared, "reduction", pair[0], form).status == "fail"


def test_an_edge_that_adds_an_axis_is_not_compared():
    """Gated Oja is Kimi delta attention with a query for every value channel."""
    backend = backend_of(*((name, "recurrent", right(name)) for name in ("gated_oja", "kda")), profiles=("fp64",))
    result = run_check(backend, Check("gated_oja", "odd-dims", "recurrent", "fp64", "reduction"))
    assert (result.status, result.reason[:31]) == ("unsupported", "no variant that contains gated_")


def test_an_edge_whose_inputs_the_dtype_does_not_hold_is_not_compared():
    """Softmax attention becomes linear with queries exp(scale q.k); float64 itself holds them."""
    names = ("softmax_attention", "normalised_linear_attention")
    backend = backend_of(*((name, "recurrent", right(name)) for name in names), profiles=("fp32", "fp64"))
    assert judged(backend, "reduction", names[0]).status == "unsupported"
    assert run_check(backend, Check(names[0], "odd-dims", "recurrent", "fp64", "reduction")).status == "pass"


@pytest.mark.parametrize(("promised", "status"), [(-20, "unsupported"), (-np.inf, "fail")])
def test_nan_where_a_restriction_has_stronger_gates_than_promised_is_no_fault(promised, status):
    """The delta rule is Titans with a momentum that is forgotten at once."""

    def breaks(**given: Any) -> Any:
        output, state = right("titans_linear")(**given)
        return np.nan * output, state

    breaks.__signature__ = right("titans_linear").__signature__  # type: ignore[attr-defined]
    backend = Backend("mine", layout="BHTD", log_decay_range=promised)
    backend.implements("delta_rule", "recurrent")(right("delta_rule"))
    backend.implements("titans_linear", "recurrent")(breaks)
    assert judged(backend, "reduction", "delta_rule", scenario="recipe-64").status == status


def test_a_wrong_number_is_a_fault_however_strong_the_gates_are():
    backend = backend_of(
        ("delta_rule", "recurrent", right("delta_rule")), ("titans_linear", "recurrent", wrong("titans_linear"))
    )
    result = judged(backend, "reduction", "delta_rule", scenario="recipe-64")
    assert result.status == "fail"
    assert result.reason.startswith("titans_linear, log_momentum = -inf")


def test_reductions_have_a_meaning_at_the_special_end():
    (law,) = (law for law in AGREEMENT if law.name == "reduction")
    backend = backend_of(*((v.name, "recurrent", right(v.name)) for v in linattn.VARIANTS))
    assert {f.variant for f in backend.functions if law.has_meaning(f)} == {edge.special for edge in EDGES}
