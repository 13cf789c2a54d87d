"""Where an error begins, in words: the token, the chunk border, the heads, the batch entries."""

from collections.abc import Mapping

import numpy as np

from linattn_spec.verdict import LIMITS, Measure

CHUNKS = (128, 64, 32, 16)


def describe(got: Mapping[str, np.ndarray], want: Mapping[str, np.ndarray], errors: Mapping[str, np.ndarray]) -> str:
    """One or two sentences on all arrays that are off."""
    wrong = {
        name: x for name, x in errors.items() if not np.isfinite(x).all() or np.abs(x).max(initial=0) > LIMITS["token"]
    }
    if not wrong:
        return "small errors everywhere: the precision is lower than promised"
    parts = [f"{name}: {describe_one(name, got[name], want[name], x)}" for name, x in wrong.items()]
    right = [name for name in errors if name not in wrong]
    return "; ".join(parts) + (f"; {' and '.join(right)} right" if right else "")


def describe_one(name: str, got: np.ndarray, want: np.ndarray, errors: np.ndarray) -> str:
    bad = ~np.isfinite(errors) | (np.abs(errors) > LIMITS["token"])
    facts = [some(bad, 0, "batch entry", "batch entries"), some(bad, 1, "head", "heads")]
    facts.append(tokens(bad) if name == "output" else "")
    facts.append(values(got, want, bad))
    return ", ".join(fact for fact in facts if fact) or "wrong throughout"


def some(bad: np.ndarray, axis: int, one: str, many: str) -> str:
    """Which entries of an axis are wrong, if not all are."""
    hit = np.flatnonzero(bad.any(axis=tuple(i for i in range(bad.ndim) if i != axis)))
    if len(hit) == bad.shape[axis]:
        return ""
    return f"only {one if len(hit) == 1 else many} {', '.join(map(str, hit))} of {bad.shape[axis]}"


def tokens(bad: np.ndarray) -> str:
    """Where along T (the axis before the last) it begins and ends."""
    hit = np.flatnonzero(bad.any(axis=(0, 1, 3)))
    first, last, count = int(hit[0]), int(hit[-1]), bad.shape[2]
    name = f"token {first}" if first else "the first token"
    chunk = next((c for c in CHUNKS if first and first % c == 0), 0)
    border = f", the start of a chunk of {chunk}" if chunk else ""
    if first == last:
        return f"at {name} alone{border}"
    return f"from {name} {'on' if last == count - 1 else f'to {last}'}{border}"


def values(got: np.ndarray, want: np.ndarray, bad: np.ndarray) -> str:
    """What the wrong values have in common."""
    if not np.isfinite(got).all():
        return f"{int((~np.isfinite(got)).sum())} of {got.size} values not finite"
    if not np.abs(got[bad]).max(initial=0):
        return "zeros where there should be values"
    if got.shape[-1] == got.shape[-2] and np.allclose(got, np.swapaxes(want, -1, -2), rtol=1e-2):
        return "equal to the transpose"
    ratio = got[bad & (np.abs(want) > 0)] / want[bad & (np.abs(want) > 0)]
    if ratio.size < 2 or np.ptp(ratio) >= 0.01 * abs(ratio.mean()):
        return ""
    if np.ptp(ratio) > abs(ratio.mean() - 1):  # no common factor
        return f"right to {-np.log2(np.abs(ratio - 1).max()):.0f} bits"
    return f"{ratio.mean():.4g} times the right values"


def numbers(measures: Mapping[str, Measure]) -> str:
    """The errors in units, worst array first."""
    name, worst = max(measures.items(), key=lambda item: item[1].load)
    if not worst.finite:
        return f"{name} is not finite"
    return (
        f"{name} is off by {worst.rms:.3g} units rms (limit {LIMITS['rms']:g}), {worst.token:.3g} at the worst token"
        f" ({LIMITS['token']:g}), {worst.element:.3g} at the worst element ({LIMITS['element']:g})"
    )
