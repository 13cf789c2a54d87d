"""The script of ``linattn repro``: it shows what is wrong with an implementation, for those who do not have linattn."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linattn_spec import frameworks
from linattn_spec.backend import Function, Unsupported
from linattn_spec.exchange import groups
from linattn_spec.laws.gradients import LOSSES
from linattn_spec.results import Check, Result
from linattn_spec.subject import Subject


@dataclass(frozen=True)
class Framework:
    """How a script writes what a framework does."""

    imports: str
    array: str  # of an array {} of NumPy
    bfloat16: str  # of a float32 array {}: NumPy has no such dtype
    numbers: str  # of a result x: float64 of NumPy


PLAIN = "np.asarray(x, dtype=float)"
FRAMEWORKS = {
    "numpy": Framework("import ml_dtypes\n", "{}", "{}.astype(ml_dtypes.bfloat16)", PLAIN),
    "torch": Framework(
        "import torch\n", "torch.tensor({})", "torch.tensor({}).bfloat16()", "x.detach().cpu().double().numpy()"
    ),
    "jax": Framework("import jax.numpy as jnp\n", "jnp.asarray({})", "jnp.asarray({}, dtype=jnp.bfloat16)", PLAIN),
    "mlx": Framework(
        "import mlx.core as mx\n",
        "mx.array({})",
        "mx.array({}).astype(mx.bfloat16)",
        "np.asarray(x.astype(mx.float32), dtype=float)",
    ),
}

SCRIPT = '''\
"""{id}"""
{reason}from pathlib import Path

import numpy as np
{imports}
file = np.load(Path(__file__).with_suffix(".npz"))
arguments = {{
{arguments}
}}

{code}

def numbers(x):
    return {numbers}


states = state if isinstance(state, (tuple, list)) else (state,)
for name, x in zip({names}, (output, *states)):
    if x is not None:
        got, want = numbers(x), file[f"want/{{name}}"]
        error, size = np.abs(got - want).max(), np.abs(want).max()
        print(f"{{name}}: {{x.dtype}} {{got.shape}}, largest error {{error:.3g}} where values are up to {{size:.3g}}")
'''


def write(subject: Subject, result: Result, script: Path, backend: str) -> str:
    """Write the script and, beside it, its arrays; return its text."""
    arrays = dict(wanted(subject))
    names = [name.removeprefix("want/") for name in arrays]
    framework = subject.exchange.backend.array
    arguments = subject.exchange.arguments(subject.data.inputs, subject.state)
    listed = "\n".join(f'    "{name}": {expression(name, x, framework, arrays)},' for name, x in arguments.items())
    text = SCRIPT.format(
        id=result.check.id,
        reason="".join(f"# {line}\n" for line in (*result.reason.splitlines(), *note(result.check))),
        imports=FRAMEWORKS[framework].imports if framework != "numpy" or "ml_dtypes" in listed else "",
        arguments=listed,
        code=subject.exchange.function.snippet or calling(subject.exchange.function, backend),
        numbers=FRAMEWORKS[framework].numbers,
        names=names,
    )
    script.parent.mkdir(parents=True, exist_ok=True)
    np.savez(script.with_suffix(".npz"), **arrays)  # type: ignore[arg-type]
    script.write_text(text, encoding="utf-8")
    return text


def note(check: Check) -> list[str]:
    if check.kind in LOSSES:
        return ["The check runs the backward pass; this is the forward call that it belongs to."]
    return [] if check.kind == "golden" else ["The law compares several calls; this is the one of the whole sequence."]


def wanted(subject: Subject) -> Iterator[tuple[str, np.ndarray]]:
    """The right results, laid out as the implementation should return them; none where float64 itself is judged."""
    exchange, axes = subject.exchange, {f"final_state/{item.name}": item.axes for item in subject.variant.state}
    try:
        values = subject.truth.values
    except Unsupported:
        return
    for name, x in values.items():
        x = exchange.reordered(x, groups(subject.variant, subject.data.inputs))
        if name in axes:
            x = exchange.turned(x, axes[name])
        elif exchange.function.conventions.layout == "BTHD":
            x = np.swapaxes(x, 1, 2)
        yield f"want/{name}", x


def expression(name: str, value: Any, framework: str, arrays: dict[str, np.ndarray]) -> str:
    """How the script makes an argument; the arrays that it needs are added to ``arrays``."""
    if value is None or isinstance(value, float):
        return repr(value)
    if isinstance(value, tuple):
        return f"({', '.join(expression(f'{name}/{n}', x, framework, arrays) for n, x in enumerate(value))})"
    typed = frameworks.from_array(framework, value)
    narrow = typed.dtype == "bfloat16"
    arrays[name] = typed.values.astype("float32" if narrow else typed.dtype)
    template = FRAMEWORKS[framework].bfloat16 if narrow else FRAMEWORKS[framework].array
    return template.format(f'file["{name}"]')


def calling(function: Function, backend: str) -> str:
    """Code that computes ``output`` and ``state`` by the adapter, without the suite where that is possible."""
    name, source = own_source(function.call) or (
        "call",
        f"from linattn_spec import load  # the adapter is no plain function of its file\n\n"
        f"call = load({backend!r}).function({function.variant!r}, {function.column!r}).call",
    )
    return f"""{source}


returned = {name}(**arguments)
output, state = returned if isinstance(returned, tuple) and len(returned) == 2 else (returned, None)
"""


def own_source(call: Any) -> tuple[str, str] | None:
    """The name of the adapter, and its code with what it uses of its file; None where it is no plain function there."""
    if not inspect.isfunction(call):
        return None
    text = Path(inspect.getfile(call)).read_text(encoding="utf-8")
    statements = ast.parse(text).body
    own = next(
        (s for s in statements if isinstance(s, ast.FunctionDef) and start(s) == call.__code__.co_firstlineno), None
    )
    if own is None:
        return None
    own.decorator_list = []
    needed: list[ast.stmt] = [own]
    for found in needed:  # it grows
        needed += [s for s in statements if s not in needed and used(found) & bound(s)]
    if any(isinstance(s, ast.ImportFrom) and s.level for s in needed):
        return None
    lines = text.split("\n")
    pieces = ["\n".join(lines[start(s) - 1 : s.end_lineno]) for s in statements if s in needed]
    return own.name, "\n\n".join(piece for piece in pieces if piece != "import numpy as np")


def start(statement: ast.stmt) -> int:
    """The number of the first line, that of a decorator where there is one."""
    return min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])


def used(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a file gives; the suite's (``Unsupported``) are not needed in a script."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("linattn_spec"):
        return set()
    nodes = list(ast.walk(statement))
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return stored | {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
