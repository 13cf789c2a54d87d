"""Results as records: their ids, their log and what a run makes of them."""

import json
from itertools import combinations

import pytest

from linattn_spec.results import STATUSES, Check, Result, Run, append, read_log, start_log, worst

CHECK = Check("kda", "odd-dims", "chunkwise.fused", "bf16-io", "golden")
ENVIRONMENT = {"backend": "mine.py", "version": "1.2", "spec_version": "1", "machine": "any"}
RESULTS = [
    Result(CHECK, "pass", load=0.25, seconds=0.5),
    Result(CHECK, "fail", 'output: "NaN",, at\nhead 1', load=17.5, seconds=1.25),
    Result(CHECK, "unsupported", "takes no beta"),
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "new" / "log.jsonl"
    start_log(path, ENVIRONMENT)
    for result in RESULTS:
        append(path, result)
    return path


def test_an_id_names_its_check():
    assert CHECK.id == "kda/odd-dims:chunkwise.fused:bf16-io:golden"
    assert CHECK.case == "kda/odd-dims"
    assert Check.parse(CHECK.id) == CHECK


@pytest.mark.parametrize(
    "wrong", ["", "kda", "kda:recurrent:fp32:golden", "kda/a/b:recurrent:fp32:golden", "kda/a:r:p"]
)
def test_what_is_no_id_is_refused(wrong):
    with pytest.raises(ValueError, match="check id must be VARIANT/SCENARIO:FORM:PROFILE:CHECK; got"):
        Check.parse(wrong)


def test_a_log_gives_back_what_was_written(log):
    assert read_log(log, ENVIRONMENT) == RESULTS


def test_an_infinite_load_is_written_as_json_has_it(log):
    append(log, Result(CHECK, "fail", "output is not finite", load=float("inf")))

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    for line in log.read_text().splitlines():
        json.loads(line, parse_constant=refuse)
    assert read_log(log, ENVIRONMENT)[-1] == Result(CHECK, "fail", "output is not finite", load=None)


def test_a_line_cut_anywhere_is_no_result_and_spoils_no_other(log):
    whole = log.read_text()
    last = len(whole.splitlines()[-1])
    for missing in range(1, last + 1):
        log.write_text(whole[:-missing])
        assert read_log(log, ENVIRONMENT) == RESULTS[:-1]
        append(log, RESULTS[0])
        assert read_log(log, ENVIRONMENT) == [*RESULTS[:-1], RESULTS[0]]


@pytest.mark.parametrize("name", ["backend", "version", "spec_version"])
def test_the_log_of_another_run_is_refused(log, name):
    with pytest.raises(ValueError, match=f"has {name} '{ENVIRONMENT[name]}'; this run has 'other'"):
        read_log(log, ENVIRONMENT | {name: "other"})


def test_another_machine_may_go_on(log):
    assert read_log(log, ENVIRONMENT | {"machine": "other"}) == RESULTS


SUBSETS = [set(chosen) for size in range(len(STATUSES) + 1) for chosen in combinations(STATUSES, size)]


@pytest.mark.parametrize("statuses", SUBSETS, ids=lambda statuses: "+".join(sorted(statuses)) or "none")
def test_exit_code(statuses):
    run = Run({}, tuple(Result(CHECK, status) for status in STATUSES if status in statuses))
    if statuses <= {"noted", "unsupported", "not run"}:
        assert run.exit_code == 2  # nothing could be judged
    else:
        assert run.exit_code == (0 if statuses <= {"pass", "limit", "known", "noted", "unsupported"} else 1)


@pytest.mark.parametrize(("status", "code"), [("pass", 1), ("known", 1), ("fail", 1), ("unsupported", 2)])
def test_what_is_known_wrongly_is_an_error(status, code):
    assert Run({}, (Result(CHECK, status),), ("failure 1: expired",)).exit_code == code


def test_counts_and_the_worst_load():
    run = Run(ENVIRONMENT, tuple(RESULTS + RESULTS[:1]))
    assert run.counts == {"pass": 2, "fail": 1, "unsupported": 1}
    assert (worst(run.results), worst(RESULTS[2:])) == (17.5, None)
