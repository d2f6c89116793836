"""Units that stay in Spark, for sums that are asked for in the SQL of the embedded engine."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

from rankstats.tables.engines.adapters import SparkEngine

_TEXT = re.compile(r"'((?:[^']|'')*)'")


class SparkUnits:
    """Units in Spark, asked in the SQL of the embedded engine."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self._view = f"rankstats_units_{uuid4().hex}"
        frame.createOrReplaceTempView(self._view)

    def sql(self, sql: str) -> Any:
        """Return the frame of a query."""
        # quotes in a text are doubled there and escaped here; sums of BIGINT overflow here
        translated = _TEXT.sub(lambda found: _escaped(found[1].replace("''", "'")), sql)
        for kind, own in (("BIGINT", "DECIMAL(20,0)"), ("HUGEINT", "DECIMAL(38,0)")):
            translated = translated.replace(f" AS {kind})", f" AS {own})")
        return self.frame.sparkSession.sql(translated.replace("FROM units ", f"FROM {self._view} "))

    def rows(self, sql: str, name: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        engine = SparkEngine(self.frame)
        try:
            return [tuple(row) for row in self.sql(sql).collect()]
        except engine.errors() as error:
            raise engine.fault(error, name) from None

    def drop(self) -> None:
        """Forget the units."""
        self.frame.sparkSession.catalog.dropTempView(self._view)
        self.frame.unpersist()


def _escaped(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
