"""No operation of the mathematics escapes random arithmetic, and contractions are where operands are rounded."""

import numpy as np
import pytest
from drawing import irrational, over_floats, spread

from linattn import VARIANTS, algebra, forms, variant
from linattn.numbers.noise import Arithmetic, Noisy, noisy

FP32 = Arithmetic(operand_bits=24, bits=24, samples=256)
BF16 = Arithmetic(operand_bits=8, bits=24, samples=256)
IN_BOTH_FORMS = [(v, form) for v in VARIANTS for form in v.forms if form in ("recurrent", "parallel")]


def each_form(pairs):
    return pytest.mark.parametrize(
        ("variant", "form"),
        [(v, getattr(forms, form)) for v, form in pairs],
        ids=[f"{v.name}-{form}" for v, form in pairs],
    )


def contracts(variant):
    """Whether it sums over an axis: one that the output has not, or the channels of the output themselves."""
    axes = {axis for item in variant.inputs for axis in item.axes.split() if not axis.isdigit()}
    return variant.mixing or bool(axes - {"T", *variant.output.split()})


def noisy_arguments(variant, arithmetic):
    state, inputs = over_floats(variant, leading=(2,))
    arrays = {name: noisy(x, arithmetic) if x.ndim else x for name, x in inputs.items()}
    return tuple(noisy(x, arithmetic) for x in state), arrays


CONTRACTIONS = {
    "outer": lambda a, b: algebra.outer(a[..., 0, :], b[..., 0, :]),
    "read": lambda a, b: algebra.read(a[..., 0, :], algebra.transpose(b)),
    "dot": algebra.dot,
    "@": lambda a, b: a @ algebra.transpose(b),
    "products, one decay": lambda a, b: algebra.products(a, b, 1 + 0 * (a[..., :, None, :1] + b[..., None, :, :1])),
    "products, a decay per channel": lambda a, b: algebra.products(
        a, b, 1 + 0 * (a[..., :, None, :] * b[..., None, :, :])
    ),
    "unit_lower_solve": lambda a, b: algebra.unit_lower_solve(a[..., :4] * 1.0, b)[..., 1:, :],
}
ELEMENTWISE = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "exp": lambda a, b: np.exp(a) * b,
    "sum": lambda a, b: (a * b).sum(axis=-1),
}


@pytest.mark.parametrize("contraction", CONTRACTIONS.values(), ids=CONTRACTIONS)
def test_contractions_round_their_operands(contraction):
    """8 bits instead of 24 are 2^16 times the error; the rounding of the sums, of the same size as that of operands of
    24 bits, may hide a factor of 16 of it.
    """
    fine, coarse = (
        spread(contraction(noisy(irrational(4, 5), promise), noisy(irrational(4, 5)[::-1], promise)))
        for promise in (FP32, BF16)
    )
    assert (coarse > 2**12 * fine).all()


@pytest.mark.parametrize("operation", ELEMENTWISE.values(), ids=ELEMENTWISE)
def test_nothing_else_does(operation):
    fine, coarse = (
        operation(noisy(irrational(4, 5), promise), noisy(irrational(4, 5)[::-1], promise)) for promise in (FP32, BF16)
    )
    assert np.array_equal(fine, coarse)
    assert (spread(fine) > 0).all()


def spreads(variant, form):
    """Of the output, with operands of 24 bits and with operands of 8."""
    return (spread(form(variant, *noisy_arguments(variant, Arithmetic(bits, 24)))[1]) for bits in (24, 8))


@each_form([(v, form) for v, form in IN_BOTH_FORMS if contracts(v)])
def test_every_variant_that_contracts_rounds_operands_on_the_way_to_its_output(variant, form):
    """As above, with several other roundings on the way."""
    fine, coarse = spreads(variant, form)
    assert np.median(coarse) > 2**10 * np.median(fine)


@each_form([(v, form) for v, form in IN_BOTH_FORMS if not contracts(v)])
def test_elementwise_variants_have_no_operands_to_round(variant, form):
    fine, coarse = spreads(variant, form)
    assert np.array_equal(fine, coarse)
    assert np.median(fine) > 0


@each_form(IN_BOTH_FORMS)
def test_no_operation_leaves_the_arithmetic(variant, form):
    """State and output carry it to the end, and are finite with decays of -inf."""
    state, output = form(variant, *noisy_arguments(variant, FP32))
    for x in (*state, output):
        assert isinstance(x, Noisy)
        assert x.arithmetic == state[0].arithmetic
        assert np.isfinite(x).all()


STRUCTURE = {
    "where": lambda x: np.where(x > 0, x, 0),
    "stack": lambda x: np.stack([x, x], axis=-1),
    "concatenate": lambda x: np.concatenate([x, x], axis=-1),
    "concatenate with integers": lambda x: np.concatenate([x, np.zeros(x.shape, dtype=np.int8)], axis=-1),
    "tril": np.tril,
    "swapaxes": lambda x: np.swapaxes(x, -1, -2),
    "repeat": lambda x: np.repeat(x, 2, axis=-1),
    "broadcast_to": lambda x: np.broadcast_to(x, x.shape),
    "slice": lambda x: x[..., 1:],
}


@pytest.mark.parametrize("operation", STRUCTURE.values(), ids=STRUCTURE)
def test_moving_numbers_keeps_the_type_and_the_values(operation):
    x = noisy(irrational(3, 3), FP32)
    moved = operation(x)
    assert isinstance(moved, Noisy)
    assert moved.arithmetic is FP32
    assert np.isin(moved, np.append(np.asarray(x), 0)).all()


def test_float32_strays_as_far_as_promised():
    """A real computation against the spread: within the limit of 3 units, and not so far below it that the unit would
    mean nothing.
    """
    gla = variant("gla")
    state, inputs = over_floats(gla, T=40, K=8, V=8)
    exact, single = (
        forms.recurrent(gla, tuple(x.astype(t) for x in state), {n: x.astype(t) for n, x in inputs.items()})[1]
        for t in (np.float64, np.float32)
    )
    promised = {n: noisy(x, FP32) if x.ndim else x for n, x in inputs.items()}
    unit = spread(forms.recurrent(gla, tuple(noisy(x, FP32) for x in state), promised)[1])

    ratio = np.sqrt(np.mean(((single - exact) / unit) ** 2))
    assert 0.1 < ratio < 3
