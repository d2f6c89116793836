"""CSV and TSV text for machines: exact floats, empty cells for undefined, LF line ends."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence


def delimited_text(header: Sequence[str], rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    r"""Return a table as delimited text that reads back exactly.

    Parameters
    ----------
    header : sequence of str
        Column names.
    rows : iterable of sequences
        Cells: text, whole numbers, floats (written so that they read back to the same value), None or NaN (empty).
    separator : str
        One character; a cell that holds it, a quote or a line end is quoted.

    Examples
    --------
    >>> delimited_text(("query_id", "value"), [("a,b", 0.1), ("c", None)])
    'query_id,value\n"a,b",0.1\nc,\n'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=separator, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerow(header)
    for row in rows:
        writer.writerow([_cell(value) for value in row])
    return stream.getvalue()


def _cell(value: object) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else str(value)
