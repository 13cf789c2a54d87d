"""The scenarios of scans, of the networks before them and of what turns."""

from linattn_tools.golden.scenario import SHORT, Scenario

STATES = {
    "h": ("h", "c"),
    "h_real": ("h_real", "h_imag"),
    "S_real": ("S_real", "S_imag"),
    "S_cos": ("S_cos", "S_sin", "z_cos", "z_sin"),
    "N": ("N",),
    "s": ("keys", "values"),
}  # by what a variant has

SCAN = {"x": "integers", "log_decay": "keep-or-forget", "i": "one-hot", "z": "one-hot", "h": "integers"}
WEIGHTS = dict.fromkeys(("B_real", "B_imag", "C_real", "C_imag"), "one-hot")
COMPLEX = {**WEIGHTS, "angle": "zero", "gamma": "half", "D": "integers", "h_real": "integers", "h_imag": "integers"}
MEMORY = {"q": "integers", "k": "one-hot", "v": "integers", "angle": "zero", "log_decay": "keep-or-forget"}

ON_PAPER = {"x": "count", "log_decay": "minus-one", "z": "half", "f": "half", "i": "half", "h": "one", "c": "one"}
ON_PAPER |= {**dict.fromkeys(WEIGHTS, "one"), "angle": "half", "gamma": "half", "D": "half"}
ON_PAPER |= {"h_real": "one", "h_imag": "one", "S_real": "one", "S_imag": "one", "q": "count", "k": "one", "v": "count"}
ON_PAPER |= {f"x_{gate}": "half" for gate in "ifozr"} | {"x_g": "count", "x_n": "count"}
ON_PAPER |= {"R": "half"} | {f"R_{gate}": "half" for gate in "ifgozrn"}


def exact(name: str, why: str, needs: tuple[str, ...], draws: dict[str, str]) -> Scenario:
    return Scenario(name, "1 9 2 2 2 4 3", why, draws, needs=needs, exact=True)


SCANS = (
    *(
        Scenario(
            "state-float32",
            SHORT,
            "a state that bfloat16 does not hold: rounding it on its way in is seen",
            dict.fromkeys(names, "bell-f32"),
            needs=(one,),
        )
        for one, names in STATES.items()
    ),
    *(
        Scenario(
            "on-paper",
            "1 2 1 1 1 1 1",
            "one channel of round numbers: two tokens to compute on paper",
            ON_PAPER,
            needs=needs,
        )
        for needs in (("x", "h"), ("x", "h_real"), ("x_f", "h"), ("x_n", "h"), ("S_real",))
    ),
    exact("exact-scan", "inputs in whole numbers, gates and decays 0 and 1", ("x", "h"), SCAN),
    exact(
        "exact-mean",
        "two gates: the state is forgotten, and twice half of it is kept",
        ("x", "f", "i"),
        {**SCAN, "f": "every-fourth", "i": "one"},
    ),
    exact("exact-complex", "weights 0 and 1, eigenvalues 0 and 1", ("x", "h_real"), {**SCAN, **COMPLEX}),
    exact(
        "exact-complex-memory",
        "a complex memory in whole numbers that does not turn",
        ("S_real",),
        {**MEMORY, "S_real": "integers", "S_imag": "integers"},
    ),
    exact(
        "exact-trapezoid",
        "halves of a token and of the one before, which does not turn",
        ("trap",),
        {**MEMORY, "S": "integers", "phase": "zero", "key": "one-hot", "value": "integers"}
        | {"dt": "strength-0-1-2", "trap": "half", "D": "integers"},
    ),
    *(
        Scenario(
            "forgets-the-largest",
            SHORT,
            "log decays of -inf, and a state so large that what is left of it would be seen",
            {"log_decay": "never", **dict.fromkeys(("S", "h", "h_real", "S_real"), "large")},
            needs=needs,
        )
        for needs in (("phase", "eps"), ("trap",), ("h", "log_decay"), ("h_real",), ("S_real",))
    ),
)
