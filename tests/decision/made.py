"""Made reports for tests of decisions: values in, the content of a report.json out."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankstats.comparison import compare_evidence
from rankstats.plan import Plan
from tests.comparison.made import evidence_of

Content = dict[str, Any]


def report_of(values: ArrayLike, *, plan: Plan | None = None, **made: Any) -> Content:
    """Return the content of report.json, through JSON, for values of shape (queries, systems[, measures])."""
    settings = {"systems": ["prod", "new"], "measures": ["AP"]} | made
    comparison = compare_evidence(evidence_of(values, **settings), plan or Plan(resamples=999))
    content: Content = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    return content


def pair(difference: ArrayLike, *, level: float = 0.5, seed: int = 0) -> np.ndarray:
    """Return values of prod and new, shape (queries, 2), that differ by `difference` and vary between queries."""
    change = np.asarray(difference, dtype=float)
    base = level + np.random.default_rng(seed).uniform(-0.2, 0.2, len(change))
    return np.stack([base, base + change], axis=1)


def noise(n: int, mean: float, sd: float, seed: int = 1) -> np.ndarray:
    """Return n differences whose mean and standard deviation are exactly those asked for."""
    drawn = np.random.default_rng(seed).normal(size=n)
    drawn -= drawn.mean()
    return mean + sd * drawn / drawn.std(ddof=1)


def policy_of(**rules: Any) -> Content:
    """Return a policy document of prod and new."""
    return {"baseline": "prod", "candidate": "new", **rules}


def claim(more_than: float = 0.0, **more: Any) -> Content:
    return {"id": "claim", "measure": "AP", "more_than": more_than, **more}


def guard(margin: float = 0.02, **more: Any) -> Content:
    return {"id": "guard", "measure": "AP", "margin": margin, **more}


def shuffled(report: Content, seed: int = 3) -> Content:
    """Return the report with queries, systems and measures in another order."""
    rng = np.random.default_rng(seed)
    content = copy.deepcopy(report)
    order = rng.permutation(len(content["queries"])).tolist()
    content["queries"] = [content["queries"][q] for q in order]
    content["values"] = {
        system: {name: [column[q] for q in order] for name, column in reversed(list(columns.items()))}
        for system, columns in reversed(list(content["values"].items()))
    }
    for name in ("systems", "measures", "differences"):
        content[name] = _reordered(content[name], rng)
    return content


def _reordered(rows: Sequence[Mapping[str, Any]], rng: np.random.Generator) -> list[Mapping[str, Any]]:
    return [rows[k] for k in rng.permutation(len(rows)).tolist()]
