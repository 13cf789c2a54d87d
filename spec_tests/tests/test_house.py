"""The house: imports go down its floors only, and files stay short enough to be read at once."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = {  # folder: its package, and what it may import of the others
    "reference": ("linattn", set()),
    "golden": ("linattn_golden", set()),
    "spec_tests": ("linattn_spec", {"linattn", "linattn_golden"}),
    "tools": ("linattn_tools", {"linattn", "linattn_golden", "linattn_spec"}),
}
OURS = {package for package, _ in FLOORS.values()}


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found.add((node.module or "").split(".")[0])
    return found


@pytest.mark.parametrize("folder", FLOORS)
def test_imports_go_down(folder):
    """Those of the tests in the folder too."""
    package, below = FLOORS[folder]
    files = list((ROOT / folder).rglob("*.py"))
    assert files
    for path in files:
        assert imported(path) & OURS <= below | {package}, path


def test_the_golden_reader_needs_numpy_alone():
    standard = {"collections", "dataclasses", "functools", "hashlib", "json", "os", "pathlib", "typing"}
    for path in (ROOT / "golden" / "linattn_golden").rglob("*.py"):
        assert imported(path) <= standard | {"numpy", "linattn_golden"}, path


def test_files_are_short():
    packages = [ROOT / folder / package for folder, (package, _) in FLOORS.items()]
    for folder in (*packages, ROOT / "spec_tests" / "tests", ROOT / "tools" / "tests"):
        for path in folder.rglob("*.py"):
            limit = 100 if path.parent.name == "variants" and path.name != "__init__.py" else 200
            assert len(path.read_text().splitlines()) <= limit, path
