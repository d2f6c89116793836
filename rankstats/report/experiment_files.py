"""The files of an experiment's folder, as texts."""

from __future__ import annotations

from rankstats.experiment import Readout
from rankstats.report.folder import json_text
from rankstats.report.html import render_html
from rankstats.report.markdown import render_markdown


def experiment_files(readout: Readout) -> dict[str, str]:
    """Return all files of a readout's folder by name, the page first.

    Returns
    -------
    dict of str to str
        ``report.html``, ``report.json`` and ``summary.md``.
    """
    report = readout.to_dict()
    return {
        "report.html": render_html(report),
        "report.json": json_text(report),
        "summary.md": render_markdown(report),
    }
