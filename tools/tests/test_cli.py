"""What all commands share: help, exit codes, messages on one line, and nothing imported that is not needed."""

import re
import subprocess
import sys

import pytest
from commandline import ENVIRONMENT, python, run

import linattn
from linattn_tools import cli

COMMANDS = ("list", "explain", "check", "repro", "mutants", "prove", "lattice", "golden", "new-backend")
COMMANDS += ("new-variant", "bench")
ACTIONS = ("show", "verify", "generate")
HEAVY = {"rich", "jinja2", "pebble", "flint", "pytest", "onnx", "onnxruntime"}


def test_the_version(capsys):
    assert run("--version") == 0
    assert capsys.readouterr().out == f"linattn {linattn.__version__}\n"


@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), *(("golden", name) for name in ACTIONS)])
def test_help_names_the_command_and_everything_it_takes(capsys, words):
    assert run(*words, "--help") == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: linattn {' '.join(words)}".rstrip())
    listed = set(re.findall(r"^ +(-?[\w-]+)", text, re.MULTILINE))
    assert listed >= {"-h", *{(): COMMANDS, ("golden",): ACTIONS}.get(words, ())}


def test_these_are_all_commands():
    assert len(COMMANDS) == len(cli.COMMANDS)


@pytest.mark.parametrize("words", [(), ("golden",), ("explain",), ("repro", "an id"), ("lst",)])
def test_wrong_usage(capsys, words):
    assert run(*words) == 2
    assert "usage: linattn" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "many"])
@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("check numpy", "--workers"),
        ("check numpy", "--timeout"),
        ("prove kda", "--points"),
        ("bench", "--tokens"),
        ("bench --tokens 8", "--width"),
    ],
)
def test_a_number_of_things_is_at_least_one(capsys, command, option, number):
    """Without a worker nothing would ever run, and no points would prove everything."""
    assert run(*command.split(), f"{option}={number}") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(f"argument {option}: must be a whole number, at least 1; got {number!r}\n")


def test_python_m():
    done = python("-m", "linattn", "list")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"{len(linattn.VARIANTS)} variants.")


def test_the_exit_code_is_that_of_the_process():
    assert python("-m", "linattn", "explain", "nothing").returncode == 2


@pytest.mark.parametrize(
    "words",
    [["list"], ["list", "--json"], ["explain", "kda"], ["golden", "show", "kda/long"], ["prove", "kda"], ["lattice"]],
    ids=" ".join,
)
def test_nothing_heavy_is_imported(words):
    done = python(
        "-c", f"import sys; from linattn_tools.cli import main; assert not main({words}); print(*sys.modules)"
    )
    assert done.returncode == 0, done.stderr
    assert not HEAVY & {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("pebble", "check numpy", "spec"),
        ("flint", "golden verify", "certify"),
        ("flint", "golden generate --out fixtures", "certify"),
    ],
)
def test_what_is_not_installed_is_named_with_the_command_that_installs_it(missing, words, extra):
    hidden = f"import sys; sys.modules['{missing}'] = None; from linattn_tools.cli import main"
    done = python("-c", f"{hidden}; sys.exit(main({words.split()}))")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"linattn: {missing} is not installed; pip install 'linattn[{extra}]'\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no broken pipes")
@pytest.mark.parametrize("words", [["list"], ["golden", "show", "--json"]], ids=" ".join)  # less and more than a buffer
def test_a_reader_that_leaves_early_sees_no_traceback(words):
    """As in ``linattn list | head -1``. Not everything could be said, so that the exit code is not 0."""
    command = [sys.executable, "-m", "linattn", *words]
    with subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
