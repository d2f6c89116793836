"""Rows of an experiment, or of a part of its units, to a summary that merges; nothing is compared."""

from __future__ import annotations

from typing import Any

from rankstats.experiment.reading import read_units
from rankstats.experiment.settings import ExperimentSettings
from rankstats.experiment.summarising import SummaryRequest
from rankstats.experiment.summary import ExperimentSummary
from rankstats.experiment.summary_evidence import holds_summaries
from rankstats.experiment.summary_files import read_summaries
from rankstats.tables.engines.choice import EngineChoice


def summarise_experiment(
    settings: ExperimentSettings,
    *,
    rows: Any = None,
    assignments: Any = None,
    resamples: int = 0,
    seed: int = 0,
    room: EngineChoice | None = None,
) -> ExperimentSummary:
    """Add up an experiment, or a part of its units, without comparing anything.

    Parameters
    ----------
    settings : ExperimentSettings
        What is asked of the whole experiment; it goes into the summary. Of summaries, it merges them.
    rows, assignments
        As in `read_experiment`. An arm may be empty.
    resamples, seed : int
        Poisson resamples of the units to keep, and their seed.
    room : EngineChoice, optional
        Memory that is not to be exceeded, and the folder for what does not fit.

    Returns
    -------
    ExperimentSummary
        Parts of disjoint units add up: `merge_summaries`, and `read_out_summary` for the readout.

    Raises
    ------
    InputError
        If something cannot be read.
    PlanError
        If settings and data do not fit together, or something is asked for that does not follow from sums.

    Examples
    --------
    >>> from rankstats.experiment import merge_summaries, metric_from_text, with_roles
    >>> asked = ExperimentSettings(metrics=with_roles((metric_from_text("mean(paid)"),), frozenset()), unit="user")
    >>> rows = [{"user": str(i), "arm": "AB"[i % 2], "paid": i % 3} for i in range(60)]
    >>> days = [summarise_experiment(asked, rows=part) for part in (rows[:20], rows[20:])]
    >>> merge_summaries(days).cells == merge_summaries(days[::-1]).cells == summarise_experiment(asked, rows=rows).cells
    True
    """
    if rows is None and holds_summaries(settings):
        return read_summaries([path for _, path in settings.rows])
    return read_units(settings, rows, assignments, SummaryRequest(resamples, seed), room)
