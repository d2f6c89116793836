"""Aggregates of an experiment as a file that reads back: what leaves a warehouse instead of the rows."""

from __future__ import annotations

import csv
import io
import math

from rankstats.experiment.aggregates import MEAN_COLUMNS, RATIO_COLUMNS
from rankstats.experiment.evidence import Evidence, MetricEvidence

COLUMNS = ("arm", "metric", "n", *MEAN_COLUMNS, *RATIO_COLUMNS, "units")


def aggregates_text(evidence: Evidence) -> str:
    """Return the aggregates of all metrics that have them as CSV, one row an arm and metric, numbers exact.

    Quantiles cannot be had from aggregates and are left out; covariates are not kept, so that effects read from the
    file are unadjusted.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for metric in evidence.metrics:
        for place, arm in enumerate(evidence.arms):
            if metric.arms:
                writer.writerow([arm, metric.metric.name, *_numbers(metric, place), evidence.units[place]])
    return out.getvalue()


def _numbers(metric: MetricEvidence, arm: int) -> list[str]:
    moments = metric.arms[arm].select([0])
    mean, spread = moments.mean[0], moments.covariance[0]
    if metric.is_ratio:
        parts = [mean[0], spread[0, 0], mean[1], spread[1, 1], spread[0, 1]]
        return [str(int(moments.n[0])), "", "", *map(_text, parts)]
    return [str(int(moments.n[0])), _text(mean[0]), _text(spread[0, 0]), *[""] * len(RATIO_COLUMNS)]


def _text(value: float) -> str:
    return "" if math.isnan(value) else repr(float(value))
