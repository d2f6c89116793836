"""Compares every number of a reference file with ours; what is not compared has to be named, with its reason.

A reference is nested dictionaries and lists. Its leaves are addressed by paths such as ``R/t_test/ci95/0``; patterns
are those of fnmatch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, TypeAlias

import numpy as np

Tolerance: TypeAlias = Callable[[float], float]
"""How far a number may be from a reference of the given value."""


def within(absolute: float = 0.0, relative: float = 0.0) -> Tolerance:
    return lambda reference: absolute + relative * abs(reference)


def drawn(*resamples: int) -> Tolerance:
    """Four and a half Monte Carlo standard errors of a p-value between samples of the given sizes."""
    return lambda p: 4.5 * math.sqrt(p * (1 - p) * sum(1 / size for size in resamples)) + 2 / min(resamples)


EXACT = within()


def leaves(tree: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of every leaf; arrays count as lists."""
    if isinstance(tree, np.ndarray):
        tree = tree.tolist()
    if isinstance(tree, Mapping):
        children = [(str(key), child) for key, child in tree.items()]
    elif isinstance(tree, list | tuple):
        children = [(str(place), child) for place, child in enumerate(tree)]
    else:
        yield at, tree.item() if isinstance(tree, np.generic) else tree
        return
    for key, child in children:
        yield from leaves(child, f"{at}/{key}" if at else key)


def disagreement(reference: Any, ours: Any, tolerance: Tolerance) -> str | None:
    """Return what is wrong with our value of a leaf; numbers that are no numbers come as text in the references."""
    if isinstance(reference, str) and reference.lower() in {"nan", "inf", "-inf"} and isinstance(ours, float):
        reference = float(reference)
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (reference, ours))
    if not numeric:
        same = type(reference) is type(ours) and reference == ours
    elif math.isfinite(reference) and math.isfinite(ours):
        same = abs(ours - reference) <= tolerance(reference)
    else:
        same = reference == ours or (math.isnan(reference) and math.isnan(ours))
    return None if same else f"{ours!r}, reference {reference!r}"


def _first(path: str, patterns: Mapping[str, Any]) -> Any:
    return next((value for pattern, value in patterns.items() if fnmatchcase(path, pattern)), None)


def assert_every_leaf(
    reference: Any, ours: Any, tolerances: Mapping[str, Tolerance], left_out: Mapping[str, str] | None = None
) -> None:
    """Fail unless each leaf of `reference` equals ours or, where we have no such number, is left out by name.

    Parameters
    ----------
    reference : nested dict and list
        What another program says.
    ours : nested dict, list and array
        The same layout, without what is left out.
    tolerances : dict
        Pattern of paths to tolerance; the first that fits counts.
    left_out : dict
        Pattern of paths to the reason why we have no such number.
    """
    __tracebackhide__ = True
    theirs, found, excused = dict(leaves(reference)), dict(leaves(ours)), left_out or {}
    problems = [f"{path}: no such leaf in the reference" for path in found.keys() - theirs.keys()]
    for path, value in theirs.items():
        if path in found:
            wrong = disagreement(value, found[path], _first(path, tolerances) or EXACT)
            problems += [f"{path}: {wrong}"] if wrong else []
        elif not _first(path, excused):
            problems.append(f"{path}: {value!r} is compared with nothing")
    problems += [
        f"{pattern}: leaves out nothing"
        for pattern in excused
        if not any(fnmatchcase(path, pattern) for path in theirs.keys() - found.keys())
    ]
    assert not problems, "\n".join(sorted(problems))
