"""The files of an experiment's folder, as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstats.experiment import Readout
from rankstats.report.folder import json_text
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown


def experiment_files(readout: Readout, *, offline: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Return all files of a readout's folder by name, the page first.

    Parameters
    ----------
    readout : Readout
        The experiment.
    offline : mapping, optional
        What stands beside it of a comparison: `rankstats.experiment.offline_online.offline_to_dict`.

    Returns
    -------
    dict of str to str
        ``report.html``, ``report.json`` and ``summary.md``.
    """
    report = readout.to_dict()
    if offline is not None:
        report["offline"] = dict(offline)
    return {
        "report.html": render_html(report),
        "report.json": json_text(report),
        "summary.md": render_markdown(report),
    }
