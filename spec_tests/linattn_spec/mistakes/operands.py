"""Operands of contractions that are narrower than promised: behind float32, behind TF32 and behind float16."""

from typing import Any

from linattn_spec.mistakes.closed import ClosedForm
from linattn_spec.mistakes.precision import rounded
from linattn_spec.mistakes.record import Mistake

CLOSED = ("chunkwise", "parallel")


def narrow(bits: int) -> Any:
    """To that many significant bits."""
    dtype = {8: "bfloat16", 11: "float16"}[bits]
    return ClosedForm(operand=lambda x: rounded(x, dtype))


OPERANDS = (
    Mistake(
        "operands-in-bfloat16",
        "precision",
        "Operands of contractions are rounded to bfloat16.",
        narrow(8),
        ("outer products",),
        CLOSED,
        ("fp32", "tf32", "fp16"),
    ),
    Mistake(
        "operands-in-float16",
        "precision",
        "Operands of contractions are rounded to float16.",
        narrow(11),
        ("outer products",),
        CLOSED,
        ("fp32",),
    ),
)
