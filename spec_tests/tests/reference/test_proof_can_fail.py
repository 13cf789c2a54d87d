"""The proof over the finite field notices mistakes: one in every input, in every state tensor, and the classic ones."""

import inspect
import sys
from dataclasses import replace

import numpy as np
import pytest
from drawing import WITH_CLOSED_FORM, agree, over_field

from linattn import VARIANTS, forms, variant
from linattn.numbers import field

PROVEN = [v for v in VARIANTS if v.parallel]  # with one form alone, nothing could disagree
INPUTS = [(v, item.name) for v in PROVEN for item in v.inputs]
TENSORS = [(v, n) for v in PROVEN for n in range(len(v.state))]


def id_of(value):
    return value.name if hasattr(value, "name") else str(value)


def with_finite_gates(arguments):
    """Twice the logarithm of zero has no meaning."""
    state, inputs = arguments
    finite = np.frompyfunc(lambda gate: field.Log(5) if gate.exponent is None else gate, 1, 1)
    return state, {name: finite(x) if name.startswith("log_decay") else x for name, x in inputs.items()}


@pytest.mark.parametrize(("sound", "name"), INPUTS, ids=id_of)
def test_every_input_is_seen(sound, name):
    """A step that takes one input twice is another function."""
    wrong = replace(sound, step=lambda *state, **token: sound.step(*state, **token | {name: 2 * token[name]}))
    arguments = with_finite_gates(over_field(sound))
    assert agree(sound, arguments)
    assert not agree(wrong, arguments)


@pytest.mark.parametrize(("sound", "n"), TENSORS, ids=id_of)
def test_every_state_tensor_is_seen(sound, n):
    """A chunk that hands over one tensor twice as large."""

    def parallel(*state, **sequence):
        state, output = sound.parallel(*state, **sequence)
        return (*state[:n], 2 * state[n], *state[n + 1 :]), output

    assert not agree(replace(sound, parallel=parallel), over_field(sound))


@WITH_CLOSED_FORM
def test_a_chunk_that_ignores_the_incoming_state_is_seen(variant):
    def parallel(*state, **sequence):
        return variant.parallel(*(0 * x for x in state), **sequence)

    assert not agree(replace(variant, parallel=parallel), with_finite_gates(over_field(variant)))


DECAY = "    S = np.exp(log_decay)[..., :, None] * S  # DECAY\n"
READ = "    return (S,), scale * read(q, S)  # READ\n"
BEFORE, OF_BEFORE = "    before = S\n", "    return (S,), scale * read(q, before)\n"
MISTAKES = {
    ("gla", "step"): {
        "decay after the write": {DECAY: "", READ: DECAY + READ},
        "read before the write": {DECAY: DECAY + BEFORE, READ: OF_BEFORE},
        "read before the decay": {DECAY: BEFORE + DECAY, READ: OF_BEFORE},
    },
    ("delta_rule", "step"): {
        "retrieve with the query": {"read(k, S)": "read(q, S)"},
        "beta on the erase alone": {"beta * (v - retrieved)": "v - beta * retrieved"},
    },
    ("gated_delta_rule", "step"): {
        "decay after the write": {DECAY: "", READ: DECAY + READ},
        "erase the undecayed state": {DECAY: BEFORE + DECAY, "read(k, S)": "read(k, before)"},
    },
    ("kda", "step"): {
        "beta on the write alone": {"outer(beta * k, read(k, S))": "outer(k, read(k, S))"},
        "erase what is being written": {"read(k, S)": "read(k, S + outer(beta * k, v))"},
    },
    ("linear_attention", "parallel"): {
        "scores that include the future": {"np.tril(q @ transpose(k))": "(q @ transpose(k))"},
        "scores that exclude the token itself": {"q @ transpose(k))": "q @ transpose(k), -1)"},
        "no scale on the incoming state": {"scale * (q @ S +": "(q @ S + scale *"},
    },
    ("normalised_linear_attention", "parallel"): {
        "no eps": {"(total + eps)": "total"},
        "no incoming normaliser": {"q @ z[..., :, None] + ": ""},
    },
    ("softmax_attention", "parallel"): {
        "one key too few": {"past + np": "past - 1 + np"},
        "the cache unseen": {"past + np": "np"},
    },
    ("simple_gla", "parallel"): {
        "the incoming state handed over undecayed": {"since_start[..., -1, :, None] * S": "S"},
        "the writes handed over undecayed": {"until_end * k": "k"},
        "the incoming state read undecayed": {"(since_start * q) @ S": "q @ S"},
    },
    ("gated_delta_rule", "parallel"): {
        "the incoming state erased undecayed": {"(since_start * k) @ S": "k @ S"},
        "scores without decay": {"products(q, k, between)": "np.tril(q @ transpose(k))"},
        "an erase that skips the token before": {"between), -1)": "between), -2)"},
    },
}
CLASSICS = {
    f"{name}: {mistake}": (name, function, changes)
    for (name, function), mistakes in MISTAKES.items()
    for mistake, changes in mistakes.items()
}


def mutated(name, function, changes):
    """The variant with other words in the source of one of its functions."""
    sound = getattr(variant(name), function)
    source = inspect.getsource(sound)
    for old, new in changes.items():
        assert source.count(old) == 1, f"{old!r} must occur once in {name}.{function}"
        source = source.replace(old, new)
    namespace = dict(vars(sys.modules[sound.__module__]))
    exec(source, namespace)
    return replace(variant(name), **{function: namespace[function]})


@pytest.mark.parametrize("mistake", CLASSICS)
def test_the_classic_mistakes_are_seen(mistake):
    wrong = mutated(*CLASSICS[mistake])
    assert not agree(wrong, over_field(wrong))


def test_a_mutation_that_changes_nothing_is_none():
    """Not the mutating itself breaks the proof."""
    same = mutated("gla", "step", {"S + outer(k, v)": "outer(k, v) + S"})
    assert agree(same, over_field(same))


def test_differences_of_cumulative_sums_fail_at_the_logarithm_of_zero(monkeypatch):
    """Why single decays are multiplied: exp(c_t - c_s) is right for every finite gate, and undefined after -inf."""

    def decays(log_decay):
        total = np.cumsum(log_decay, axis=-2)
        between = np.exp(total[..., :, None, :] - total[..., None, :, :])
        lower = np.tril(np.ones(between.shape[-3:-1], dtype=int))[..., None]
        return between * lower, np.exp(total), np.exp(total[..., -1:, :] - total)

    gla = variant("gla")
    monkeypatch.setitem(gla.parallel.__globals__, "decays", decays)
    assert agree(gla, with_finite_gates(over_field(gla)))
    with pytest.raises(ZeroDivisionError, match="log 0 has no negative"):
        forms.parallel(gla, *over_field(gla))


@pytest.mark.parametrize("route", [0, 1])
def test_a_wrong_bidirectional_route_is_seen(route):
    attention = variant("linear_attention")
    _, inputs = over_field(attention)
    routes = list(attention.bidirectional)
    routes[route] = lambda q, k, v, scale: scale * (np.tril(q @ k.T) @ v)
    wrong = replace(attention, bidirectional=tuple(routes))
    assert not np.array_equal(forms.bidirectional(wrong, inputs, 0), forms.bidirectional(wrong, inputs, 1))
