"""What figures show, as numbers and words: plain frozen dataclasses, drawn by `rankstats.report.figures`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rankstats.report.tones import MARKS, WORDS


@dataclass(frozen=True, slots=True)
class ForestRow:
    """One estimate of a forest.

    Attributes
    ----------
    name, label, n, share, difference, interval, own_p, p : str
        The texts of the row; `label` is the name, short enough for a figure; `own_p` goes with `interval`, `p` is the
        adjusted one where there is one.
    spoken : str
        The row in words, for readers who do not see the marks.
    adjusted : bool
        Whether the p-value is an adjusted one.
    tone : str
        One of the tones.
    value : float or None
        The estimate.
    inner : (float, float) or None
        The row's own interval; infinite ends are allowed.
    outer : (float, float) or None
        The simultaneous interval.
    first : bool
        Whether the row starts a group (a little space before it).
    cut : str
        The end of `label` that explains a built-in segment, which narrow pages leave out.
    level : str
        What `interval` is, such as '95 % interval'; empty where that is not known.
    before : str
        A line of words above the row, where rows in between are left out.
    """

    name: str
    label: str
    n: str
    share: str
    difference: str
    interval: str
    own_p: str
    p: str
    spoken: str
    adjusted: bool
    tone: str
    value: float | None
    inner: tuple[float, float] | None
    outer: tuple[float, float] | None
    first: bool = False
    cut: str = ""
    level: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Axis:
    """A horizontal axis of differences: its ends, and ticks with their labels."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Estimates with intervals on one axis.

    Attributes
    ----------
    p_label : str
        The heading of the p-values.
    margin : float or None
        Half the width of the band of equivalence.
    reference : float or None
        The overall effect, drawn as a dashed line.
    higher_is_better : bool
        Which side of zero is the better one.
    directed : bool
        Whether it is known which side is the better one.
    """

    shape: ClassVar[str] = "forest"
    rows: tuple[ForestRow, ...]
    axis: Axis
    axis_label: str
    p_label: str
    margin: float | None = None
    reference: float | None = None
    higher_is_better: bool = True
    directed: bool = True

    @property
    def sides(self) -> tuple[str, str]:
        """What the two sides of zero are called, the left one first."""
        if not self.directed:
            return ("◂ lower", "higher ▸")
        return ("◂ worse", "better ▸") if self.higher_is_better else ("◂ better", "worse ▸")

    @property
    def interval_label(self) -> str:
        """The heading of the intervals."""
        return next((row.level for row in self.rows if row.level), "interval")

    @property
    def key(self) -> str:
        """What the marks and lines mean, those that are drawn."""
        tones = {row.tone for row in self.rows}
        joint = any(row.outer for row in self.rows)
        parts = [f"{mark} {WORDS[tone]}" for tone, mark in MARKS.items() if tone in tones]
        parts += [f"{'thick' if joint else 'line'}: {self.interval_label}"] * any(row.inner for row in self.rows)
        parts += ["thin: simultaneous"] * joint
        parts += ["band: margin of equivalence"] * bool(self.margin)
        parts += [f"dashed: {self.rows[0].label}"] * (self.reference is not None and len(self.rows) > 1)
        return " · ".join(part.replace(" ", "\N{NO-BREAK SPACE}") for part in parts)


@dataclass(frozen=True, slots=True)
class OutcomeBar:
    """Better, equal and worse counts of one comparison; `before` is a line of words above it, as in a forest."""

    label: str
    better: int
    equal: int
    worse: int
    before: str = ""


@dataclass(frozen=True, slots=True)
class OutcomeBars:
    """Stacked bars of counts, one a comparison; `words` are what better, equal and worse are called."""

    shape: ClassVar[str] = "outcomes"
    rows: tuple[OutcomeBar, ...]
    unit: str
    words: tuple[str, str, str] = ("better", "equal", "worse")


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Per-query differences, the largest first; up to `tolerance` from zero they count as equal."""

    shape: ClassVar[str] = "waterfall"
    differences: tuple[float, ...]
    axis_label: str
    higher_is_better: bool = True
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Scatter:
    """Per-query values of one system against another; up to `tolerance` apart they count as equal."""

    shape: ClassVar[str] = "scatter"
    x: tuple[float, ...]
    y: tuple[float, ...]
    x_label: str
    y_label: str
    higher_is_better: bool = True
    tolerance: float = 0.0


@dataclass(frozen=True, slots=True)
class Distribution:
    """Counts of resampled differences, with the observed one and its interval."""

    shape: ClassVar[str] = "distribution"
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    observed: float
    interval: tuple[float, float] | None
    tone: str
    axis_label: str


@dataclass(frozen=True, slots=True)
class Crossed:
    """Every system against every other, the best mean first.

    Attributes
    ----------
    labels : tuple of str
        Names of the systems, short enough for a figure.
    tones : tuple of tuple of str
        What the row's system is shown to be against the column's: one of the tones, empty where they are not compared.
    texts : tuple of tuple of str
        Differences, row less column; empty where there is no room for them.
    """

    shape: ClassVar[str] = "crossed"
    labels: tuple[str, ...]
    tones: tuple[tuple[str, ...], ...]
    texts: tuple[tuple[str, ...], ...] = ()


Drawing = Forest | OutcomeBars | Waterfall | Scatter | Distribution | Crossed
