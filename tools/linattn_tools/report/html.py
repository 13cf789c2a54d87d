"""The report as one page: it needs no other file, no network and no scripts."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from inspect import getdoc
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from linattn_spec.checks import CHECKS
from linattn_spec.profiles import PROFILES
from linattn_spec.results import STATUSES, Run
from linattn_spec.verdict import LIMITS
from linattn_tools.report.matrix import JUDGED, Cell, Matrix, failures, matrix, percent, reproduce, unsupported
from linattn_tools.report.unjudged import Unjudged

MARKS = {
    "pass": "✓",
    "fail": "✗",
    "limit": "△",
    "error": "!",
    "known": "◇",
    "noted": "◦",
    "unsupported": "-",
    "not run": "○",
    "": "",
}
FORMS = {
    "recurrent": "token by token, as in decoding",
    "chunkwise": "chunk by chunk, as kernels for training do",
    "parallel": "the whole sequence at once",
    "bidirectional": "not causal: every token sees the whole sequence",
}
LIMITED = {  # what each limit is on
    "rms": "over a whole array (root mean square)",
    "token": "at its worst token (root mean square over the channels)",
    "element": "at its worst element",
}
ASIDES = {  # what is said of the checks that do not pass: of one, of several
    "fail": ("gives a wrong result", "give wrong results"),
    "error": ("gives no result", "give no result"),
    "limit": ("is wrong beyond the range that it declares", "are wrong beyond the range that it declares"),
    "known": ("fails as is known", "fail as is known"),
    "not run": ("was not reached", "were not reached"),
    "noted": ("measures a property", "measure a property"),
    "unsupported": ("lies outside of what it offers", "lie outside of what it offers"),
}


def render(run: Run, missing: Sequence[Unjudged] = ()) -> str:
    """The page of a run; ``missing``, of ``unjudged``, says what it could not judge."""
    whole = matrix(run)
    return template().render(
        run=run,
        matrix=whole,
        name=name(run),
        sentence=sentence(run),
        failures=failures(whole),
        unsupported=unsupported(run),
        unjudged=[one for one in missing if one.says_something],
        everything=Cell(run.results),
        nothing=Cell(()),
        kind_words={kind: first_line(check) for kind, check in CHECKS.items()},
        form_words={column.form: FORMS[column.form] for column in whole.columns},
        profile_words=profile_words(whole),
        reproduce=partial(reproduce, run),
    )


@lru_cache(maxsize=1)
def template() -> Template:
    environment = Environment(
        loader=PackageLoader("linattn_tools.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = percent
    environment.globals.update(marks=MARKS, statuses=STATUSES, limits=LIMITS, limit_words=LIMITED)
    return environment.get_template("report.html.j2")


def name(run: Run) -> str:
    """The backend and its version."""
    return " ".join(filter(None, (run.environment["title"], run.environment["version"])))


def sentence(run: Run) -> str:
    """The verdict in words."""
    counts, judged = run.counts, sum(run.counts[status] for status in JUDGED)
    if not judged:
        verdict = "could not be judged"
    elif counts["pass"] == judged:
        verdict = f"passes all {judged} checks that it could be given"
    else:
        verdict = f"passes {counts['pass']} of the {judged} checks that it could be given"
    asides = [counted(counts[status], *words) for status, words in ASIDES.items()]
    asides.append(counted(len(run.complaints), "known failure must be looked at", "known failures must be looked at"))
    return "; ".join([f"{name(run)} {verdict}", *filter(None, asides)]) + "."


def counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}" if count else ""


def profile_words(whole: Matrix) -> dict[str, str]:
    """The profiles of the matrix and what they promise; one of a backend's own has no words here."""
    names = dict.fromkeys(column.profile for column in whole.columns)
    return {name: PROFILES[name].doc for name in names if name in PROFILES}


def first_line(check: Callable[..., Any]) -> str:
    return (getdoc(check) or "").partition("\n")[0]
