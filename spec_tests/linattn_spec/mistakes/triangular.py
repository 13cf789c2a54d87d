"""The triangular system inside a chunk of a delta rule."""

import numpy as np

from linattn.algebra import transpose, unit_lower_solve
from linattn_spec.mistakes.closed import ClosedForm, without
from linattn_spec.mistakes.precision import rounded
from linattn_spec.mistakes.record import Array, Mistake


def first_order(L: Array, B: Array) -> Array:
    return B - L @ B


def second_order(L: Array, B: Array) -> Array:
    return B - L @ (B - L @ B)


def with_diagonal(L: Array, B: Array) -> Array:
    """(I + L)^-1 B for an L that has a diagonal: every row is divided by its pivot."""
    pivots = 1 + np.diagonal(L, axis1=-2, axis2=-1)[..., None]
    return unit_lower_solve(L / pivots, B / pivots)


def doubled_once(L: Array, B: Array) -> Array:
    """Of the product (I - L)(I + L^2)(I + L^4) ... the first two factors."""
    return (B + L @ (L @ B)) - L @ (B + L @ (L @ B))


def on_the_diagonal(L: Array, B: Array) -> Array:
    """Blocks of 8 tokens are inverted, what lies between them is left out."""
    block = np.arange(L.shape[-1]) // 8
    return unit_lower_solve(np.where(block[:, None] == block, L, 0), B)


def of_the_transpose(L: Array, B: Array) -> Array:
    """(I + L^T)^-1 B, by the same substitution on reversed rows."""
    return unit_lower_solve(transpose(L)[..., ::-1, ::-1], B[..., ::-1, :])[..., ::-1, :]


def in_bfloat16(L: Array, B: Array) -> Array:
    return rounded(unit_lower_solve(L, np.broadcast_to(np.eye(L.shape[-1], dtype=L.dtype), L.shape)), "bfloat16") @ B


DELTA, WHERE = ("beta", "outer products"), ("chunkwise",)

TRIANGULAR = (
    Mistake(
        "inverse-to-first-order",
        "triangular",
        "(I + L)^-1 is taken as I - L.",
        ClosedForm(solve=first_order),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-to-second-order",
        "triangular",
        "(I + L)^-1 is taken as I - L + L^2.",
        ClosedForm(solve=second_order),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-with-diagonal",
        "triangular",
        "The triangular system keeps its diagonal.",
        ClosedForm(solve=with_diagonal, diagonal=0),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-without-decay",
        "triangular",
        "The triangular system lacks the decays.",
        ClosedForm(erase=without),
        ("beta", "log_decay", "outer products"),
        WHERE,
        seen_in=("https://github.com/NVlabs/GatedDeltaNet/issues/14",),
    ),
    Mistake(
        "read-without-decay",
        "chunk",
        "Q K^T is masked without the decays.",
        ClosedForm(read=without),
        ("log_decay", "outer products"),
        WHERE,
        seen_in=("https://github.com/NVlabs/GatedDeltaNet/issues/15",),
    ),
    Mistake(
        "inverse-doubled-once",
        "triangular",
        "(I + L)^-1 is taken as (I - L)(I + L^2).",
        ClosedForm(solve=doubled_once),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-of-diagonal-blocks",
        "triangular",
        "Only the diagonal blocks of 8 tokens are inverted.",
        ClosedForm(solve=on_the_diagonal),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-of-the-other-sign",
        "triangular",
        "I - L is inverted instead of I + L.",
        ClosedForm(solve=lambda L, B: unit_lower_solve(-L, B)),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-of-the-transpose",
        "triangular",
        "The transpose of the triangular system is solved.",
        ClosedForm(solve=of_the_transpose),
        DELTA,
        WHERE,
    ),
    Mistake(
        "inverse-in-bfloat16",
        "precision",
        "(I + L)^-1 is rounded to bfloat16.",
        ClosedForm(solve=in_bfloat16),
        DELTA,
        WHERE,
        ("fp32",),
    ),
    Mistake(
        "system-with-beta-by-column",
        "triangular",
        "beta multiplies the columns of the triangular system instead of its rows.",
        ClosedForm(system=lambda scores, beta: scores * transpose(beta)),
        DELTA,
        WHERE,
    ),
    Mistake(
        "system-without-beta",
        "triangular",
        "beta is missing from the triangular system.",
        ClosedForm(system=lambda scores, beta: scores),
        DELTA,
        WHERE,
    ),
    Mistake(
        "chunk-erase-of-the-state-missing",
        "chunk",
        "A chunk does not erase what was there before it.",
        ClosedForm(retrieved=lambda k, since_start, S: 0 * (k @ S)),
        DELTA,
        WHERE,
    ),
    Mistake(
        "chunk-erase-of-an-undecayed-state",
        "chunk",
        "A chunk erases what was there before it without its decay.",
        ClosedForm(retrieved=lambda k, since_start, S: k @ S),
        ("beta", "log_decay", "outer products"),
        WHERE,
    ),
)
