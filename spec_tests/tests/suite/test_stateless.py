"""A function that takes neither a state nor a scale, as layers in training do, is judged by all it can be given."""

import inspect

import pytest

import linattn
import linattn_golden
from linattn_spec import Backend
from linattn_spec.backends.numpy_folds import adapter, backward
from linattn_spec.checks import run_check
from linattn_spec.plan import PLAIN, Selection, plan
from linattn_spec.results import Check

LAWS = {"prefix", "batch", "heads", "reversal", "channels", "untouched", "strides", "poison", "deterministic"}
NAMES = ("linear_attention", "gla", "gated_delta_rule", "softmax_attention", "mlstm", "rwkv4", "lru", "cosformer")
PLACES = [(name, form) for name in NAMES for form in linattn.variant(name).forms]


def without_state(name, form="recurrent"):
    """Sequences and parameters of heads alone; numbers have their defaults. It returns its output alone."""
    record, complete = linattn.variant(name), adapter(linattn.variant(name), form)
    names = [item.name for item in record.inputs if item.axes]

    def call(**given):
        returned = complete(**given, **({} if form == "bidirectional" else {"initial_state": None}))
        return returned[0] if isinstance(returned, tuple) else returned

    call.__signature__ = inspect.Signature([inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names])
    return call


def backend_of(call, name, form="recurrent"):
    backend = Backend("plain", layout="BHTD")
    backend.implements(name, form)(call)
    return backend


def run(backend, level="core"):
    return [run_check(backend, check) for check in plan(backend, Selection(level=level))]


@pytest.mark.parametrize(("name", "form"), PLACES)
def test_it_passes_a_golden_case_of_many_tokens_and_the_laws(name, form):
    results = run(backend_of(without_state(name, form), name, form))
    passed = {result.check.kind: result.check.scenario for result in results if result.status in ("pass", "noted")}
    assert {r.check.id: r.reason for r in results if r.status not in ("pass", "noted", "unsupported")} == {}
    assert PLAIN in {r.check.scenario for r in results if (r.check.kind, r.status) == ("golden", "pass")}
    causal = {"prefix"} if form == "bidirectional" else set()
    exempt = set(linattn.variant(name).exempt)
    assert LAWS - causal - exempt <= passed.keys()


@pytest.mark.parametrize("name", ["gla", "mlstm", "exp_linear_attention", "lightnet", "abc", "softmax_attention"])
@pytest.mark.parametrize(("factor", "status"), [(1, "pass"), (2, "fail")])
def test_its_gradients_are_judged(name, factor, status):
    """Those of stabilised memories too, whose empty state is no number that errs."""
    backend, right = backend_of(without_state(name), name), backward(linattn.variant(name), "recurrent")

    def vjp(output_cotangent, final_state_cotangent, **given):
        found = right(factor * output_cotangent, final_state_cotangent, **given)
        return {name: found[name] for name in given}

    backend.vjp(name, "recurrent")(vjp)
    result = run_check(backend, Check(name, PLAIN, "recurrent", "fp32", "gradient-output"))
    assert result.status == status


def test_a_wrong_one_is_rejected():
    right = without_state("gla")

    def late(**given):
        return right(**given | {"v": given["v"][:, :, ::-1]})

    late.__signature__ = right.__signature__
    wrong = {r.check.kind for r in run(backend_of(late, "gla")) if r.status == "fail"}
    assert {"golden", "prefix"} <= wrong


def test_only_where_its_own_case_is_out_of_reach_a_law_takes_another():
    with_state = backend_of(adapter(linattn.variant("gla"), "recurrent"), "gla")
    assert not any(check.scenario == PLAIN for check in plan(with_state) if check.kind == "prefix")
    chosen = {c.scenario for c in plan(backend_of(without_state("gla"), "gla")) if c.kind == "prefix"}
    assert chosen == {PLAIN, "recipe-plain"}


def test_kernels_of_one_size_have_a_case_too():
    backend = Backend("tiles", layout="BHTD")
    backend.implements("gla", "recurrent", accepts="K == V == 64")(without_state("gla"))
    passed = {r.check.id for r in run(backend) if r.status == "pass"}
    assert "gla/recipe-plain:recurrent:fp32:golden" in passed
    assert linattn_golden.case("gla/recipe-plain").initial_state is None
