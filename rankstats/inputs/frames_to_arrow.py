"""Frames of any library (pandas, Polars, Arrow, DuckDB) as an Arrow table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rankstats.errors import InputError


def arrow_table(data: Any, name: str) -> pa.Table | None:
    """Return a frame as an Arrow table, or None where the data are no frame.

    Parameters
    ----------
    data : object
        Anything; frames that narwhals knows are taken.
    name : str
        What the data are, for errors.

    Raises
    ------
    InputError
        If a frame cannot be turned into Arrow, or two columns have one name.
    """
    import narwhals as nw  # noqa: PLC0415  files need it not

    try:
        frame: Any = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect("pyarrow")
        if not isinstance(frame, nw.DataFrame):
            return None
        names = [str(column) for column in frame.columns]
        table = frame.to_arrow()
    except (nw.exceptions.NarwhalsError, pa.ArrowException, TypeError, ValueError) as error:
        raise InputError(f"cannot be read as a frame ({' '.join(str(error).split())})", name) from None
    for column in names:
        if names.count(column) > 1:
            raise InputError(f"two columns are named {column!r}; rename one", name)
    # pandas puts an index that is more than the place of a row behind the columns
    return table.select(list(range(len(names)))).rename_columns(names)
