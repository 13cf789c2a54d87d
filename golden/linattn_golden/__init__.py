"""The golden values: inputs, and outputs and states proven to be the correctly rounded float64 values.

``cases()`` lists them, ``load(case)`` reads one. NumPy is all this package needs. The fixtures are in the public
domain (CC0-1.0). Those of variants of one's own, in other folders, are read too: where LINATTN_GOLDEN says, an
environment variable that separates folders as PATH does.
"""

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from linattn_golden import safetensors
from linattn_golden.draws import Draw

HERE = Path(__file__).parent
DATA = HERE / "data"
LOSSES = ("both", "output", "state")
FOLDERS = "LINATTN_GOLDEN"


@dataclass(frozen=True)
class Case:
    """One entry of the manifest. The id never changes its meaning.

    ``certified``: inputs and proven results are stored. ``recipe``: only the recipe of its inputs is, since they
    are large; results come from the float64 chunkwise form, and a sample of them is proven and hashed.
    """

    id: str
    variant: str
    kind: str
    why: str
    dims: dict[str, int]
    numbers: dict[str, float]  # inputs that are one number, such as scale; one that is absent has its default
    inputs: dict[str, Draw]
    initial_state: dict[str, Draw] | None
    cotangents: dict[str, Draw] = field(default_factory=dict)  # where gradients are certified too
    precision: dict[str, int] = field(default_factory=dict)  # bits at which each group of values was proven
    sha256: dict[str, str] = field(default_factory=dict)  # of the bytes of every stored tensor
    exact: bool = False  # every right implementation returns these very bits, in any precision


@dataclass(frozen=True)
class Data:
    """The arrays of a case, in the reference layout (B, H, T, D). A recipe has inputs alone."""

    inputs: dict[str, Any]
    initial_state: tuple[np.ndarray, ...] | None
    output: np.ndarray | None = None
    final_state: tuple[np.ndarray, ...] | None = None
    bidirectional: np.ndarray | None = None  # the output of the non-causal form, where the variant has one
    cotangents: dict[str, np.ndarray] = field(default_factory=dict)
    gradients: dict[str, np.ndarray] = field(default_factory=dict)  # "LOSS/NAME": see ``of_loss``


def manifest(folder: Path = HERE) -> dict[str, Any]:
    """The manifest as it stands in the file (``manifest.schema.json`` describes it)."""
    return read(folder / "manifest.json")


@lru_cache(maxsize=8)
def read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text())


def folders() -> list[Path]:
    """Ours, and those that the environment names."""
    return [HERE, *map(Path, filter(None, os.environ.get(FOLDERS, "").split(os.pathsep)))]


def entries() -> Iterator[dict[str, Any]]:
    """The cases as they stand in the manifests."""
    for folder in folders():
        yield from manifest(folder)["cases"]


def cases(variant: str | None = None, kind: str | None = None) -> Iterator[Case]:
    """All cases, or those of a variant or kind."""
    for entry in entries():
        if variant in (None, entry["variant"]) and kind in (None, entry["kind"]):
            yield from_json(entry)


def case(case_id: str) -> Case:
    """The case of that id. Raises ``ValueError`` with the ids of its variant."""
    known = by_id(*folders())
    if case_id not in known:
        variant = case_id.split("/")[0]
        near = [name for name in known if name.startswith(f"{variant}/")] or sorted(
            {name.split("/")[0] + "/..." for name in known}
        )
        raise ValueError(f"case must be one of {', '.join(near)}; got {case_id!r}")
    return from_json(known[case_id])


@lru_cache(maxsize=8)
def by_id(*folders: Path) -> dict[str, dict[str, Any]]:
    """The cases of these folders as they stand in the manifests."""
    return {entry["id"]: entry for folder in folders for entry in manifest(folder)["cases"]}


def from_json(entry: dict[str, Any]) -> Case:
    draws = {
        name: None
        if entry[name] is None
        else {key: Draw(d["draw"], tuple(d["shape"]), d["key"], d.get("time", -2)) for key, d in entry[name].items()}
        for name in ("inputs", "initial_state", "cotangents")
    }
    return Case(**{**entry, **draws})


def load(case: Case) -> Data:
    """The arrays of a case as float64: stored ones from its file, those of a recipe from their draws."""
    if case.kind == "recipe":
        inputs = {name: draw.array() for name, draw in case.inputs.items()}
        state = None if case.initial_state is None else tuple(draw.array() for draw in case.initial_state.values())
        return Data({**inputs, **case.numbers}, state)
    proven = below(tensors(case.variant), case.id.split("/")[1])

    def group(name: str) -> dict[str, np.ndarray]:
        return below(proven, name)

    initial = group("initial_state")
    return Data(
        inputs={**group("inputs"), **case.numbers},
        initial_state=tuple(initial[name] for name in state_names(case)) if initial else None,
        output=proven["output"],
        final_state=tuple(group("final_state")[name] for name in state_names(case)),
        bidirectional=proven.get("bidirectional"),
        cotangents=group("cotangents"),
        gradients=group("gradients"),
    )


def of_loss(loss: str, names: Iterable[str]) -> list[str]:
    """The results on which a loss depends: the outputs, the final state, or both."""
    return [name for name in names if loss in ("both", "output" if name == "output" else "state")]


def below(tensors: dict[str, np.ndarray], folder: str) -> dict[str, np.ndarray]:
    """The tensors whose name begins with ``folder/``, without it."""
    return {name.removeprefix(f"{folder}/"): x for name, x in tensors.items() if name.startswith(f"{folder}/")}


def state_names(case: Case) -> list[str]:
    """The tensors of the state, in the order of the record."""
    return manifest(home(case.variant))["states"][case.variant]


def home(variant: str) -> Path:
    """The folder that holds the values of a variant."""
    return next(folder for folder in folders() if variant in manifest(folder)["states"])


def tensors(variant: str) -> dict[str, np.ndarray]:
    """All tensors of a variant's file."""
    return stored(home(variant) / "data" / f"{variant}.safetensors")


@lru_cache(maxsize=4)
def stored(file: Path) -> dict[str, np.ndarray]:
    return safetensors.read(file)
