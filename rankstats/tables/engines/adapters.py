"""What differs between engines: how a table goes in, how rows come out, how a plan is shown, what can go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from rankstats.errors import InputError
from rankstats.tables.engines.steps import bucket_of

if TYPE_CHECKING:
    from rankstats.tables.engines.steps import Frame

_BROADCAST_BYTES = 1 << 28
"""Tables of judgments up to this size are sent to every worker of Spark, so that a join moves no rows."""


class Engine:
    """An engine that holds rows, seen through a frame of it.

    Parameters
    ----------
    native : object
        A frame of the engine.

    Attributes
    ----------
    name : str
        What messages call it.
    rows_at_once : int or None
        Rows that one step sorts at most, by splitting the queries into buckets; None where the engine splits them
        itself.
    """

    name = ""
    rows_at_once: int | None = None

    def __init__(self, native: Any) -> None:
        self.native = native

    def put(self, table: pa.Table) -> Frame:
        """Return a table of ours as a frame of the engine."""
        raise NotImplementedError

    def explain(self, frame: Frame) -> str:
        """Return the engine's plan for a frame."""
        raise NotImplementedError

    def errors(self) -> tuple[type[BaseException], ...]:
        """Return what the engine raises when data or resources fail it."""
        raise NotImplementedError

    def collect(self, frame: Frame, what: str) -> pa.Table:
        """Run a step and return its rows.

        Raises
        ------
        InputError
            In the engine's words, if it fails.
        """
        try:
            return self._collected(frame)
        except self.errors() as error:
            raise self.fault(error, what) from None

    def _collected(self, frame: Frame) -> pa.Table:
        table: pa.Table = frame.collect("pyarrow").to_native()
        return table

    def batches(self, frame: Frame, what: str) -> pa.RecordBatchReader:
        """Run a step and return its rows piece by piece, where the engine can; errors as `collect`."""
        return self.collect(frame, what).to_reader()

    def fault(self, error: BaseException, what: str) -> InputError:
        """Return the error for a failure of the engine."""
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        return InputError(f"{self.name} failed: {said[:400]}", what)

    def in_buckets(self, rows: Frame, buckets: int, what: str) -> list[Frame]:
        """Return the rows of each bucket of queries; `what` is named in errors."""
        return [bucket_of(rows, bucket, buckets) for bucket in range(buckets)]


class PolarsEngine(Engine):
    """Polars, a LazyFrame."""

    name = "Polars"
    rows_at_once = 20_000_000

    def put(self, table: pa.Table) -> Frame:
        """Return a table of ours as a frame of the engine."""
        import polars as pl  # noqa: PLC0415  only where a frame of it was handed in

        frame: Any = pl.from_arrow(table)
        return lazy_frame(frame.lazy())

    def explain(self, frame: Frame) -> str:
        """Return the engine's plan for a frame."""
        return str(frame.to_native().explain())

    def errors(self) -> tuple[type[BaseException], ...]:
        """Return what the engine raises when data or resources fail it."""
        import polars as pl  # noqa: PLC0415  as above

        return (pl.exceptions.PolarsError, OSError)


class DuckDBEngine(Engine):
    """DuckDB, a relation of any connection."""

    name = "DuckDB"
    rows_at_once = 200_000_000

    def put(self, table: pa.Table) -> Frame:
        """Return a table of ours as a frame of the engine."""
        judged = table  # the query finds it by its name, in the connection of the relation
        return lazy_frame(self.native.query("given", f"SELECT {', '.join(judged.column_names)} FROM judged"))

    def explain(self, frame: Frame) -> str:
        """Return the engine's plan for a frame."""
        return str(frame.to_native().explain())

    def collect(self, frame: Frame, what: str) -> pa.Table:
        """Run a step and return its rows; DuckDB's own word for an interrupt becomes Python's."""
        try:
            return super().collect(frame, what)
        except RuntimeError as error:
            if "interrupted" in str(error).casefold():
                raise KeyboardInterrupt from None
            raise

    def batches(self, frame: Frame, what: str) -> pa.RecordBatchReader:
        """Run a step and return its rows piece by piece."""
        native: Any = frame.to_native()
        try:
            return pa.RecordBatchReader.from_stream(native)
        except self.errors() as error:
            raise self.fault(error, what) from None

    def _collected(self, frame: Frame) -> pa.Table:
        native: Any = frame.to_native()
        table: pa.Table = native.to_arrow_table()
        return table

    def errors(self) -> tuple[type[BaseException], ...]:
        """Return what the engine raises when data or resources fail it."""
        import duckdb  # noqa: PLC0415  only where a relation was handed in

        return (duckdb.Error,)


class SparkEngine(Engine):
    """Spark, a DataFrame of a classic session or of Spark Connect; its own shuffle splits the queries."""

    name = "Spark"

    def put(self, table: pa.Table) -> Frame:
        """Return a table of ours as a frame of the engine."""
        frame: Any = self.native.sparkSession.createDataFrame(table)
        return lazy_frame(frame.hint("broadcast") if table.nbytes <= _BROADCAST_BYTES else frame)

    def explain(self, frame: Frame) -> str:
        """Return the engine's plan for a frame."""
        native: Any = frame.to_native()
        if hasattr(native, "_jdf"):
            return str(native._jdf.queryExecution().executedPlan().toString())
        return str(native._explain_string())

    def errors(self) -> tuple[type[BaseException], ...]:
        """Return what the engine raises when data or resources fail it."""
        from py4j.protocol import Py4JError  # noqa: PLC0415  only where a frame of it was handed in
        from pyspark.errors import PySparkException  # noqa: PLC0415  as above

        return (PySparkException, Py4JError)


class IbisEngine(Engine):
    """Ibis, a table of any of its backends."""

    name = "Ibis"

    def put(self, table: pa.Table) -> Frame:
        """Return a table of ours as a frame of the engine."""
        import ibis  # noqa: PLC0415  only where a table of it was handed in

        return lazy_frame(ibis.memtable(table))

    def explain(self, frame: Frame) -> str:
        """Return the statement that goes to the backend."""
        import ibis  # noqa: PLC0415  as above

        return str(ibis.to_sql(frame.to_native()))

    def errors(self) -> tuple[type[BaseException], ...]:
        """Return every error: each backend has its own."""
        return (Exception,)


def lazy_frame(native: Any) -> Frame:
    """Return a frame of an engine as narwhals sees it."""
    frame: Frame = nw.from_native(native)
    return frame


_ENGINES: dict[str, type[Engine]] = {
    "POLARS": PolarsEngine,
    "DUCKDB": DuckDBEngine,
    "PYSPARK": SparkEngine,
    "PYSPARK_CONNECT": SparkEngine,
    "IBIS": IbisEngine,
}


def engine_of(frame: Frame) -> Engine | None:
    """Return the engine of a frame, or None where it is none that serves the heavy steps.

    Examples
    --------
    >>> import polars
    >>> engine_of(nw.from_native(polars.LazyFrame({"score": [0.5]}))).name
    'Polars'
    """
    kind = _ENGINES.get(frame.implementation.name)
    return None if kind is None else kind(frame.to_native())
