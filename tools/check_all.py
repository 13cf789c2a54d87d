"""``make check-all``: every built-in backend, each in an environment of its own, made under ``.venvs``.

What an earlier call found is kept while nothing of linattn has changed, so that an interrupted call goes on.
"""

import argparse
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from linattn_spec.loading import BUILT_IN
from linattn_spec.plan import LEVELS

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
SOURCES = [ROOT / name for name in ("pyproject.toml", "reference", "golden", "spec_tests/linattn_spec")]
INTERPRETED = ("fla",)  # without a GPU its kernels take hours for what others do in minutes


@dataclass(frozen=True)
class Outcome:
    """What became of a backend: the exit code of its check, None where it was skipped, and what to say of it."""

    name: str
    code: int | None
    said: str

    @property
    def word(self) -> str:
        return "skipped" if self.code is None else "passed" if self.code == 0 else "FAILED"


class Skipped(Exception):
    """It cannot be installed here."""


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", metavar="BACKEND", help=f"default: all of {', '.join(BUILT_IN)}")
    parser.add_argument("--level", choices=LEVELS, help="how much to check (default: core; smoke where it is slow)")
    options = parser.parse_args(words)
    outcomes = []
    try:
        for name in options.backends or BUILT_IN:
            outcomes.append(outcome(name, options.level))
    except KeyboardInterrupt:
        print("interrupted; the next call goes on from here")
    print_table(outcomes)
    return int(len(outcomes) < len(options.backends or BUILT_IN) or any(outcome.code for outcome in outcomes))


def outcome(name: str, level: str | None) -> Outcome:
    print(f"\n{name}", flush=True)
    try:
        python = installed(name if name in EXTRAS else "onnx")
    except Skipped as reason:
        print(f"skipped: {reason}")
        return Outcome(name, None, str(reason))
    report = ROOT / ".linattn" / f"{name}.json"
    code = subprocess.call([python, "-m", "linattn_tools", *arguments(name, level, report)], cwd=ROOT)
    return Outcome(name, code, counts(report) if code < 2 else "nothing could be judged")


def installed(extra: str) -> str:
    """The interpreter of an environment that has the extra. It is made anew when pyproject.toml changes."""
    for requirement in map(Requirement, EXTRAS[extra]):
        if requirement.marker and not requirement.marker.evaluate():
            raise Skipped(f"{requirement.name} needs {requirement.marker}")
    environment = ROOT / ".venvs" / extra
    python, stamp = str(environment / "bin" / "python"), environment / "ready"
    if not younger(stamp, [ROOT / "pyproject.toml"]):
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        install = [python, "-m", "pip", "install", "--quiet", "--editable", f".[spec,{extra}]"]
        pip = subprocess.run(install, cwd=ROOT, stderr=subprocess.PIPE, text=True)
        if pip.returncode:
            raise Skipped(next((line for line in pip.stderr.splitlines() if line.startswith("ERROR")), "pip failed"))
        stamp.touch()
    return python


def arguments(name: str, level: str | None, report: Path) -> Iterator[str]:
    yield from ("check", name, "--level", level or ("smoke" if name in INTERPRETED else "core"))
    yield from ("--json", str(report), "--html", str(report.with_suffix(".html")))
    if younger(report.with_suffix(".jsonl"), SOURCES):
        yield "--resume"


def younger(path: Path, sources: list[Path]) -> bool:
    """Whether a file was written after all files of some folders."""
    files = [file for source in sources for file in (source, *source.rglob("*")) if "__pycache__" not in file.parts]
    return path.exists() and path.stat().st_mtime > max(file.stat().st_mtime for file in files if file.is_file())


def counts(report: Path) -> str:
    return ", ".join(f"{number} {status}" for status, number in json.loads(report.read_text())["counts"].items())


def print_table(outcomes: list[Outcome]) -> None:
    width = max(map(len, BUILT_IN))
    print()
    for outcome in outcomes:
        print(f"{outcome.name:{width}}  {outcome.word:7}  {outcome.said}")


if __name__ == "__main__":
    sys.exit(main())
