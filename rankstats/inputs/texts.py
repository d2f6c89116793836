"""Python texts and ids to Arrow arrays, without loading pandas, and ids to text by one rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankstats.errors import InputError
from rankstats.inputs.quoting import quoted
from rankstats.tables.arrow_arrays import arrow_of, values_of

LARGEST_WHOLE = 2**53
"""Beyond it, float64 has lost digits of whole numbers, so that ids may have fallen together."""
_MOST_BYTES = 2**31 - 1


def arrow_texts(texts: Iterable[str]) -> pa.Array[Any]:
    """Return texts as an Arrow array.

    Raises
    ------
    UnicodeEncodeError
        If a text holds half a surrogate pair.
    InputError
        If the texts have 2 GiB or more in all.

    Examples
    --------
    >>> arrow_texts(["a", "", "é"]).to_pylist()
    ['a', '', 'é']
    """
    stored = [text.encode() for text in texts]
    offsets = np.zeros(len(stored) + 1, np.int64)
    np.cumsum(list(map(len, stored)), out=offsets[1:])
    if offsets[-1] > _MOST_BYTES:
        raise InputError("the ids have more than 2 GiB in all; give fewer documents at a time")
    buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(b"".join(stored))]
    return pa.Array.from_buffers(pa.string(), len(stored), buffers)


def is_missing(value: Any) -> bool:
    """Return whether a value stands for nothing: None, NaN, pandas' NA and NaT.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), 0, "")]
    [True, True, False, False]
    """
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124  NaN alone differs from itself
    except (TypeError, ValueError):  # pandas' NA has no truth value; an array has several
        return type(value).__name__ == "NAType"


def id_text(value: Any) -> str | None:
    """Return an id as text without white space at its ends, or None for what is no id.

    Text stays, whole numbers become their digits (also those held as float64, while it holds them exactly), bytes are
    UTF-8.

    Examples
    --------
    >>> [id_text(value) for value in ("007", 7, 7.0, b"d1", 0.5, True, 1e16, None, " ")]
    ['007', '7', '7', 'd1', None, None, None, None, None]
    """
    text: str | None = None
    if isinstance(value, str):
        text = str(value)
    elif isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return None
    elif isinstance(value, bool | np.bool_):
        return None
    elif isinstance(value, int | np.integer):
        text = str(int(value))
    elif isinstance(value, float | np.floating):
        number = float(value)
        text = str(int(number)) if abs(number) < LARGEST_WHOLE and number.is_integer() else None
    elif type(value).__name__ == "UUID":
        text = str(value)
    return text.strip() or None if text is not None else None


def id_texts(values: Sequence[Any]) -> list[str | None]:
    """Return ids as text, None for each that is no id.

    Examples
    --------
    >>> id_texts(["d1", 2, None])
    ['d1', '2', None]
    """
    if set(map(type, values)) == {str}:
        return [value.strip() or None for value in values]
    return [id_text(value) for value in values]


def why_no_id(value: Any) -> str:
    """Say why a value is no id, to be read after what it should be the id of.

    Examples
    --------
    >>> why_no_id(None), why_no_id(0.5)
    ('is missing', '0.5 is no id; ids are text or whole numbers')
    """
    if is_missing(value) or (isinstance(value, str) and not value.strip()):
        return "is missing"
    if isinstance(value, float | np.floating) and abs(float(value)) >= LARGEST_WHOLE:
        return f"{quoted(float(value))} has lost digits as a floating-point number; give ids as text"
    return f"{quoted(value)} is no id; ids are text or whole numbers"


def merged_pair(texts: pa.Array[Any], trimmed: pa.Array[Any]) -> tuple[int, int] | None:
    """Return the rows of two texts that differ but are one without white space at their ends, or None.

    Examples
    --------
    >>> merged_pair(pa.array(["a", "b", "a "]), pa.array(["a", "b", "a"]))
    (0, 2)
    """
    same: Any = pc.equal(texts, trimmed)
    changed = np.flatnonzero(~values_of(same))
    if not len(changed):
        return None
    suspects: Any = trimmed.take(arrow_of(changed)).unique()
    rows = np.flatnonzero(values_of(pc.is_in(trimmed, suspects)))
    first: dict[Any, tuple[int, Any]] = {}
    kept: list[Any] = texts.take(arrow_of(rows)).to_pylist()
    short: list[Any] = trimmed.take(arrow_of(rows)).to_pylist()
    for row, text, name in zip(rows.tolist(), kept, short, strict=True):
        row_before, before = first.setdefault(name, (row, text))
        if before != text:
            return row_before, row
    return None
