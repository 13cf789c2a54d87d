"""The catalogue of mistakes: one of them in words, and all of them against checks and cases, as a page and as JSON."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from linattn.record import FORMS
from linattn.variants import VARIANTS
from linattn_spec import diagnosis
from linattn_spec.diagnosis import RESOLVED
from linattn_spec.mistakes.power import Sight, Trial, sights
from linattn_spec.mistakes.record import Mistake

BEST = 3  # cases that are named
DECLARED = ("id", "kind", "sentence", "forms", "profiles", "seen_in", "seen_by")


def page(mistake: Mistake) -> Iterator[str]:
    """All there is about one mistake."""
    places = [(v, form) for form in FORMS for v in VARIANTS if mistake.applies(v, form)]
    variants = [v.name for v in VARIANTS if any(v is own for own, _ in places)]
    yield from (mistake.id, f"  {mistake.sentence}")
    yield f"  class       {mistake.kind}"
    yield f"  variants    {', '.join(variants)}"
    yield f"  forms       {', '.join(form for form in FORMS if any(form == own for _, own in places))}"
    yield f"  profiles    {', '.join(mistake.profiles)}"
    yield f"  seen by     {', '.join(mistake.seen_by)}"
    yield from (f"  seen in     {link}" for link in mistake.seen_in)
    if "golden" in mistake.seen_by:
        variant, form = places[0]
        seen = sights(variant.name, form, mistake.profiles, (mistake.id,))
        yield f"  changes     {', '.join(changed(max(seen, key=lambda s: s.units)))}"
        yield from (f"  best shown  {line}" for line in best(seen))


def changed(sight: Sight) -> list[str]:
    """The results that the mistake changes there."""
    found = diagnosis.differences(f"{sight.variant}/{sight.case}", sight.form)[sight.mistake]
    return [name for name, x in found.items() if np.any(x != 0)]


def best(seen: list[Sight]) -> Iterator[str]:
    """For every profile the cases that show it most."""
    for profile in dict.fromkeys(sight.profile for sight in seen):
        order = sorted((s for s in seen if s.profile == profile), key=lambda s: -s.units)[:BEST]
        cases = ", ".join(f"{s.case} ({short(s.units)} units)" for s in order if s.units >= RESOLVED)
        yield f"{profile}, {order[0].variant} {order[0].form}: {cases or 'in no case'}"


def short(units: float) -> str:
    """In a few characters."""
    if not math.isfinite(units):
        return "inf"
    for size, letter in ((1e12, ""), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if units >= size:
            return "> 1T" if not letter else f"{units / size:.3g}{letter}"
    return f"{units:.0f}"


def tally(trials: Iterable[Trial], profile: str, form: str) -> str:
    """Variants in which all checks that must reject a mistake do, of those in which it is tried."""
    by_variant: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        if (trial.profile, trial.form) == (profile, form):
            by_variant[trial.variant].append(trial)
    seen = sum(all(trial.killed for trial in own) for own in by_variant.values())
    return f"{seen}/{len(by_variant)}" if by_variant else "-"


def worst(seen: Iterable[Sight]) -> dict[tuple[str, str, str], Sight]:
    """By mistake, profile and case: the variant and form in which the case shows it least."""
    found: dict[tuple[str, str, str], Sight] = {}
    for sight in seen:
        place = sight.mistake, sight.profile, sight.case
        if place not in found or sight.units < found[place].units:
            found[place] = sight
    return found


def as_json(mistakes: list[Mistake], trials: list[Trial], seen: list[Sight]) -> dict[str, Any]:
    """Everything. ``cases`` has units by mistake, profile, variant, form and case, but no zeros; null: a value is
    not finite, or has to be exact.
    """
    cases: dict[str, Any] = {}
    for one in seen:
        if one.units:
            place = cases
            for step in (one.mistake, one.profile, one.variant, one.form):
                place = place.setdefault(step, {})
            place[one.case] = float(f"{one.units:.3g}") if math.isfinite(one.units) else None
    return {
        "resolved": RESOLVED,
        "mistakes": [{name: getattr(one, name) for name in DECLARED} for one in mistakes],
        "trials": [asdict(trial) for trial in trials],
        "cases": cases,
    }


def render(mistakes: list[Mistake], trials: list[Trial], seen: list[Sight], summary: str) -> str:
    """The page."""
    by_mistake = {one.id: [trial for trial in trials if trial.mistake == one.id] for one in mistakes}
    return template().render(
        mistakes=mistakes,
        summary=summary.replace("\n", "; "),
        forms=[form for form in FORMS if any(trial.form == form for trial in trials)],
        profiles=list(dict.fromkeys(trial.profile for trial in trials)),
        cases=list(dict.fromkeys(sight.case for sight in seen)),
        tally=lambda one, profile, form: tally(by_mistake[one.id], profile, form),
        worst=worst(seen),
        resolved=RESOLVED,
    )


def shade(units: float) -> int:
    """0: not resolved; 1 to 4: by powers of hundred."""
    return 0 if units < RESOLVED else min(4, 1 + int(math.log(min(units, 1e12) / RESOLVED, 100)))


@lru_cache(maxsize=1)
def template() -> Template:
    environment = Environment(
        loader=PackageLoader("linattn_tools.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(short=short, shade=shade)
    return environment.get_template("catalogue.html.j2")
