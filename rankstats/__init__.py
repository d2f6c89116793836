"""Launch or not? Compare rankers query by query, test the differences honestly, render one report."""

from __future__ import annotations

__version__ = "0.1.0"
