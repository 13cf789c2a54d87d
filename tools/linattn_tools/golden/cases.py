"""From a scenario to the case of a variant: its sizes, its draws, the shapes of its arrays."""

from linattn.record import Input, Variant
from linattn_golden import Case
from linattn_golden.draws import Draw, key_of
from linattn_spec.drawn import all_sizes, axes_of
from linattn_tools.golden.scenario import Scenario


def case_of(variant: Variant, scenario: Scenario) -> Case:
    case_id = f"{variant.name}/{scenario.name}"
    sizes = all_sizes(variant, sizes_of(scenario.dims, "R" in axes_of(variant)))
    dims = {axis: sizes[axis] for axis in axes_of(variant)}

    def draws(group: str, kinds: dict[str, tuple[str, tuple[int, ...]]]) -> dict[str, Draw]:
        times = {item.name: item.time for item in variant.inputs if group == "inputs" and item.time is not None}
        return {
            name: Draw(kind, shape, key_of(f"{case_id}/{group}/{name}"), times.get(name, -2))
            for name, (kind, shape) in kinds.items()
        }

    arrays = [item for item in variant.inputs if item.axes]
    inputs = {i.name: (scenario.draws.get(i.name, i.typical), shape(i, sizes)) for i in arrays}
    state = {
        s.name: (scenario.draws.get(s.name, s.typical), tuple(sizes.get(a, 1) for a in ("B", "Hv", *s.axes.split())))
        for s in variant.state
    }
    heads = max(sizes[f"H{item.heads}"] for item in variant.inputs if item.heads != "none")
    tokens = sizes["T"] + sizes["P"] * scenario.initial  # in a cache, at the end
    results = {"output": ("B", "H", *variant.output.split())} | {
        f"final_state/{item.name}": ("B", "Hv", *item.axes.split()) for item in variant.state
    }
    known = sizes | {"H": heads, "P": tokens}
    cotangents = {name: ("bell", tuple(known.get(axis, 1) for axis in axes)) for name, axes in results.items()}
    return Case(
        id=case_id,
        variant=variant.name,
        kind=scenario.kind,
        why=scenario.why,
        dims=dims,
        numbers={name: value for name, value in scenario.numbers.items() if variant.has(name)},
        inputs=draws("inputs", inputs),
        initial_state=draws("initial_state", state) if scenario.initial else None,
        cotangents=draws("cotangents", cotangents) if scenario.gradients else {},
        exact=scenario.exact,
    )


def sizes_of(dims: str, turning: bool) -> dict[str, int]:
    """The size of every axis. What turns has two channels at least."""
    sizes = dict(zip(["B", "T", "Hq", "Hk", "Hv", "K", "V"], map(int, dims.split()), strict=True))
    sizes["K"] = max(sizes["K"], 2 if turning else 1)
    return sizes | {
        "D": sizes["V"],
        "N": sizes["K"],
        "R": max(1, sizes["K"] // 2),
        "P": 4,
        "J": 2,
        "M": 4,
        "L": 7,
        "W": 4,
    }


def shape(item: Input, sizes: dict[str, int]) -> tuple[int, ...]:
    """(B, heads, T, D) for a sequence, (heads, D) for a parameter."""
    batch = ("B",) if item.time is not None else ()
    return tuple(sizes.get(axis, 1) for axis in (*batch, f"H{item.heads}", *item.axes.split()))
