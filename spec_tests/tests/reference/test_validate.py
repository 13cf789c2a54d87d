"""What is refused: every message names the input, what was expected and what was found."""

import re

import numpy as np
import pytest
from drawing import over_floats

from linattn import decode, prefill, variant

RULE = "gated_delta_rule"
B, H, T, K, V = 2, 4, 7, 5, 6


def valid(name=RULE):
    return over_floats(variant(name), leading=(B, H))[1]


def put(name, value, *index):
    """One element of a valid input changed."""
    array = valid()[name].copy()
    array[index] = value
    return {name: array}


def ones(*shape, dtype=float):
    return np.ones(shape, dtype=dtype)


REFUSED = {
    # domains
    "log_decay must be <= 0 (natural log); got max 0.31 at [0, 2, 3, 0]": put("log_decay", 0.31, 0, 2, 3, 0),
    "log_decay must be <= 0 (natural log); got nan at [1, 3, 6, 0]": put("log_decay", np.nan, 1, 3, 6, 0),
    "log_decay must be <= 0 (natural log); got inf at [0, 0, 0, 0]": put("log_decay", np.inf, 0, 0, 0, 0),
    "beta must be in [0, 2]; got max 2.5 at [1, 0, 0, 0]": put("beta", 2.5, 1, 0, 0, 0),
    "beta must be in [0, 2]; got min -0.125 at [1, 0, 0, 0]": put("beta", -0.125, 1, 0, 0, 0),
    "q must be finite; got nan at [1, 0, 2, 1]": put("q", np.nan, 1, 0, 2, 1),
    "k must be finite; got inf at [1, 0, 2, 1]": put("k", np.inf, 1, 0, 2, 1),
    "v must be finite; got -inf at [1, 0, 2, 1]": put("v", -np.inf, 1, 0, 2, 1),
    "scale must be finite; got nan": {"scale": float("nan")},
    # axes
    "k must have shape (..., T=7, K=5); got (2, 4, 7, 3)": {"k": ones(B, H, T, 3)},
    "k must have shape (..., T=7, K=5); got (2, 4, 8, 5)": {"k": ones(B, H, 8, K)},
    "v must have shape (..., T=7, V); got (2, 4, 1, 6)": {"v": ones(B, H, 1, V)},
    "q must have shape (..., T, K); got (5,)": {"q": ones(K)},
    "log_decay must have shape (..., T=7, 1); got (2, 4, 7, 5)": {"log_decay": -ones(B, H, T, K)},
    "log_decay must have shape (..., T=7, 1); got (2, 4, 7)": {"log_decay": -ones(B, H, T)},
    "beta must have shape (..., T, 1); got ()": {"beta": 0.5},
    "scale must be one number; got shape (4,)": {"scale": ones(H)},
    "q must have K >= 1; got shape (2, 4, 7, 0)": {"q": ones(B, H, T, 0)},
    # dtypes and names
    "q must be a floating-point array; got dtype int64": {"q": ones(B, H, T, K, dtype=np.int64)},
    "q must be a floating-point array; got dtype complex128": {"q": ones(B, H, T, K, dtype=complex)},
    "q must be a floating-point array; got dtype object": {"q": ones(B, H, T, K, dtype=object)},
    "q must be an array without a mask: what is masked would count": {"q": np.ma.masked_array(ones(B, H, T, K))},
    "scale must be a floating-point array; got dtype bool": {"scale": True},
    "scale must be a floating-point array; got int too large to convert to float": {"scale": 10**400},
    "eps is no input of gated_delta_rule; expected q, k, v, log_decay, beta, scale": {"eps": 0.0},
    "v (value) is required by gated_delta_rule; got none": {"v": None},
    # leading axes
    "heads must be one count, or two of which one divides the other; got "
    "{'q': 3, 'k': 4, 'v': 4, 'log_decay': 4, 'beta': 4}": {"q": ones(B, 3, T, K)},
    "leading axes (batch, heads) must broadcast; got {'q': (2, 4), 'k': (3, 4), 'v': (2, 4), 'log_decay': (2, 4), "
    "'beta': (2, 4), 'scale': ()}": {"k": ones(3, H, T, K)},
    # states
    "initial_state S must have shape (..., K=5, V=6); got (2, 4, 6, 5)": {"initial_state": ones(B, H, V, K)},
    "initial_state S must have shape (..., K, V); got (5,)": {"initial_state": ones(K)},
    "initial_state S must have the leading axes (2, 4) (batch, heads); got (2, 3, 5, 6)": {
        "initial_state": (ones(B, 3, K, V),)
    },
    "initial_state must hold S; got 2 arrays": {"initial_state": (ones(K, V), ones(K))},
    "initial_state S must be finite; got nan at [1, 0]": {
        "initial_state": np.where(np.arange(30).reshape(K, V) == 6, np.nan, 1)
    },
    "initial_state S must be a floating-point array; got dtype int64": {"initial_state": ones(K, V, dtype=np.int64)},
    "initial_state S must be a floating-point array; got dtype object": {"initial_state": [None]},
    # options
    "chunk_size must be an integer of at least 1; got 0": {"chunk_size": 0},
    "chunk_size must be an integer of at least 1; got 2.5": {"chunk_size": 2.5},
    "chunk_size must be an integer of at least 1; got None": {"chunk_size": None},
    "layout must be one of BHTD, BTHD; got 'TBHD'": {"layout": "TBHD"},
    "form must be one of recurrent, chunkwise, parallel for gated_delta_rule; got 'bidirectional'": {
        "form": "bidirectional"
    },
    # packed sequences
    "cu_seqlens must be integers rising from 0 to T=7; got [0, 5, 3, 7]": {"cu_seqlens": [0, 5, 3, 7]},
    "cu_seqlens must be integers rising from 0 to T=7; got [0 5 3]": {"cu_seqlens": np.array([0, 5, 3], dtype="u8")},
    "cu_seqlens must be integers rising from 0 to T=7; got [0, 6]": {"cu_seqlens": [0, 6]},
    "cu_seqlens must be integers rising from 0 to T=7; got [1, 7]": {"cu_seqlens": [1, 7]},
    "cu_seqlens must be integers rising from 0 to T=7; got [7]": {"cu_seqlens": [7]},
    "cu_seqlens must be integers rising from 0 to T=7; got [0.0, 7.0]": {"cu_seqlens": [0.0, 7.0]},
    "cu_seqlens must be integers rising from 0 to T=7; got [[0], [3, 7]]": {"cu_seqlens": [[0], [3, 7]]},
    "cu_seqlens must be integers rising from 0 to T=7; got 7": {"cu_seqlens": 7},
    "initial_state must be a list of 2 states, one per sequence; got 1": {
        "cu_seqlens": [0, 3, 7],
        "initial_state": [None],
    },
    "initial_state must be a list of 2 states, one per sequence; got ndarray": {
        "cu_seqlens": [0, 3, 7],
        "initial_state": ones(B, H, K, V),
    },
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused_with_a_message(message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        prefill(RULE, **valid() | REFUSED[message])


def test_what_is_not_changed_is_accepted():
    """The refusals above are not those of the rest of the arguments."""
    output, (S,) = prefill(RULE, **valid())
    assert (output.shape, S.shape) == ((B, H, T, V), (B, H, K, V))


@pytest.mark.parametrize("layout", ["BHTD", "BTHD"])
def test_nested_lists_of_unequal_lengths_are_refused(layout):
    with pytest.raises(ValueError, match=r"^q must be a floating-point array; got setting an array element"):
        prefill(RULE, **valid() | {"q": [[1.0], [1.0, 2.0]]}, layout=layout)


def test_the_other_layout_needs_heads():
    with pytest.raises(ValueError, match=r"^q must have shape \(..., T, H, D\) in layout BTHD; got \(7, 5\)$"):
        prefill(RULE, **{name: x[0, 0] if x.ndim else x for name, x in valid().items()}, layout="BTHD")


def test_the_bidirectional_form_has_no_state():
    with pytest.raises(ValueError, match=r"^initial_state must be None in the bidirectional form: it has no state$"):
        prefill("linear_attention", **valid("linear_attention"), form="bidirectional", initial_state=ones(K, V))


def test_a_missing_input_and_an_unknown_variant():
    with pytest.raises(ValueError, match=r"^k \(key, of unit length\) is required by gated_delta_rule; got none$"):
        prefill(RULE, q=ones(T, K))
    with pytest.raises(ValueError, match=r"^variant must be one of softmax_attention, .*, kda, .*; got 'anaconda'$"):
        prefill("anaconda")


@pytest.mark.parametrize(
    ("state", "message"),
    [
        (ones(3, K), "initial_state must hold keys, values; got 1 arrays"),
        ((ones(3, K), ones(4, V)), "initial_state values must have shape (..., P=3, V=6); got (4, 6)"),
    ],
)
def test_the_tensors_of_a_cache_must_fit_each_other(state, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        prefill("softmax_attention", **valid("softmax_attention"), initial_state=state)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"q": 0.5}, "q must have shape (..., K); got ()"),
        ({"k": ones(B, H, 3)}, "k must have shape (..., T=1, K=5); got (2, 4, 1, 3)"),
        ({"gate": ones(1)}, "gate is no input of gated_delta_rule; expected q, k, v, log_decay, beta, scale"),
        ({"v": None}, "v (value) is required by gated_delta_rule; got none"),
    ],
)
def test_decode_refuses_too(changed, message):
    token = {name: x[..., 0, :] if x.ndim else x for name, x in valid().items()}
    decode(RULE, **token)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        decode(RULE, **token | changed)
