"""``linattn bench verdict``: the same runs before all criteria, and an exit code that says whether ours erred."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from commandline import run

from linattn import VARIANTS
from linattn_spec import PROFILES
from linattn_spec.comparison import Comparison
from linattn_spec.matching import Signatures
from linattn_tools.commands import bench_verdict
from linattn_tools.verdict_bench import criteria, trial
from linattn_tools.verdict_bench.criteria import CRITERIA, LEAVE_ONE_OUT, OURS, Evidence
from linattn_tools.verdict_bench.settings import LONG, enough, setting

NOTHING = Signatures((), np.zeros((0, 1, 4)), np.zeros((0, 1)))
WANT = np.array([1.0, -2.0, 0.5, 4.0]).reshape(1, 1, 2, 2)  # rms 2.3049


@pytest.fixture
def one_thread(monkeypatch):
    """The work of the processes, in this one: it starts faster, and sees what a test has changed."""

    def pool(mp_context):
        return ThreadPoolExecutor(max_workers=1)

    monkeypatch.setattr(bench_verdict, "ProcessPoolExecutor", pool)


def evidence(got, profile="fp32", plain=WANT, unit=1e-3):
    comparison = Comparison({"output": got}, {"output": WANT}, {"output": np.full_like(WANT, unit)})
    return Evidence(PROFILES[profile], comparison, {"output": plain}, NOTHING)


def off(by):
    """One element is off by that much."""
    got = WANT.copy()
    got[0, 0, 0, 1] += by
    return got


# -- the criteria, at their edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "profile", "most"),
    [  # the largest error of the element -2 that is accepted
        ("torch assert_close", "fp32", 1e-5 + 2 * 1.3e-6),
        ("torch assert_close", "tf32", 1e-5 + 2 * 1.3e-6),
        ("torch assert_close", "bf16", 1e-5 + 2 * 1.6e-2),
        ("torch assert_close", "bf16-io", 1e-5 + 2 * 1.6e-2),
        ("torch assert_close", "fp16", 1e-5 + 2 * 1e-3),
        ("torch assert_close", "fp64", 3e-7),
        ("allclose, loose", "fp32", 3e-4),
        ("allclose, loose", "tf32", 3 * 5e-3),
        ("allclose, loose", "bf16", 3 * 2e-2),
        ("fla rms ratio", "fp32", 2 * 0.002 * 2.3048861),  # one of four elements: twice the root mean square
        ("fla rms ratio", "bf16", 2 * 0.005 * 2.3048861),
        ("fla rms ratio in CI", "fp32", 0.3),
        ("noise units", "fp32", 6e-3),  # an rms of 3 units
    ],
)
def test_how_much_a_criterion_accepts(criterion, profile, most):
    assert CRITERIA[criterion](evidence(off(most * 0.999), profile))
    assert not CRITERIA[criterion](evidence(off(most * 1.001), profile))


def test_twice_the_error_of_a_plain_run_and_what_adding_a_number_costs():
    """(want + 0.3) - 0.3 in bfloat16: 1, -2, 1/2 and 4 become 1, -2, 1/2 and 4 again, but for rounding."""
    dtype = PROFILES["bf16"].array
    back = criteria.typed(criteria.typed(WANT + 0.3, dtype).values - 0.3, dtype).values
    most = 2 * 0.25 + 2 * np.abs(back - WANT).max()
    assert CRITERIA["FlashAttention 2x"](evidence(off(most), "bf16", plain=off(0.25)))
    assert not CRITERIA["FlashAttention 2x"](evidence(off(most * 1.001), "bf16", plain=off(0.25)))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_what_is_not_finite_is_accepted_by_none(criterion, wrong):
    with np.errstate(invalid="ignore"):
        assert not CRITERIA[criterion](evidence(off(wrong)))


def test_the_filter_rejects_what_points_along_a_signature_and_nothing_else():
    """Both errors are 2.1 units everywhere, within all limits: one along a signature, the other across it."""
    along = np.full((1, 1, 10, 10), 2.1)
    across = along * (-1.0) ** np.arange(10)
    known = Signatures(("along",), along.reshape(1, 1, 100), np.array([[441.0]]))
    for errors, right in ((along, False), (across, True)):
        comparison = Comparison({"output": errors}, {"output": 0 * along}, {"output": np.ones_like(along)})
        both = Evidence(PROFILES["fp32"], comparison, {}, known)
        assert CRITERIA["noise units"](both)
        assert CRITERIA[OURS](both) == right
        assert criteria.noise_units_and_filter(both, without="along")


# -- settings and mutants ----------------------------------------------------------------------------------------------


def test_settings_are_all_variants_in_all_forms_and_the_same_again():
    every = [setting(number) for number in range(4 * len(VARIANTS))]
    assert {(one.variant.name, one.form) for one in every} == {(v.name, form) for v in VARIANTS for form in v.forms}
    assert [one.case for one in every] == [setting(one.number).case for one in every]


def test_there_are_enough_runs_and_some_are_long():
    some = list(enough(500, profiles=7))
    assert 7 * sum(len(one.kernels) for one in some) >= 500
    assert 7 * sum(len(one.kernels) for one in some[:-1]) < 500
    assert {one.tokens for one in map(setting, range(200))} > set(LONG)


def test_a_mutant_is_a_kernel_with_what_a_mistake_adds():
    found = trial.outcomes(1, ("fp32",))
    right = [one for one in found if not one.mistake]
    mutants = [one for one in found if one.mistake]
    assert len(right) == len(setting(1).kernels)
    assert all(one.load < 1 and one.is_accepted for one in right)
    assert len({one.mistake for one in mutants}) == len(mutants) > 20
    assert {one.kernel for one in mutants} < {one.kernel for one in right} or len(right) == 1
    assert all(LEAVE_ONE_OUT in one.accepted for one in mutants)
    assert not any(one.is_accepted for one in mutants if one.mistake == "scale-twice")


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_table_and_the_file_agree(one_thread, capsys, tmp_path):
    assert run("bench", "verdict", "--runs", 20, "--profile", "bf16", "--profile", "fp32", "--json", "out.json") == 0
    title, empty, head, *lines = capsys.readouterr().out.splitlines()
    assert title == "per cent of right runs accepted, and of mutants rejected"
    assert (empty, head.split()) == ("", ["criterion", "fp32", "bf16", "all"])
    rows = {line[: bench_verdict.NAME].strip(): line[bench_verdict.NAME :].split() for line in lines}
    found = json.loads((tmp_path / "out.json").read_text())
    for n, profile in enumerate(("fp32", "bf16")):
        here = [one for one in found if one["profile"] == profile]
        right, mutants = ([one for one in here if bool(one["mistake"]) == wrong] for wrong in (False, True))
        assert (int(rows["right runs"][n]), int(rows["mutants"][n])) == (len(right), len(mutants))
        assert float(rows["largest load"][n]) == pytest.approx(max(one["load"] for one in right), abs=0.005)
        for name in CRITERIA:
            accepted = 100 * np.mean([one["accepted"][name] for one in right])
            rejected = 100 * np.mean([not one["accepted"][name] for one in mutants])
            assert [float(x) for x in rows[name][2 * n : 2 * n + 2]] == pytest.approx([accepted, rejected], abs=0.1)
    assert rows[OURS][::2] == ["100.0"] * 3


def test_a_right_run_that_is_rejected_is_shown_and_is_a_failure(one_thread, capsys, monkeypatch):
    monkeypatch.setitem(CRITERIA, OURS, lambda evidence: False)
    assert run("bench", "verdict", "--runs", 1, "--profile", "fp32") == 1
    shown = [line for line in capsys.readouterr().out.splitlines() if line.startswith("right, and rejected: ")]
    assert len(shown) == len(setting(0).kernels)
    assert f"{setting(0).case.id}, recurrent, fp32, token by token" in shown[0]


@pytest.mark.parametrize(
    ("cases", "shown"), [([True] * 3, "100.0"), ([True] * 9999 + [False], " 99.9"), ([False], "  0.0"), ([], "  0.0")]
)
def test_all_but_one_are_not_all(cases, shown):
    assert bench_verdict.per_cent(cases) == shown


def test_an_unknown_profile_is_refused(capsys):
    assert run("bench", "verdict", "--profile", "fp23") == 2
    assert "invalid choice: 'fp23'" in capsys.readouterr().err
