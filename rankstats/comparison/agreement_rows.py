"""What an analysis of agreement gives: rows, an answer in one sentence, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankstats.comparison.result import Interval
from rankstats.wording import number

if TYPE_CHECKING:
    import pandas as pd

FEW_SYSTEMS = 6
"""With fewer systems few orders exist, so that their correlation is coarse."""

ALL = "all"
"""The query id of rows that are about all queries."""


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """One number of an analysis of agreement.

    Attributes
    ----------
    kind : str
        What is compared: 'rankings', 'expert', 'measures', 'segments', 'judgments', 'stability', 'swaps', 'judges',
        'raters', 'grades' or 'confusion'.
    first, second : str
        The two that are compared; `second` is empty where all are compared together.
    about : str
        What they are compared on, such as a measure; or empty.
    query_id : str
        The query, or 'all'.
    statistic : str
        Such as 'rbo' or 'kendall_tau_b'.
    value : float or None
        None where undefined.
    interval : Interval or None
        None where there is none.
    n : int
        What the value rests on: queries, documents, items, systems or pairs of them.
    """

    kind: str
    first: str
    second: str
    about: str
    query_id: str
    statistic: str
    value: float | None
    interval: Interval | None
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return the row flat, with the ends of the interval as low and high."""
        low, high = (None, None) if self.interval is None else (self.interval.low, self.interval.high)
        return {
            "kind": self.kind,
            "first": self.first,
            "second": self.second,
            "about": self.about,
            "query_id": self.query_id,
            "statistic": self.statistic,
            "value": self.value,
            "low": low,
            "high": high,
            "n": self.n,
        }


@dataclass(frozen=True, slots=True)
class AgreementAnswer:
    """A finished analysis of agreement.

    Attributes
    ----------
    answer : str
        The answer in one sentence.
    rows : tuple of AgreementRow
        Everything that was computed: rows of single queries before those of all.
    notes : tuple of str
        What was left out and what qualifies the numbers, each a clause.
    """

    answer: str
    rows: tuple[AgreementRow, ...]
    notes: tuple[str, ...] = ()

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary a row."""
        return [row.to_dict() for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        import pandas as pd  # noqa: PLC0415  slow to load and not needed for the command line

        return pd.DataFrame(self.to_dicts())

    def value(self, statistic: str, first: str, second: str = "", *, about: str = "", query_id: str = ALL) -> float:
        """Return one value, NaN where undefined.

        Raises
        ------
        KeyError
            If there is no such row.
        """
        key = (statistic, first, second, about, query_id)
        for row in self.rows:
            if (row.statistic, row.first, row.second, row.about, row.query_id) == key:
                return float("nan") if row.value is None else row.value
        raise KeyError(key)


def with_interval(row: AgreementRow, decimals: int = 2) -> str:
    """Return the value of a row and its interval in words.

    Examples
    --------
    >>> row = AgreementRow("rankings", "a", "b", "", "all", "rbo", 0.713, Interval(0.65, 0.77, 0.95, "t"), 50)
    >>> with_interval(row).replace(chr(160), " ")
    '0.71 (95 % interval 0.65 to 0.77)'
    """
    text = number(row.value, decimals)
    ends = row.interval
    if ends is None or ends.low is None or ends.high is None:
        return text
    between = f"{number(ends.low, decimals)} to {number(ends.high, decimals)}"
    return f"{text} ({100 * ends.level:g}\N{NO-BREAK SPACE}% interval {between})"


def find(rows: Sequence[AgreementRow], statistic: str) -> list[AgreementRow]:
    """Return the rows of a statistic over all queries that are defined."""
    return [row for row in rows if row.statistic == statistic and row.query_id == ALL and row.value is not None]
