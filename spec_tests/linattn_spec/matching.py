"""The matched filter: which of some signatures do errors look like?

The errors are projected on every signature: a coefficient of 1 is the mistake itself, and what is left over says how
well it explains them. Values that are not finite have no size: they are told by where they are.
"""

from dataclasses import dataclass

import numpy as np

from linattn_spec.verdict import LIMITS

RESOLVED = 20.0  # units: the norm from which on a signature stands out of rounding
REJECTED = 0.5  # a coefficient above it is no rounding
EXPLAINED = 0.25  # the share of the errors that a mistake may leave over and still be named
HUGE = 1e30  # stands for a value that is not finite


@dataclass(frozen=True)
class Match:
    """The mistakes that explain the errors, the best one first: more than one where the case cannot tell them
    apart.
    """

    mistakes: tuple[str, ...]
    coefficient: float
    left_over: float
    heads: tuple[int, ...] = ()  # the only ones in which it is made; empty: all

    def __str__(self) -> str:
        names = " or ".join(f"`{name}`" for name in self.mistakes[:3])
        where = f" in head{'s' * (len(self.heads) > 1)} {', '.join(map(str, self.heads))}" if self.heads else ""
        return f"looks like {names}{where} (coefficient {self.coefficient:.2f})"


@dataclass(frozen=True)
class Signatures:
    """All mistakes that apply to a case: (mistakes, heads, elements) in units, and the squares of the norms."""

    ids: tuple[str, ...]
    values: np.ndarray
    powers: np.ndarray

    def resolves(self, mistake: str) -> bool:
        return mistake in self.ids and bool(self.powers[self.ids.index(mistake)].sum() >= RESOLVED**2)

    def without(self, mistake: str) -> "Signatures":
        if mistake not in self.ids:
            return self
        keep = [n for n, name in enumerate(self.ids) if name != mistake]
        return Signatures(tuple(self.ids[n] for n in keep), self.values[keep], self.powers[keep])


def explain(errors: np.ndarray, known: Signatures, unexplained: float = EXPLAINED) -> Match | None:
    """The mistakes that ``errors`` (heads, elements) look like, with at most this share of them left unexplained."""
    if not known.ids or not errors.any():
        return None
    lost = np.abs(errors) >= HUGE
    if lost.any():
        return losing(lost, errors, known)
    products = np.einsum("mhn,hn->mh", known.values, errors)
    squares = np.sum(errors**2, axis=-1)
    wrong = tuple(int(head) for head in np.flatnonzero(squares > RESOLVED**2))
    every = tuple(range(len(squares)))
    found = [match for heads in {every, wrong} - {()} for match in over(heads, products, squares, known, every)]
    found = [match for match in found if match.left_over < unexplained]
    if not found:
        return None
    found.sort(key=lambda match: (match.left_over, len(match.heads)))
    rounding = min(EXPLAINED / 2, (errors.size / max(squares.sum(), 1e-300)) ** 0.5)
    close = [match for match in found if match.left_over <= found[0].left_over + 2 * rounding]
    heads = min((match.heads for match in close if match.mistakes == found[0].mistakes), key=len)  # rather all heads
    same = [match for match in close if match.heads == heads]
    ids = tuple(match.mistakes[0] for match in same)
    return Match(ids, same[0].coefficient, same[0].left_over, heads)


def losing(lost: np.ndarray, errors: np.ndarray, known: Signatures) -> Match | None:
    """The mistakes that make the same values not finite, and err alike in all others."""
    gaps = np.abs(known.values) >= HUGE
    either = gaps | lost
    elsewhere = np.sum(gaps ^ lost, axis=(1, 2)) / np.sum(either, axis=(1, 2))
    rest = np.sqrt(np.sum(np.where(either, 0, errors - known.values) ** 2, axis=(1, 2)))
    size = np.sqrt(np.sum(np.where(lost, 0, errors) ** 2))
    left_over = np.maximum(elsewhere, rest / np.maximum(size, LIMITS["token"] * errors.size**0.5))
    order = [n for n in np.argsort(left_over, kind="stable") if left_over[n] < EXPLAINED]
    same = [n for n in order if left_over[n] <= left_over[order[0]] + EXPLAINED / 2]
    return Match(tuple(known.ids[n] for n in same), 1.0, float(left_over[same[0]])) if same else None


def over(
    heads: tuple[int, ...], products: np.ndarray, squares: np.ndarray, known: Signatures, every: tuple[int, ...]
) -> list[Match]:
    """The mistakes along which the errors of these heads point."""
    chosen = list(heads)
    product, power = products[:, chosen].sum(axis=1), known.powers[:, chosen].sum(axis=1)
    size = max(squares[chosen].sum(), 1e-300)
    coefficient = product / np.maximum(power, 1e-300)
    left_over = np.sqrt(np.maximum(size - 2 * product + power, 0) / size)
    named = (power > RESOLVED**2) & (coefficient > REJECTED)
    return [
        Match((known.ids[n],), float(coefficient[n]), float(left_over[n]), () if heads == every else heads)
        for n in np.flatnonzero(named)
    ]
