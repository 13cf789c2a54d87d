"""``linattn bench``: what it prints, and that time and memory do not grow with the length of the sequence."""

import json
import time

from commandline import run

from linattn import VARIANTS
from linattn_tools.commands import bench

COLUMNS = {"variant", "form", "K", "T", "us_per_token", "mib"}


def measured(tmp_path, variants, tokens):
    named = [word for name in variants for word in ("--variant", name)]
    assert run("bench", *named, "--tokens", *tokens, "--width", 8, "--json", tmp_path / "bench.json") == 0
    return json.loads((tmp_path / "bench.json").read_text())


def growth(rows, name):
    """The last length over the first, of every variant and form."""
    first, last = ([row for row in rows if row["T"] == edge([r["T"] for r in rows])] for edge in (min, max))
    return {(x["variant"], x["form"]): y[name] / x[name] for x, y in zip(first, last, strict=True)}


def test_the_table_and_the_file_agree(capsys, tmp_path):
    words = "--variant kda --variant gla --tokens 8 16 24 --width 4 8 --json bench.json"
    assert run("bench", *words.split()) == 0
    unit, _, head, *lines = capsys.readouterr().out.splitlines()
    assert "microseconds per token and MiB of working memory" in unit
    assert head.split() == ["variant", "form", "K", "T=8", "T=16", "T=24"]
    rows = json.loads((tmp_path / "bench.json").read_text())
    assert all(row.keys() == COLUMNS for row in rows)
    table = [line.replace("MiB", "").split() for line in lines]
    keys = [(v, f, k) for v in ("kda", "gla") for f in ("recurrent", "chunkwise") for k in ("4", "8")]
    assert [tuple(line[:3]) for line in table] == keys
    for line, three in zip(table, (rows[n : n + 3] for n in range(0, len(rows), 3)), strict=True):
        assert [(row["variant"], row["form"], str(row["K"])) for row in three] == [tuple(line[:3])] * 3
        assert [row["T"] for row in three] == [8, 16, 24]
        assert line[3:] == [f"{row[name]:.1f}" for row in three for name in ("us_per_token", "mib")]


def test_every_variant_can_be_measured(tmp_path):
    rows = measured(tmp_path, [variant.name for variant in VARIANTS], [8])
    assert all(row["us_per_token"] > 0 and row["mib"] > 0 for row in rows)
    assert len(rows) == sum(1 + (variant.parallel is not None) for variant in VARIANTS)


def test_memory_and_time_per_token_stay_level(tmp_path, monkeypatch):
    """By processor time: other work on the machine may slow any run down; what is not linear fails in each."""
    monkeypatch.setattr(bench.time, "perf_counter", time.process_time)
    runs = (measured(tmp_path, bench.VARIANTS, [512, 4096]) for _ in range(3))
    assert any(all(ratio < 2 for ratio in growth(rows, "us_per_token").values()) for rows in runs)
    memory = growth(json.loads((tmp_path / "bench.json").read_text()), "mib")
    assert len(memory) == 2 * len(bench.VARIANTS)
    assert all(ratio < 1.5 for ratio in memory.values())


def test_what_grows_is_seen_to_grow(tmp_path):
    """The cache of softmax attention: eight times the tokens are eight times the memory, where one reads all of it."""
    memory = growth(measured(tmp_path, ["softmax_attention"], [64, 512]), "mib")
    assert 4 < memory["softmax_attention", "recurrent"] < 16


def test_an_unknown_variant(capsys):
    assert run("bench", "--variant", "nothing") == 2
    assert capsys.readouterr().err.startswith("linattn: variant must be one of softmax_attention, ")
