"""Each break of a right adapter with the kinds of checks that see it, and what they must say."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import breaks

REFUSED = {"recurrent.ai.onnx": {"empty"}}  # it takes no empty sequence, so this law says nothing of it


@dataclass(frozen=True)
class Break:
    """``says`` maps a check, as SCENARIO:KIND, to a pattern that its reason must match."""

    run: Callable[..., Any]
    kinds: set[str]
    says: dict[str, str] = field(default_factory=dict)
    variant: str = "gated_delta_rule"

    @property
    def name(self) -> str:
        return self.run.__name__.replace("_", " ")


BREAKS = (
    Break(
        breaks.scale_missing,
        {"golden", "scale"},
        {"odd-dims:golden": f"from the first token on, {5**0.5:.4g} times the right values; final_state/S right"},
    ),
    Break(
        breaks.scale_applied_twice,
        {"golden", "scale"},
        {"two-tokens:golden": "output: from the first token on, 0.5 times the right values; final_state/S right"},
    ),
    Break(
        breaks.decay_passed_for_its_logarithm,
        {"channels", "golden", "neutral", "padding", "superposition"},
        {"odd-dims:golden": "from the first token on"},
    ),
    Break(
        breaks.decay_after_the_read,
        {"golden", "neutral", "padding", "split"},
        {"odd-dims:golden": "output: from the first token on", "long-fresh:golden": "output: from token 1 on"},
    ),
    Break(breaks.erase_before_the_decay, {"golden"}, {"two-tokens:golden": "output: from the first token on"}),
    Break(breaks.beta_ignored, {"golden"}, {"one-token:golden": "output: at the first token alone"}),
    Break(breaks.beta_on_the_value_alone, {"golden"}, {"long-fresh:golden": "output: from token 1 on"}),
    Break(breaks.gates_clamped, {"golden"}, {"gates-strong:golden": "output"}),
    Break(breaks.channels_share_a_gate, {"golden"}, {"odd-dims:golden": "output: from the first token on"}, "kda"),
    Break(
        breaks.gate_of_the_last_token_in_the_first,
        {"golden", "neutral", "padding", "prefix", "split"},
        {"odd-dims:prefix": "tokens from 3 on changed: .*output: from the first token on"},
    ),
    Break(
        breaks.initial_state_dropped,
        {"empty", "golden", "split", "states"},
        {"odd-dims:golden": "output: from the first token on", "long:split": r"split at (\d+): .*output: .*token \1"},
    ),
    Break(
        breaks.initial_state_transposed,
        {"channels", "empty", "golden", "split"},
        {"square:golden": "output: from the first token on"},
    ),
    Break(
        breaks.initial_state_of_batch_entry_0_for_all,
        {"empty", "golden", "reversal", "split"},
        {"odd-dims:golden": "output: only batch entry 1 of 2, from the first token on"},
    ),
    Break(
        breaks.final_state_transposed,
        {
            "aliasing",
            "batch",
            "channels",
            "domain",
            "doubling",
            "empty",
            "golden",
            "heads",
            "neutral",
            "ownership",
            "padding",
            "poison",
            "reversal",
            "scale",
            "split",
            "strides",
            "superposition",
            "untouched",
        },
        {
            "square:golden": "final_state/S: equal to the transpose; output right",
            "odd-dims:golden": r"final_state/S must have shape \(2, 3, 5, 11\) .*; got \(2, 3, 11, 5\)",
        },
    ),
    Break(
        breaks.final_state_one_token_old,
        {"golden", "neutral", "padding", "split"},
        {"odd-dims:golden": "final_state/S: .*; output right", "long:split": r"split at (\d+): .*output: .*token \1"},
    ),
    Break(
        breaks.state_in_bfloat16,
        {"golden", "split", "superposition"},
        {"odd-dims:golden": "final_state/S: right to 8 bits; output right"},
    ),
    Break(breaks.inputs_in_float16, {"golden", "split"}, {"gates-float32:golden": "off by"}),
    Break(
        breaks.heads_tiled,
        {"golden", "heads"},
        {"grouped-query:golden": "output: only heads 1, 4 of 6, from the first token on; final_state/S right"},
    ),
    Break(
        breaks.output_one_token_late,
        {"golden", "neutral", "padding", "split"},
        {"long:golden": "output: from the first token on; final_state/S right"},
    ),
    Break(
        breaks.tail_of_the_last_chunk_zero,
        {"golden", "neutral", "padding", "split"},
        {"long:golden": "at token 32 alone, the start of a chunk of 32, zeros .*; final_state/S right"},
    ),
    Break(
        breaks.chunks_of_16_without_the_state,
        {"golden", "neutral", "padding", "split"},
        {"long:golden": "output: from token 16 on, the start of a chunk of 16"},
    ),
    Break(
        breaks.one_head_not_a_number,
        {
            "aliasing",
            "batch",
            "channels",
            "domain",
            "doubling",
            "golden",
            "heads",
            "neutral",
            "ownership",
            "padding",
            "poison",
            "reversal",
            "scale",
            "split",
            "strides",
            "superposition",
            "untouched",
        },
        {"odd-dims:golden": "output: only head 1 of 3, from token 3 on, 88 of 462 values not finite"},
    ),
    Break(breaks.argument_overwritten, {"untouched"}, {"odd-dims:untouched": "changed its argument q"}),
    Break(
        breaks.float64_returned,
        {
            "aliasing",
            "batch",
            "batch-invariant",
            "channels",
            "deterministic",
            "domain",
            "doubling",
            "empty",
            "golden",
            "heads",
            "integers",
            "neutral",
            "ownership",
            "padding",
            "poison",
            "prefix",
            "prefix-invariant",
            "reversal",
            "scale",
            "split",
            "strides",
            "superposition",
            "untouched",
        },
        {"odd-dims:heads": "output must have dtype float32; got float64"},
    ),
)
