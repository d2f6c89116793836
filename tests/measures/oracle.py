"""Measures straight from their definitions, for one query at a time, in plain Python: every one that is known."""

from __future__ import annotations

from collections.abc import Mapping

from tests.measures.oracle_basic import BASIC, Formula, Value
from tests.measures.oracle_graded import GRADED
from tests.measures.oracle_lists import LISTS
from tests.measures.oracle_models import MODELS

__all__ = ["FORMULAS", "Value"]

FORMULAS: Mapping[str, Formula] = {**BASIC, **GRADED, **MODELS, **LISTS}
