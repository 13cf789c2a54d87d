"""The wheel, installed into empty environments as users have them."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HAS_OLDEST = sys.version_info < (3, 13)  # there is no numpy 1.26 for a newer Python
EXTENSIONS = "import numpy; print('found:', *numpy.show_config(mode='dicts')['SIMD Extensions'].get('found', []))"
PACKAGES = {"linattn", "linattn_golden", "linattn_spec", "linattn_tools"}


def python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def run(folder: Path, *arguments: str, where: Path | None = None, **variables: str) -> subprocess.CompletedProcess:
    """A command of the environment, outside of the checkout."""
    command = python(folder).with_name(arguments[0]) if arguments[0] != "python" else python(folder)
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "COV"))}
    settings = {"capture_output": True, "text": True, "cwd": where or folder, "env": clean | variables}
    return subprocess.run([command, *arguments[1:]], **settings)


def environment(folder: Path, *requirements: str) -> Path:
    venv.create(folder, with_pip=True)
    done = run(folder, "python", "-m", "pip", "install", "--quiet", *requirements)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of what a checkout has, so that no left-over build folder gets into it."""
    source, built = tmp_path_factory.mktemp("source") / "linattn", tmp_path_factory.mktemp("wheel")
    ignored = shutil.ignore_patterns(
        ".git", ".venv", "build", "*.egg-info", "__pycache__", ".*_cache", ".linattn", ".hypothesis"
    )
    shutil.copytree(ROOT, source, ignore=ignored)
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(built), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("bare"), str(wheel))


@pytest.fixture(scope="module")
def spec(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(tmp_path_factory.mktemp("spec"), f"linattn[spec] @ {wheel.as_uri()}")


@pytest.fixture(scope="module")
def oldest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The oldest NumPy that is supported, or what there is."""
    numpy = "numpy==1.26.4" if HAS_OLDEST else "numpy"
    return environment(tmp_path_factory.mktemp("oldest"), f"linattn[spec,certify] @ {wheel.as_uri()}", numpy)


@pytest.fixture(scope="module")
def simplest(oldest: Path) -> dict[str, str]:
    """Variables with which OpenBLAS and NumPy use none of the vector instructions that this machine may have."""
    found = run(oldest, "python", "-c", EXTENSIONS).stdout.removeprefix("found:").strip()
    return {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": found}


def test_installs_nothing_but_the_four_packages_and_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == PACKAGES
    stored = {
        str(path.relative_to(ROOT / "golden")) for path in (ROOT / "golden/linattn_golden").rglob("*.safetensors")
    }
    assert stored
    wanted = stored | {f"linattn_golden/{name}" for name in ("manifest.json", "manifest.schema.json", "LICENSE")}
    wanted |= {f"{package}/py.typed" for package in PACKAGES}
    assert wanted <= set(names)
    assert not [name for name in names if "/tests/" in name]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("linattn", "list"), "gated_delta_rule"),
        (("linattn", "explain", "kda"), "DECAY"),
        (("linattn", "golden", "show", "kda/one-token"), "final_state/S"),
        (("linattn", "prove", "gla"), "recurrent = parallel"),
        (("python", "-m", "linattn", "list"), "gated_delta_rule"),
    ],
)
def test_the_bare_wheel_needs_numpy_and_scipy_alone(bare: Path, arguments: tuple[str, ...], expected: str) -> None:
    done = run(bare, *arguments)
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


def test_the_bare_wheel_says_what_a_check_needs(bare: Path) -> None:
    done = run(bare, "linattn", "check", "numpy")
    assert done.returncode == 2
    assert "pip install 'linattn[spec]'" in done.stderr


def test_spec_judges_numpy(spec: Path, tmp_path: Path) -> None:
    selected = ("--variant", "gla", "--variant", "kda", "--level", "smoke", "--profile", "fp32")
    reports = ("--json", "report.json", "--html", "report.html")
    done = run(spec, "linattn", "check", "numpy", *selected, *reports, where=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "report.html").stat().st_size > 0


def test_spec_says_how_to_get_a_missing_backend(spec: Path, tmp_path: Path) -> None:
    done = run(spec, "linattn", "check", "onnxruntime", where=tmp_path)
    assert done.returncode == 2
    assert "pip install 'linattn[onnx]'" in done.stderr


def test_spec_runs_as_pytest(spec: Path, tmp_path: Path) -> None:
    options = ("--pyargs", "linattn_spec", "--linattn-variant=gla", "--linattn-profile=fp32", "-q")
    done = run(spec, "python", "-m", "pytest", *options, where=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ("python", "-c", "import numpy; print(numpy.__version__)"),
            "1.26.4",
            marks=pytest.mark.skipif(not HAS_OLDEST, reason="there is no numpy 1.26 for this Python"),
        ),
        (("python", "-c", EXTENSIONS), "found:\n"),
        (("linattn", "golden", "verify"), "every byte proven anew"),
        (("linattn", "prove", "kda"), "recurrent = parallel"),
        (("linattn", "check", "numpy", "--profile", "fp32", "--level", "smoke"), "0 failed"),
    ],
)
def test_the_oldest_numpy_on_the_simplest_processor_gives_the_same(
    oldest: Path, simplest: dict[str, str], tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    done = run(oldest, *arguments, where=tmp_path, **simplest)
    assert done.returncode == 0, done.stdout + done.stderr
    assert expected in done.stdout
