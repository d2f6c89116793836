"""The files of an interleaving log's folder, as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankstats.interleaving import InterleavingReadout
from rankstats.report.folder import json_text, rendered_files


def interleaving_files(readout: InterleavingReadout) -> dict[str, str]:
    """Return all files of a readout's folder by name, the page first.

    Returns
    -------
    dict of str to str
        ``report.html``, ``report.json``, ``summary.md``, ``pairs.csv`` and, with segments, ``segments.csv``.
    """
    report: Mapping[str, Any] = readout.to_dict()
    files = rendered_files(report)
    return {"report.html": files.pop("report.html"), "report.json": json_text(report), **files}
