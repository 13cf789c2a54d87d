"""The scale on the read: missing, repeated, or elsewhere."""

from linattn_spec.mistakes.closed import ClosedForm
from linattn_spec.mistakes.record import CAUSAL, Mistake, with_final_state, with_inputs

SCALE = (
    Mistake(
        "scale-missing", "scale", "The scale is not applied.", with_inputs(scale=lambda x, c: 0 * x + 1), ("scale",)
    ),
    Mistake("scale-twice", "scale", "The scale is applied twice.", with_inputs(scale=lambda x, c: x * x), ("scale",)),
    Mistake(
        "scale-root", "scale", "The root of the scale is applied.", with_inputs(scale=lambda x, c: x**0.5), ("scale",)
    ),
    Mistake(
        "scale-inverted",
        "scale",
        "The scale divides instead of multiplying.",
        with_inputs(scale=lambda x, c: 1 / x),
        ("scale",),
    ),
    Mistake(
        "scale-of-values",
        "scale",
        "The scale is V^-1/2 instead of K^-1/2.",
        with_inputs(scale=lambda x, c: x * (c.inputs["k"].shape[-1] / c.inputs["v"].shape[-1]) ** 0.5),
        ("scale",),
    ),
    Mistake(
        "scale-on-key",
        "scale",
        "The scale multiplies the key and so enters the state.",
        with_inputs(k=lambda x, c: x * c.inputs["scale"], scale=lambda x, c: 0 * x + 1),
        ("scale", "matrix state"),
        CAUSAL,
    ),
    Mistake(
        "scale-on-final-state",
        "scale",
        "The returned state is scaled.",
        with_final_state(lambda x, c: x * c.inputs["scale"]),
        ("scale", "matrix state"),
    ),
    Mistake(
        "scale-missing-before-the-chunk",
        "scale",
        "What came before the chunk is read without the scale.",
        ClosedForm(scales=lambda scale: (1, scale)),
        ("scale", "outer products"),
        ("chunkwise",),
    ),
    Mistake(
        "scale-missing-inside-the-chunk",
        "scale",
        "What the chunk itself wrote is read without the scale.",
        ClosedForm(scales=lambda scale: (scale, 1)),
        ("scale", "outer products"),
        ("chunkwise",),
    ),
)
