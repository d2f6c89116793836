"""Which direction is better: of ready-made measures, which say nothing but their name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from rankstats.errors import PlanError, RankstatsError, did_you_mean
from rankstats.measures import parse_measure
from rankstats.tables import MeasureInfo, Scores

READY_MADE = "ready-made values"
"""How the formula of a measure begins that was read and not computed; a policy may state the direction of such ones."""
ASSUMED = "as assumed: nobody stated a direction"
_COUNTER = (
    *("latency", "latencies", "time", "times", "duration", "durations", "delay", "wait", "waits"),
    *("timeout", "timeouts", "ms", "msec", "millis", "milliseconds", "sec", "secs", "seconds", "minutes"),
    *("cost", "costs", "price", "prices", "error", "errors", "failure", "failures", "miss", "misses", "crashes"),
    *("loss", "losses", "rank", "ranks", "position", "positions", "distance", "mae", "mse", "rmse", "perplexity"),
    *("abandonment", "abandoned", "bounce", "bounces", "complaints", "reformulations"),
)
"""Words in a name that usually stand for something of which less is better."""
_TURNED = ("reciprocal", "inverse", "saved", "saving", "savings", "dwell", "reduction", "gain")
"""Words that turn them round again."""
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def described(scores: Scores, better: Mapping[str, str]) -> Scores:
    """Give ready-made measures a definition and a direction.

    1. A measure whose name rankstats knows has the known definition and direction.
    2. Any other has the direction that `better` states; else higher is taken as better, and its definition says so.

    Parameters
    ----------
    scores : Scores
        Ready-made values; measures that have a definition were computed and keep it.
    better : mapping of str to {'higher', 'lower'}
        Stated directions by the name of a measure.

    Raises
    ------
    PlanError
        If a measure is not there, or what is stated contradicts what is known of it.

    Examples
    --------
    >>> import numpy as np
    >>> infos = (MeasureInfo("RR", "RR"), MeasureInfo("latency_ms", "latency_ms"))
    >>> made = described(Scores(np.zeros((1, 1, 2)), ("q",), ("a",), infos), {"latency_ms": "lower"}).measures
    >>> [info.higher_is_better for info in made], made[1].definition["direction"]
    ([True, False], 'lower is better, as stated')
    """
    names = [info.name for info in scores.measures]
    for name in better:
        if name not in names:
            raise PlanError(
                f"better: the scores hold no measure {name!r} (they hold {', '.join(names)})"
                + did_you_mean(name, names)
            )
    return replace(scores, measures=tuple(_described(info, better.get(info.name)) for info in scores.measures))


def _described(info: MeasureInfo, stated: str | None) -> MeasureInfo:
    known = info if info.definition else _known(info.name)
    if known is not None and (info.definition or known.name == info.name):
        if stated is not None and (stated == "higher") != known.higher_is_better:
            other = "higher" if known.higher_is_better else "lower"
            raise PlanError(
                f"better: {stated} values of {info.name} cannot be better, for {other} ones are by definition"
            )
        return known
    if stated is None and known is not None:
        # another spelling of a measure: the direction is that measure's
        told, higher = f"as of {known.name}", known.higher_is_better
    else:
        told, higher = "as stated" if stated else ASSUMED, stated != "lower"
    formula, direction = f"{READY_MADE}, as given", f"{'higher' if higher else 'lower'} is better, {told}"
    return replace(info, definition={"formula": formula, "direction": direction}, higher_is_better=higher)


def is_known(name: str) -> bool:
    """Return whether a name stands for a measure that rankstats defines, whose direction is known."""
    return _known(name) is not None


def _known(name: str) -> MeasureInfo | None:
    try:
        return parse_measure(name).info()
    except RankstatsError:
        return None


def speaks_of_less(name: str) -> bool:
    """Return whether a name speaks of something of which less is usually better.

    Examples
    --------
    >>> [speaks_of_less(name) for name in ("latency_ms", "clickRank", "success", "time_saved", "sometimes")]
    [True, True, False, False, False]
    """
    words = {word.lower() for word in _WORDS.findall(name)}
    return not words.isdisjoint(_COUNTER) and words.isdisjoint(_TURNED)
