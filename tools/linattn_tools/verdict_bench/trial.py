"""One setting: its kernels, and the mutants of one of them, before all criteria."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from linattn_spec import diagnosis, verdict
from linattn_spec.comparison import Comparison
from linattn_spec.emulated import Kernel, stored
from linattn_spec.mistakes import MISTAKES
from linattn_spec.profiles import BITS, PROFILES, Profile
from linattn_tools.verdict_bench.criteria import CRITERIA, LEAVE_ONE_OUT, OURS, Evidence, noise_units_and_filter, rms
from linattn_tools.verdict_bench.settings import Setting
from linattn_tools.verdict_bench.settings import setting as setting_of

Changes = dict[str, dict[str, np.ndarray]]  # of every mistake, what it adds to every result


@dataclass(frozen=True)
class Outcome:
    """What every criterion says of a kernel (``mistake`` is empty) or of a mutant."""

    case: str
    form: str
    profile: str
    kernel: str
    mistake: str
    accepted: dict[str, bool]
    load: float
    undetermined: float  # the share of its values

    @property
    def is_accepted(self) -> bool:
        """By this suite."""
        return self.accepted[OURS]


def outcomes(number: int, profiles: tuple[str, ...]) -> list[Outcome]:
    """Of that setting."""
    setting = setting_of(number)
    with np.errstate(all="ignore"):
        changes = {} if setting.is_long else visible(setting, diagnosis.changes(setting.call))
        return [one for name in profiles for one in judged(setting, PROFILES[name], changes)]


def visible(setting: Setting, changes: Changes) -> Changes:
    """Those that change more than every right kernel loses in single precision: the others are no mistakes here."""
    call = setting.call
    true = verdict.truth(call.variant, PROFILES["fp32"], call.form, call.inputs, call.state).values
    right = [kernel.computed(call.variant, PROFILES["fp32"], call.inputs, call.state) for kernel in setting.kernels]
    lost = {name: max(rms(results[name] - x) for results in right) for name, x in true.items()}
    return {
        mistake: change
        for mistake, change in changes.items()
        if not all(rms(x) <= lost[name] for name, x in change.items())  # NaN is more than everything
    }


def judged(setting: Setting, profile: Profile, changes: Changes) -> Iterator[Outcome]:
    call = setting.call
    truth = verdict.truth(call.variant, profile, call.form, call.inputs, call.state)
    known = diagnosis.signatures_of(changes, truth.units, profile, tuple(sorted(truth.values)))
    arguments = call.variant, profile, call.inputs, call.state
    plain = Kernel("plain", bits=BITS[profile.array])(*arguments)

    def outcome(kernel: Kernel, results: dict[str, np.ndarray], mistake: str = "") -> Outcome:
        comparison = Comparison(results, truth.values, truth.units)
        evidence = Evidence(profile, comparison, plain, known)
        accepted = {name: criterion(evidence) for name, criterion in CRITERIA.items()}
        if mistake:
            accepted[LEAVE_ONE_OUT] = noise_units_and_filter(evidence, without=mistake)
        share = comparison.undetermined / sum(x.size for x in results.values())
        return Outcome(setting.case.id, call.form, profile.name, kernel.name, mistake, accepted, evidence.load, share)

    for n, kernel in enumerate(setting.kernels):
        computed = kernel.computed(*arguments)
        yield outcome(kernel, stored(profile, computed))
        if n == setting.number % len(setting.kernels):
            for mistake, results in mutants(changes, profile, computed):
                yield outcome(kernel, results, mistake)


def mutants(
    changes: Changes, profile: Profile, computed: dict[str, Any]
) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Results of the kernel with what a mistake adds to them."""
    for one in MISTAKES:
        if one.id in changes and diagnosis.declared(profile) in one.profiles:
            yield one.id, stored(profile, {name: x + changes[one.id][name] for name, x in computed.items()})
