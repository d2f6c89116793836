"""Planning: how many queries or users a wanted difference takes, and what those at hand can show."""

from rankstats.planning.queries import PlannedDifference, Simulated, Terms, family_size, plan_deviation, plan_report
from rankstats.planning.users import (
    MEAN,
    SHARE,
    PlannedEffect,
    PlannedMetric,
    Traffic,
    metrics_of_report,
    plan_effect,
    with_correlation,
)

__all__ = [
    "MEAN",
    "SHARE",
    "PlannedDifference",
    "PlannedEffect",
    "PlannedMetric",
    "Simulated",
    "Terms",
    "Traffic",
    "family_size",
    "metrics_of_report",
    "plan_deviation",
    "plan_effect",
    "plan_report",
    "with_correlation",
]
