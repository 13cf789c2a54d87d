"""The golden values: what they cover, and that they are what they claim to be."""

import numpy as np
import pytest
from drawing import close

import linattn_golden
from linattn import VARIANTS, forms, heads, prefill, validate, variant
from linattn.numbers import ball
from linattn_spec import PROFILES
from linattn_spec.drawn import COMMON
from linattn_spec.subject import truth_of
from linattn_spec.verdict import LIMITS
from linattn_tools.golden import certifier

CASES = list(linattn_golden.cases())
CERTIFIED = [case for case in CASES if case.kind == "certified"]
EACH_VARIANT = pytest.mark.parametrize("name", [v.name for v in VARIANTS])


def each(cases):
    return pytest.mark.parametrize("case", list(cases), ids=lambda case: case.id)


def own(name, kind="certified"):
    return [case for case in CASES if case.variant == name and case.kind == kind]


def results(case, data):
    """The stored results under the names of the certifier."""
    names = [f"final_state/{name}" for name in linattn_golden.state_names(case)]
    return {"output": data.output} | dict(zip(names, data.final_state, strict=True))


@EACH_VARIANT
def test_every_variant_has_enough_cases(name):
    """Short and long ones, with states, batches, grouped heads, K < V, K > V and K = V."""
    dims = [case.dims for case in own(name)]
    assert len(dims) >= 6
    assert {1, 2, 7, 33} <= {d["T"] for d in dims}
    assert any(case.initial_state and np.any(linattn_golden.load(case).initial_state[0]) for case in own(name))
    assert any(case.initial_state is None for case in own(name))
    assert any(case.cotangents for case in own(name))
    assert any(d["B"] > 1 for d in dims)
    counts = {item.heads for item in variant(name).inputs}
    assert any(d["Hq"] > d["Hk"] == d["Hv"] for d in dims) or "q" not in counts
    assert any(d["Hq"] == d["Hk"] < d["Hv"] for d in dims) or not counts & {"q", "k"}
    assert {np.sign(d["K"] - d["V"]) for d in dims if {"K", "V"} <= set(d)} in ({-1, 0, 1}, set())


@EACH_VARIANT
def test_every_variant_has_recipes_of_the_sizes_of_kernels(name):
    sizes = {tuple(case.dims[axis] for axis in "KVD" if axis in case.dims) for case in own(name, "recipe")}
    wide = any(item.axes.split().count("K") > 1 for item in variant(name).state)  # more than a proof can bear
    assert {size for each in sizes for size in each} == {64} | (set() if wide else {128})


@pytest.mark.parametrize("name", [v.name for v in VARIANTS if v.has("log_decay")])
def test_gates_are_0_strong_and_minus_infinity_somewhere(name):
    """Strong: over the sequence they add up to less than -89, where exp of the negative sum overflows in float32."""
    gates = [linattn_golden.load(case).inputs["log_decay"] for case in own(name)]
    sums = [
        gate.sum(axis=-2) if gate.ndim == 4 else case.dims["T"] * gate
        for case, gate in zip(own(name), gates, strict=True)
    ]
    assert any((gate == 0).all() for gate in gates)
    assert any((np.isfinite(total) & (total < -89)).any() for total in sums)
    assert any(np.isneginf(gate).any() for gate in gates)


@pytest.mark.parametrize("name", [v.name for v in VARIANTS if v.has("beta") and v.input("beta").domain == (0, 2)])
def test_writing_strengths_are_0_1_and_2_somewhere(name):
    betas = np.concatenate([linattn_golden.load(case).inputs["beta"].ravel() for case in own(name)])
    assert {0, 1, 2} <= set(betas)


@each(CERTIFIED)
def test_stored_values_are_proven_anew_by_another_form(case):
    """They were proven by the recurrence; chunks of 5 over balls give the same bytes."""
    data = linattn_golden.load(case)
    proof, _ = certifier.proven(case, data, variant(case.variant).usual_form, chunk_size=5)
    stored = results(case, data)
    assert {name: x.tobytes() for name, x in proof.items()} == {name: x.tobytes() for name, x in stored.items()}


@each(case for case in CERTIFIED if variant(case.variant).bidirectional)
def test_bidirectional_values_are_proven_anew_by_the_other_route(case):
    record, data = variant(case.variant), linattn_golden.load(case)
    arrays, _ = validate.complete(record, data.inputs)

    def other_route(numbers):
        arranged = heads.arrange(record, numbers)
        output = forms.bidirectional(record, arranged.inputs, route=1)
        return {"output": heads.merge(record, (), output, arranged.groups)[1]}

    assert ball.certify(other_route, arrays)[0]["output"].tobytes() == data.bidirectional.tobytes()


def operations(case):
    """A bound on the float64 roundings that a result can carry: T steps, each with sums over an axis and a few more
    operations. None enlarges the error of an earlier one: decays and erases with unit keys are contractions,
    normalised weights are means. (Scores of up to 50 turn their K roundings into 50 K, which is less.)
    """
    widest = max(size for axis, size in case.dims.items() if axis not in COMMON)
    return (case.dims["T"] + 3) * (widest + 10)


SIGNED = ("power_attention", "cosformer", "ttt_linear")  # they divide by sums that cancel: no count bounds that


@each(case for case in CERTIFIED if case.variant in SIGNED)
def test_float64_agrees_in_its_own_noise_where_weights_cancel(case):
    data = linattn_golden.load(case)
    for form in variant(case.variant).forms:
        units = truth_of(case.id, PROFILES["fp64"], form).units.values()
        for x, want, unit in zip(computed(case, data, form), proven(case, data, form), units, strict=True):
            assert np.all(np.abs(x - want) <= LIMITS["element"] * unit), form


def computed(case, data, form):
    """In float64: the output, and the final state where there is one."""
    start = None if form == "bidirectional" else data.initial_state
    output, state = prefill(case.variant, **data.inputs, initial_state=start, form=form, chunk_size=16)
    return output, *state


def proven(case, data, form):
    return [data.bidirectional] if form == "bidirectional" else list(results(case, data).values())


def complex_parts(names, arrays):
    """The arrays, real and imaginary parts of one tensor together: the error of a complex number that turns is one of
    its size, of which either part alone may be 0.
    """
    found = {}
    for name, x in zip(names, arrays, strict=True):
        found.setdefault(name.removesuffix("_real").removesuffix("_imag"), []).append(x)
    return [np.stack(parts) for parts in found.values()]


@each(case for case in CERTIFIED if case.variant not in SIGNED)
def test_float64_agrees_in_every_form(case):
    data = linattn_golden.load(case)
    for form in variant(case.variant).forms:
        got, want = computed(case, data, form), proven(case, data, form)
        names = list(results(case, data))[: len(want)]
        pairs = zip(complex_parts(names, got), complex_parts(names, want), strict=True)
        assert all(close(x, y, operations(case)) for x, y in pairs), form
