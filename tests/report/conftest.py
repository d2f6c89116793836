"""Fixtures of the report's tests."""

from __future__ import annotations

import pytest


@pytest.fixture
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the figures out of the page: tests of its texts need not wait for matplotlib."""
    monkeypatch.setattr("rankstats.report.figures.figure_svg", lambda _: '<svg role="img"></svg>')
