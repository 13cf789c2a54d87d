"""Profiles: what an implementation promises about its precision, and the dtypes in which it exchanges arrays."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Profile:
    """Significant bits of operands of contractions, of other arithmetic and of stored outputs; dtypes of arrays."""

    name: str
    operand_bits: int
    bits: int
    output_bits: int
    array: str  # q, k, v and the output
    gate: str  # gates: log_decay, beta
    state: str
    doc: str

    def with_dtypes(self, **dtypes: str) -> "Profile":
        """The same promise with other dtypes: ``array``, ``gate``, ``state``."""
        return replace(self, **dtypes)  # type: ignore[arg-type]


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("fp64", 53, 53, 53, "float64", "float64", "float64", "double precision throughout"),
        Profile("fp32", 24, 24, 24, "float32", "float32", "float32", "single precision throughout"),
        Profile("tf32", 11, 24, 24, "float32", "float32", "float32", "float32 arrays, contractions of TF32 operands"),
        Profile(
            "bf16", 8, 24, 8, "bfloat16", "float32", "float32", "bfloat16 arrays and operands, float32 sums and state"
        ),
        Profile("bf16-io", 24, 24, 8, "bfloat16", "float32", "float32", "bfloat16 arrays, float32 inside"),
        Profile(
            "fp16", 11, 24, 11, "float16", "float32", "float32", "float16 arrays and operands, float32 sums and state"
        ),
        Profile("fp16-io", 24, 24, 11, "float16", "float32", "float32", "float16 arrays, float32 inside"),
    )
}

BITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}  # significant bits of a dtype
SMALLEST = {  # absolute error that rounding may make near zero: below, values may be flushed
    "float64": 2.0**-1022,
    "float32": 2.0**-126,
    "float16": 2.0**-25,
    "bfloat16": 2.0**-126,
}


def profile(name: str | Profile) -> Profile:
    """The profile of that name. Raises ``ValueError`` with the names there are."""
    if isinstance(name, Profile):
        return name
    if name not in PROFILES:
        raise ValueError(f"profile must be one of {', '.join(PROFILES)}; got {name!r}")
    return PROFILES[name]
