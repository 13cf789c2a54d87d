"""Writing and checking the fixtures: generation is deterministic, so to verify is to generate again and compare."""

import hashlib
import json
import multiprocessing
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from linattn.record import Variant
from linattn.variants import VARIANTS
from linattn.variants import variant as find
from linattn_golden import LOSSES, Case, Data, safetensors
from linattn_tools.golden import certifier
from linattn_tools.golden.scenarios import all_cases
from linattn_tools.progress import track

SPEC_VERSION = "0.1.0"
Tensors = dict[str, tuple[str, np.ndarray]]


def generate(destination: Path, variants: Sequence[Variant] = VARIANTS) -> list[str]:
    """Write the manifest and one file per variant into ``destination``; the names of the files written."""
    declared = list(all_cases(variants))
    finished = dict(track(prove_all(declared), total=len(declared), what="proving"))
    data = destination / "data"
    data.mkdir(parents=True, exist_ok=True)
    cases: list[Case] = []
    tensors: dict[str, Tensors] = {variant.name: {} for variant in variants}
    for case in declared:
        proven, stored = finished[case.id]
        cases.append(proven)
        tensors[case.variant] |= {f"{case.id.split('/')[1]}/{name}": tensor for name, tensor in stored.items()}
    for name, content in tensors.items():
        safetensors.write(data / f"{name}.safetensors", content)
    (destination / "manifest.json").write_text(manifest(cases, data, variants))
    return ["manifest.json", *(f"data/{name}.safetensors" for name in tensors)]


def verify(stored: Path) -> list[str]:
    """Prove everything anew; the names of the files whose bytes differ from the stored ones."""
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder)
        names = generate(fresh)
        return [n for n in names if not (stored / n).exists() or (stored / n).read_bytes() != (fresh / n).read_bytes()]


def prove_all(cases: list[Case]) -> Iterable[tuple[str, tuple[Case, Tensors]]]:
    with ProcessPoolExecutor(mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from zip((case.id for case in cases), pool.map(prove, cases), strict=True)


def prove(case: Case) -> tuple[Case, Tensors]:
    """A case with its precision and hashes, and the tensors to store."""
    inputs = {f"inputs/{name}": draw for name, draw in case.inputs.items()}
    state = {f"initial_state/{name}": draw for name, draw in (case.initial_state or {}).items()}
    cotangents = {f"cotangents/{name}": draw for name, draw in case.cotangents.items()}
    drawn = {name: (draw.dtype, draw.array()) for name, draw in (inputs | state | cotangents).items()}
    data = as_data(case, {name: array for name, (_, array) in drawn.items()})
    if case.kind == "recipe":
        results, bits = certifier.proven(case, certifier.sample(case, data))
        hashes = {f"sample/{name}": sha256(("F64", array)) for name, array in results.items()}
        return replace(case, precision={"sample": bits}, sha256=hashes), {}
    results, bits = certifier.proven(case, data)
    precision, stored = {"results": bits}, drawn | {name: ("F64", array) for name, array in results.items()}
    if find(case.variant).bidirectional:
        output, precision["bidirectional"] = certifier.proven_bidirectional(case, data)
        stored["bidirectional"] = ("F64", output)
    for loss in LOSSES if case.cotangents else ():
        gradients, precision[f"gradients/{loss}"] = certifier.proven_gradients(case, data, loss)
        stored |= {f"gradients/{loss}/{name}": ("F64", array) for name, array in gradients.items()}
    return replace(case, precision=precision, sha256={name: sha256(t) for name, t in sorted(stored.items())}), stored


def as_data(case: Case, arrays: dict[str, np.ndarray]) -> Data:
    inputs = {name: arrays[f"inputs/{name}"] for name in case.inputs}
    state = None if case.initial_state is None else tuple(arrays[f"initial_state/{n}"] for n in case.initial_state)
    return Data({**inputs, **case.numbers}, state, cotangents={n: arrays[f"cotangents/{n}"] for n in case.cotangents})


def sha256(tensor: tuple[str, np.ndarray]) -> str:
    dtype, array = tensor
    return hashlib.sha256(safetensors.encode(array, dtype)).hexdigest()


def manifest(cases: list[Case], folder: Path, variants: Iterable[Variant]) -> str:
    files = {f"data/{path.name}": path.read_bytes() for path in sorted(folder.glob("*.safetensors"))}
    content: dict[str, Any] = {
        "$schema": "manifest.schema.json",
        "spec_version": SPEC_VERSION,
        "license": "CC0-1.0",
        "provenance": "linattn golden generate: recurrence over rigorous balls, each value proven correctly rounded",
        "layout": "(B, H, T, D), row-major; log_decay is a natural logarithm; keys are rows of a state",
        "states": {variant.name: [item.name for item in variant.state] for variant in variants},
        "counts": {kind: sum(case.kind == kind for case in cases) for kind in ("certified", "recipe")},
        "files": {
            name: {"bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in files.items()
        },
        "cases": [asdict(case, dict_factory=without_usual_time) for case in cases],
    }
    return json.dumps(content, indent=1) + "\n"


def without_usual_time(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Tokens stand on the axis before the last, where nothing else is said."""
    return {name: value for name, value in items if (name, value) != ("time", -2)}
