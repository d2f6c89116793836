"""Comparison: evidence and plan in, every difference with its test, interval, family and verdict out.

Data flows through the modules in this order: `collecting` (inputs to evidence), `segments` and `pairs` (what is
compared), `columns` (differences with their tests), `differences` (rows and families), `heterogeneity`, `influence`,
`agreement`, `lists`, `checks` (warnings), `verdicts` (sentences), `comparing` (all of it), `result` (the rows).
"""

from rankstats.comparison.collecting import Progress, collect
from rankstats.comparison.comparing import compare, compare_evidence
from rankstats.comparison.evidence import Evidence
from rankstats.comparison.result import Comparison
from rankstats.comparison.segments import split_specifications

__all__ = [
    "Comparison",
    "Evidence",
    "Progress",
    "collect",
    "compare",
    "compare_evidence",
    "split_specifications",
]
