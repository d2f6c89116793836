"""Comparison: evidence and plan in, every difference with its test, interval, family and verdict out.

Data flows through the modules in this order: `collecting` (inputs to evidence), `segments` and `pairs` (what is
compared), `columns` (differences with their tests), `differences` (rows and families), `heterogeneity`, `influence`,
`agreement`, `lists`, `checks` (warnings), `verdicts` (sentences), `comparing` (all of it), `result` (the outcome,
with the rows of `difference_rows` and `claim_rows`).
Agreement alone: `agreeing` (rankings), `order_agreement` (measures, segments), `judge_agreement` (judgments, raters).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankstats.comparison.agreeing import ListSettings, agree_on_rankings
    from rankstats.comparison.agreement_rows import AgreementAnswer, AgreementRow
    from rankstats.comparison.collecting import Progress, collect
    from rankstats.comparison.comparing import compare, compare_evidence
    from rankstats.comparison.evidence import Evidence
    from rankstats.comparison.judge_agreement import agree_on_judgments, agree_on_ratings
    from rankstats.comparison.order_agreement import OrderSettings, agree_on_scores
    from rankstats.comparison.result import Comparison
    from rankstats.comparison.segments import split_specifications

_HOMES = {
    "AgreementAnswer": "agreement_rows",
    "AgreementRow": "agreement_rows",
    "ListSettings": "agreeing",
    "OrderSettings": "order_agreement",
    "agree_on_judgments": "judge_agreement",
    "agree_on_rankings": "agreeing",
    "agree_on_ratings": "judge_agreement",
    "agree_on_scores": "order_agreement",
    "Comparison": "result",
    "Evidence": "evidence",
    "Progress": "collecting",
    "collect": "collecting",
    "compare": "comparing",
    "compare_evidence": "comparing",
    "split_specifications": "segments",
}

__all__ = [
    "AgreementAnswer",
    "AgreementRow",
    "ListSettings",
    "OrderSettings",
    "agree_on_judgments",
    "agree_on_rankings",
    "agree_on_ratings",
    "agree_on_scores",
    "Comparison",
    "Evidence",
    "Progress",
    "collect",
    "compare",
    "compare_evidence",
    "split_specifications",
]


def __getattr__(name: str) -> Any:
    # collecting needs no scipy: `rankstats evaluate` starts without it
    if name in _HOMES:
        return getattr(import_module(f"rankstats.comparison.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rankstats.comparison' has no attribute {name!r}")
