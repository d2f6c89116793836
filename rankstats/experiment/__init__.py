"""Experiments (A/B): rows, events or aggregates of units in arms to a readout with checks, effects and verdicts."""

from rankstats.experiment.aggregates import aggregates_text
from rankstats.experiment.lazy_units import explain_experiment
from rankstats.experiment.metrics import Metric, metric_from_text, parse_expression, with_roles
from rankstats.experiment.offline_online import Launch, agree_offline_online, offline_to_dict
from rankstats.experiment.reading import read_experiment
from rankstats.experiment.readout import read_out, read_out_evidence, read_out_summary
from rankstats.experiment.result import Readout
from rankstats.experiment.settings import ExperimentSettings, overridden, settings_from_plan
from rankstats.experiment.summarising import SummaryRequest
from rankstats.experiment.summary import ExperimentSummary, merge_summaries
from rankstats.experiment.summary_evidence import holds_summaries, settings_of_summary
from rankstats.experiment.summary_files import is_summary, read_summaries, read_summary, summary_bytes, summary_text
from rankstats.experiment.summary_reading import summarise_experiment

__all__ = [
    "ExperimentSettings",
    "Metric",
    "ExperimentSummary",
    "Launch",
    "Readout",
    "SummaryRequest",
    "aggregates_text",
    "agree_offline_online",
    "explain_experiment",
    "holds_summaries",
    "is_summary",
    "merge_summaries",
    "metric_from_text",
    "offline_to_dict",
    "overridden",
    "parse_expression",
    "read_experiment",
    "read_out",
    "read_out_evidence",
    "read_out_summary",
    "read_summaries",
    "read_summary",
    "settings_from_plan",
    "settings_of_summary",
    "summarise_experiment",
    "summary_bytes",
    "summary_text",
    "with_roles",
]
