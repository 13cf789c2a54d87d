"""``linattn check``, from the first result to the last: as they come, into the log, after an interruption."""

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from commandline import ENVIRONMENT, called, run, write_adapter

from linattn_spec.results import Result

ONLY = ("--variant", "linear_attention", "--form", "bidirectional")
INTERRUPTED = ("    count()\n", "    count()\n    if called() == 3: raise KeyboardInterrupt\n")  # as Ctrl-C does
COUNTED = (
    "def total(",
    "def called():\n    return len(Path(__file__).with_suffix('.calls').read_text().split())\n\n\ndef total(",
)


def logged(path):
    environment, *lines = path.read_text().splitlines()
    return json.loads(environment), [Result.from_json(line) for line in lines]


def reported(path):
    return [Result.from_json(json.dumps(entry)) for entry in json.loads(path.read_text())["results"]]


@pytest.mark.usefixtures("no_workers")
def test_the_log_has_every_result_and_the_place_of_its_own(tmp_path):
    path = write_adapter(tmp_path / "my adapter.py")
    assert run("check", path.name, *ONLY, "--json", "all.json") == 0
    environment, results = logged(tmp_path / ".linattn" / "my-adapter.py.jsonl")
    assert environment["backend"] == "my adapter.py"
    assert results == reported(tmp_path / "all.json")


@pytest.mark.usefixtures("no_workers")
def test_resuming_a_finished_run_calls_nothing(tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    words = ("check", path, *ONLY, "--log", tmp_path / "logs" / "one.jsonl")
    assert run(*words, "--json", "first.json") == 0
    before = called(path)
    assert before > 0
    assert run(*words, "--resume", "--json", "second.json") == 0
    assert called(path) == before
    assert (tmp_path / "second.json").read_bytes() == (tmp_path / "first.json").read_bytes()
    assert run(*words) == 0  # without --resume, all over again
    assert called(path) == 2 * before


@pytest.mark.usefixtures("no_workers")
def test_an_interrupted_run_says_what_was_not_run_and_is_resumed(tmp_path):
    path = write_adapter(tmp_path / "adapter.py", INTERRUPTED, COUNTED)
    words = ("check", path, *ONLY, "--log", "log.jsonl")
    assert run(*words, "--json", "first.json") == 1
    first = reported(tmp_path / "first.json")
    done = [result for result in first if result.status != "not run"]
    assert [result.status for result in done] == ["pass", "pass"]
    assert first[:2] == done
    assert {result.reason for result in first[2:]} == {"interrupted"}
    assert logged(tmp_path / "log.jsonl")[1] == done
    assert run(*words, "--resume", "--json", "second.json") == 0
    second = reported(tmp_path / "second.json")
    assert [result.check for result in second] == [result.check for result in first]
    assert second[:2] == done
    whole = write_adapter(tmp_path / "whole.py")
    run("check", whole, *ONLY)
    assert called(path) == called(whole) + 1  # the interrupted call


@pytest.mark.usefixtures("no_workers")
def test_errors_and_lines_cut_short_are_run_again(tmp_path):
    path = write_adapter(tmp_path / "adapter.py")
    words = ("check", path, *ONLY, "--log", "log.jsonl")
    run(*words)
    everything = called(path)
    log = tmp_path / "log.jsonl"
    environment, first, second, third, *others = log.read_text().splitlines(keepends=True)
    error = Result(Result.from_json(first).check, "error", "no answer within 120 s").to_json() + "\n"
    log.write_text("".join([environment, error, second, *others, "\n", third[:30]]))
    path.with_suffix(".calls").unlink()
    assert run(*words, "--resume", "--json", "all.json") == 0
    assert called(path) == 2 < everything  # one call for the golden values of the first, one for those of the third
    assert {result.status for result in reported(tmp_path / "all.json")} == {"pass", "noted", "unsupported"}


@pytest.mark.usefixtures("no_workers")
@pytest.mark.parametrize("change", [('version="1.2"', 'version="1.3"'), None])
def test_a_log_of_something_else_is_not_resumed(capsys, tmp_path, change):
    path = write_adapter(tmp_path / "adapter.py")
    words = (*ONLY, "--log", "log.jsonl")
    run("check", path, *words)
    other = write_adapter(path, change) if change else write_adapter(tmp_path / "other.py")
    capsys.readouterr()
    assert run("check", other, *words, "--resume") == 2
    assert capsys.readouterr().err.startswith(f"linattn: log.jsonl has {'version' if change else 'backend'} ")


@contextmanager
def started(*words):
    """A run in the background. It hears Ctrl-C even where this process was told to ignore it, and never outlives it."""
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from linattn_tools.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, *map(str, words)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=ENVIRONMENT, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


WAITING = ("    S, z = initial_state", "    __import__('waiting').wait()\n    S, z = initial_state")
WAIT = """
import time
from pathlib import Path

def wait():
    Path("waits").touch()
    for _ in range(3000):
        if Path("go").exists():
            return
        time.sleep(0.02)
"""


def test_the_first_verdict_comes_before_the_last_check(tmp_path):
    """The second function waits until it has been read."""
    path = write_adapter(tmp_path / "adapter.py", WAITING)
    (tmp_path / "waiting.py").write_text(WAIT)
    with started("check", path, "--form", "recurrent", "--workers", 1) as process:
        first = process.stdout.readline()
        assert process.poll() is None
        (tmp_path / "go").touch()
        rest, error = process.communicate(timeout=60)
    assert first.startswith("linear_attention recurrent fp32: ")
    assert "normalised_linear_attention recurrent fp32: " in rest
    assert (process.returncode, error) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_control_c(tmp_path):
    path = write_adapter(tmp_path / "adapter.py", WAITING)
    (tmp_path / "waiting.py").write_text(WAIT)
    with started("check", path, "--form", "recurrent", "--workers", 1, "--json", "all.json") as process:
        while process.poll() is None and not (tmp_path / "waits").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (1, "")
    results = reported(tmp_path / "all.json")
    assert {result.status for result in results if result.check.variant == "linear_attention"} == {
        "pass",
        "noted",
        "unsupported",
    }
    assert {result.status for result in results if result.check.variant != "linear_attention"} == {"not run"}
