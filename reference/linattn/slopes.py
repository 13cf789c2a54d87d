"""Fixed rates per head: the log decays of RetNet and TransNormer and the slopes of ALiBi, all (heads, 1).

A slope m is the log decay -m. They are constants, correctly derived from their formula up to the rounding of float64.
"""

import numpy as np


def retnet_log_decay(heads: int) -> np.ndarray:
    """log(1 - 2^(-5-h)) for the heads h = 0 ... heads-1. Sun et al. 2023, arXiv:2307.08621, equation (8)."""
    return np.log1p(-(2.0 ** (-5 - np.arange(heads))))[:, None]


def alibi_slopes(heads: int) -> np.ndarray:
    """2^(-8 (h + 1) / H): a geometric sequence whose first term is its ratio. Press et al. 2021, arXiv:2108.12409,
    section 3, for every H.
    """
    return 2.0 ** (-8 * np.arange(1, heads + 1)[:, None] / heads)


def alibi_slopes_interleaved(heads: int) -> np.ndarray:
    """The same where H is a power of two. Else the slopes of the largest power of two P below H, and after them every
    second slope of 2P heads: what the authors' code, transformers (BLOOM, MPT) and ggml do.
    """
    power = 1 << (heads.bit_length() - 1)
    return np.concatenate([alibi_slopes(power), alibi_slopes(2 * power)[::2][: heads - power]])


def alibi_log_decay(heads: int, layer: int, layers: int) -> np.ndarray:
    """-2^(-8 (h + 1) / H) (1 - l / (L - 1) + 1e-5) for the heads h of layer l of L > 1.

    As in the code of Lightning attention's authors, for a number of heads that is a power of two; for others they take
    ``alibi_slopes_interleaved``, and MiniMax does not. Ring-mini-linear-2.0, in mlx-lm, has max(0, l - 1) for l.
    """
    return -(alibi_slopes(heads) * (1 - layer / (layers - 1) + 1e-5))


def linear_log_decay(heads: int, layer: int, layers: int) -> np.ndarray:
    """-(8 h / H) (1 - l / L) for the heads h of layer l of L, both from 0: the first head never decays. As in fla.

    Qin et al. 2023, arXiv:2307.14995, section 3.1.1, (2), and 2024, arXiv:2405.17381, (10), print this without saying
    where h and l begin. The first says that the last layer has no decay, as with l = L. Their code has
    ``alibi_log_decay``.
    """
    return -(8 * np.arange(heads) / heads * (1 - layer / layers))[:, None]
