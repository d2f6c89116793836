"""Rows of an experiment in an engine's own frames, to be added up where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw

from rankstats.tables.engines.adapters import Engine, engine_of

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

ARM_OF_FRAME = "__arm_of_frame"


@dataclass(frozen=True, slots=True)
class LazyRows:
    """Rows that an engine holds.

    Attributes
    ----------
    engine : Engine
        Who holds them.
    frame : LazyFrame
        The rows.
    columns : mapping of str to str
        DuckDB's names of the types: VARCHAR, BIGINT, DOUBLE, BOOLEAN, or OTHER.
    by_arm : bool
        Whether there was a frame for each arm, whose name stands in `arm_column`.
    """

    engine: Engine = field(default_factory=lambda: Engine(None))
    frame: Any = None
    columns: dict[str, str] = field(default_factory=dict)
    by_arm: bool = False
    arm_column: str = ARM_OF_FRAME

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers or truth values."""
        return self.columns[column] in ("BIGINT", "DOUBLE", "BOOLEAN")

    def is_text(self, column: str) -> bool:
        """Whether a column holds what every engine writes as the same text."""
        return self.columns[column] in ("VARCHAR", "BIGINT", "BOOLEAN")

    def selected(
        self, unit: str, arm: str, numbers: Sequence[str], fixed: tuple[Sequence[str], Sequence[str]]
    ) -> Frame:
        """Return the rows as `unit_steps` wants them: u, a, x0 …, f0 … and c0 …."""
        texts, covariates = fixed
        cells = {"u": self._text(unit), "a": self._text(arm)}
        cells |= {f"x{place}": self._number(column) for place, column in enumerate(numbers)}
        cells |= {f"f{place}": self._text(column) for place, column in enumerate(texts)}
        cells |= {f"c{place}": self._number(column) for place, column in enumerate(covariates)}
        selected: Frame = self.frame.select(**cells)
        return selected

    def _text(self, column: str) -> Any:

        text = nw.col(column).cast(nw.String)
        if self.columns.get(column, "VARCHAR") == "VARCHAR":
            text = text.str.strip_chars(" ")
        return nw.when(text != "").then(text)

    def _number(self, column: str) -> Any:

        cell: Any = nw.col(column)
        if self.columns[column] == "BOOLEAN":
            cell = cell.cast(nw.Int64)
        number = cell.cast(nw.Float64)
        return nw.when(~number.is_nan()).then(number) if self.columns[column] == "DOUBLE" else number


def lazy_rows(data: Any) -> LazyRows | None:
    """Return rows in an engine's frame, or in one for every arm; None for everything else.

    Examples
    --------
    >>> import polars
    >>> lazy_rows({arm: polars.LazyFrame({"user": [1], "paid": [0.5]}) for arm in "AB"}).columns
    {'user': 'BIGINT', 'paid': 'DOUBLE'}
    """
    if isinstance(data, Mapping) and data:
        return _by_arm({str(arm): _lazy(frame) for arm, frame in data.items()})
    frame = _lazy(data)
    engine = None if frame is None else engine_of(frame)
    if frame is None or engine is None:
        return None
    columns = {name: _kind(kind) for name, kind in frame.collect_schema().items()}
    return LazyRows(engine, frame, columns)


def _by_arm(frames: Mapping[str, Any]) -> LazyRows | None:

    kinds = {None if frame is None else frame.implementation for frame in frames.values()}
    if None in kinds or len(kinds) != 1:
        return None
    first = next(iter(frames.values()))
    schema = first.collect_schema()
    if any(frame.collect_schema() != schema for frame in frames.values()):
        return None
    engine = engine_of(first)
    if engine is None:
        return None
    named = [
        frame.select(*schema.names()).with_columns(nw.lit(arm).alias(ARM_OF_FRAME)) for arm, frame in frames.items()
    ]
    return LazyRows(engine, nw.concat(named), {name: _kind(kind) for name, kind in schema.items()}, by_arm=True)


def _lazy(data: Any) -> Any:
    """Return a lazy frame, or None."""
    if data is None or isinstance(data, str | bytes | Path | Mapping | Sequence):
        return None

    try:
        frame: Any = nw.from_native(data, pass_through=True)
    except (nw.exceptions.NarwhalsError, TypeError, ValueError):  # what reads it into memory says why
        return None
    return frame if isinstance(frame, nw.LazyFrame) else None


def _kind(kind: Any) -> str:
    if kind == nw.Boolean:
        return "BOOLEAN"
    if kind.is_integer():
        return "BIGINT"
    if kind.is_numeric():
        return "DOUBLE"
    return "VARCHAR" if kind in (nw.String, nw.Categorical, nw.Enum) else "OTHER"
