"""Running checks in worker processes that can be killed: a hang, an exit or an abort of a backend costs one check."""

import math
import multiprocessing
import os
import platform
import sys
import time
from collections.abc import Iterator
from concurrent.futures import TimeoutError
from contextlib import contextmanager
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import linattn_golden
from linattn_spec import running
from linattn_spec.backend import Backend
from linattn_spec.loading import load
from linattn_spec.results import Check, Result

TIMEOUT = 120.0  # seconds for one check
TASKS = 500  # of a process before another takes over: what was compiled for every shape fills its memory map
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@lru_cache(maxsize=1)
def backend_of(name: str) -> Backend:
    """The backend of a worker, loaded once."""
    return load(name)


def work(name: str, check_id: str, deadline: float) -> Result:
    """One check, in a worker."""
    return in_time(backend_of(name), Check.parse(check_id), deadline)


def in_time(backend: Backend, check: Check, deadline: float) -> Result:
    """The result, or none after the deadline. A check that has begun is finished."""
    from linattn_spec.checks import run_check

    return run_check(backend, check) if time.time() < deadline else Result(check, "not run", "the budget was over")


def run(
    name: str,
    checks: list[Check],
    timeout: float = TIMEOUT,
    workers: int | None = None,
    deadline: float = math.inf,
) -> Iterator[Result]:
    """The result of every check, in the order in which they are planned. ``deadline`` is a ``time.time()``, the clock
    that all processes share.
    """
    from pebble import ProcessExpired, ProcessPool

    context: Any = multiprocessing.get_context("spawn")
    size = workers or os.cpu_count() or 1
    with one_thread(), ProcessPool(max_workers=size, max_tasks=TASKS, context=context) as pool:
        try:
            futures = [pool.schedule(work, args=[name, check.id, deadline], timeout=timeout) for check in checks]
            for check, future in zip(checks, futures, strict=True):
                try:
                    yield future.result()
                except TimeoutError:
                    yield Result(check, "error", f"no answer within {timeout:g} s{running.noted(check)}")
                except ProcessExpired as expired:
                    yield Result(
                        check, "error", f"the process ended with exit code {expired.exitcode}{running.noted(check)}"
                    )
                except Exception as failure:  # a backend that loads here may not load in a worker
                    yield Result(check, "error", f"{type(failure).__name__}: {failure}")
        finally:
            pool.stop()


@contextmanager
def one_thread() -> Iterator[None]:
    """All cores are taken by workers: their libraries get one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def environment(name: str, backend: Backend) -> dict[str, Any]:
    """What a reader of a report needs to know of the machine and the versions."""
    return {
        "backend": name,
        "title": backend.name,
        "version": backend.version,
        "spec_version": linattn_golden.manifest()["spec_version"],
        "linattn": installed("linattn"),
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "machine": platform.machine(),
    }


def installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
