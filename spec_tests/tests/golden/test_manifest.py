"""The manifest: its schema, and that it says the truth about the files beside it."""

import copy
import hashlib
import json

import jsonschema
import pytest

import linattn_golden
from linattn import VARIANTS, variant
from linattn_golden import safetensors
from linattn_golden.draws import DRAWS, key_of

SCHEMA = json.loads((linattn_golden.HERE / "manifest.schema.json").read_text())
MANIFEST = linattn_golden.manifest()
CASES = list(linattn_golden.cases())
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
EACH_CERTIFIED = pytest.mark.parametrize(
    "case", [case for case in CASES if case.kind == "certified"], ids=lambda case: case.id
)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def errors(manifest):
    return list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(manifest))


def test_the_manifest_satisfies_its_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert errors(MANIFEST) == []
    assert SCHEMA["$defs"]["draw"]["properties"]["draw"]["enum"] == list(DRAWS)


def put(value, *path):
    """The manifest with another value at a place."""

    def spoil(manifest):
        *parents, last = path
        place = manifest
        for key in parents:
            place = place[key]
        place[last] = value

    return spoil


def index(kind):
    return next(n for n, case in enumerate(CASES) if case.kind == kind)


FEW = {**MANIFEST, "cases": [MANIFEST["cases"][index(kind)] for kind in ("certified", "recipe")]}  # one of each kind
PROVEN, RECIPE = 0, 1
SPOILED = {
    "an unknown key": put(1, "extra"),
    "another licence": put("MIT", "license"),
    "no version": put("newest", "spec_version"),
    "no count": put({"certified": 1}, "counts"),
    "a file elsewhere": put({"bytes": 9, "sha256": "0" * 64}, "files", "../gla.safetensors"),
    "a short hash": put("0" * 63, "files", "data/gla.safetensors", "sha256"),
    "no cases": put([], "cases"),
    "the same case twice": lambda manifest: manifest["cases"].append(manifest["cases"][0]),
    "an unknown key of a case": put(1, "cases", 0, "extra"),
    "an id without a scenario": put("gla", "cases", 0, "id"),
    "an unknown kind": put("guess", "cases", 0, "kind"),
    "no reason": put("", "cases", 0, "why"),
    "no tokens": put(0, "cases", 0, "dims", "T"),
    "an unknown dimension": put(3, "cases", 0, "dims", "width"),
    "a number as text": put("0.5", "cases", 0, "numbers", "scale"),
    "no inputs": put({}, "cases", 0, "inputs"),
    "an unknown draw": put("normal", "cases", 0, "inputs", "q", "draw"),
    "a key in capitals": put("A" * 32, "cases", 0, "inputs", "q", "key"),
    "a shape without batch": put([3], "cases", 0, "inputs", "q", "shape"),
    "a cotangent of an input": put(CASES[0].inputs["q"].__dict__, "cases", 0, "cotangents", "q"),
    "an unknown precision": put(53, "cases", 0, "precision", "results"),
    "a hash of nothing": put("0" * 64, "cases", 0, "sha256", "nothing"),
    "a proof without results": put({"sample": 96}, "cases", PROVEN, "precision"),
    "a proof without output": put({"inputs/q": "0" * 64}, "cases", PROVEN, "sha256"),
    "a recipe with stored results": put("0" * 64, "cases", RECIPE, "sha256", "output"),
    "a recipe without a sample": put({"sample/final_state/S": "0" * 64}, "cases", RECIPE, "sha256"),
}


@pytest.mark.parametrize("spoil", SPOILED.values(), ids=SPOILED)
def test_the_schema_is_tight(spoil):
    manifest = copy.deepcopy(FEW)
    assert not errors(manifest)
    spoil(manifest)
    assert errors(manifest)


def test_ids_are_unique_and_counted():
    ids = [case.id for case in CASES]
    assert len(set(ids)) == len(ids)
    assert all(case.id.split("/")[0] == case.variant for case in CASES)
    assert {kind: sum(case.kind == kind for case in CASES) for kind in MANIFEST["counts"]} == MANIFEST["counts"]


def test_states_are_those_of_the_records():
    assert MANIFEST["states"] == {v.name: [item.name for item in v.state] for v in VARIANTS}


def test_files_are_those_of_the_folder():
    found = {f"data/{path.name}": path.read_bytes() for path in linattn_golden.DATA.iterdir()}
    assert MANIFEST["files"] == {name: {"bytes": len(x), "sha256": sha256(x)} for name, x in sorted(found.items())}


@pytest.mark.parametrize("name", MANIFEST["states"])
def test_every_stored_tensor_belongs_to_a_case(name):
    listed = {f"{case.id.split('/')[1]}/{t}" for case in linattn_golden.cases(name, "certified") for t in case.sha256}
    assert set(linattn_golden.tensors(name)) == listed


@EACH_CERTIFIED
def test_every_hash_is_that_of_the_bytes_in_the_file(case):
    path = linattn_golden.DATA / f"{case.variant}.safetensors"
    data = path.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    for name, expected in case.sha256.items():
        begin, end = header[f"{case.id.split('/')[1]}/{name}"]["data_offsets"]
        assert sha256(data[start + begin : start + end]) == expected, name


def draws_of(case):
    groups = {"inputs": case.inputs, "initial_state": case.initial_state or {}, "cotangents": case.cotangents}
    return {f"{group}/{name}": draw for group, draws in groups.items() for name, draw in draws.items()}


@EACH_CERTIFIED
def test_draws_give_the_stored_bytes_again(case):
    """Inputs are exact in the dtype in which they are stored: encoding refuses anything else."""
    for name, draw in draws_of(case).items():
        assert sha256(safetensors.encode(draw.array(), draw.dtype)) == case.sha256[name], name


def test_keys_are_those_of_their_names_and_never_shared():
    keys = {f"{case.id}/{name}": draw.key for case in CASES for name, draw in draws_of(case).items()}
    assert keys == {name: key_of(name) for name in keys}
    assert len(set(keys.values())) == len(keys)


@EACH_CASE
def test_shapes_are_those_of_dims_and_record(case):
    record = variant(case.variant)
    sizes = case.dims | {"1": 1, "J": 2}
    for item in record.inputs:
        if item.axes:
            shape = case.inputs[item.name].shape
            batch = [case.dims["B"]] if item.time is not None else []
            assert list(shape) == [*batch, case.dims[f"H{item.heads}"], *(sizes[axis] for axis in item.axes.split())]
        else:
            assert item.name not in case.inputs
    assert set(case.numbers) <= {item.name for item in record.inputs if not item.axes}


@EACH_CASE
def test_a_case_stores_what_its_variant_has(case):
    record = variant(case.variant)
    stored = {name.split("/")[0] for name in case.sha256}
    if case.kind == "certified":
        assert ("bidirectional" in stored) == (record.bidirectional is not None)
        assert ("gradients" in stored) == ("cotangents" in stored) == bool(case.cotangents)
        assert ("initial_state" in stored) == (case.initial_state is not None)
