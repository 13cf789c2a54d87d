"""The pytest plugin: options for ``pytest --pyargs linattn_spec``. Unused, it imports nothing of the suite."""

from typing import Any

OPTIONS = (
    (
        "--linattn-backend",
        "numpy",
        "implementation to judge: a built-in name, path.py or module:object (default: numpy)",
    ),
    ("--linattn-variant", "", "only these variants, separated by commas"),
    ("--linattn-form", "", "only these forms, separated by commas"),
    ("--linattn-profile", "", "only these profiles, separated by commas"),
    ("--linattn-level", "core", "smoke, core or full (default: core)"),
    ("--linattn-known", "", "the file of known failures (default: known_failures.toml beside path.py)"),
)


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("linattn", "conformance of linear attention")
    for name, default, text in OPTIONS:
        group.addoption(name, default=default, help=text)
