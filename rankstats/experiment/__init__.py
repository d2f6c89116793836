"""Experiments (A/B): rows, events or aggregates of units in arms to a readout with checks, effects and verdicts."""

from rankstats.experiment.metrics import Metric, metric_from_text, parse_expression, with_roles
from rankstats.experiment.reading import read_experiment
from rankstats.experiment.readout import read_out, read_out_evidence
from rankstats.experiment.result import Readout
from rankstats.experiment.settings import ExperimentSettings, overridden, settings_from_plan
from rankstats.experiment.summary import aggregates_text

__all__ = [
    "ExperimentSettings",
    "Metric",
    "Readout",
    "aggregates_text",
    "metric_from_text",
    "overridden",
    "parse_expression",
    "read_experiment",
    "read_out",
    "read_out_evidence",
    "settings_from_plan",
    "with_roles",
]
