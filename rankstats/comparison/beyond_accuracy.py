"""What measures beyond accuracy read, and what they leave out: the item table, the histories, unknown documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankstats import inputs as readers
from rankstats.comparison.depth import DEPTH
from rankstats.errors import InputError
from rankstats.measures import Measure, documents_left_out
from rankstats.plan import Plan
from rankstats.tables.arrow_arrays import is_valid
from rankstats.tables.arrow_functions import index_in
from rankstats.wording import count

if TYPE_CHECKING:
    from rankstats.tables import Histories, Hits, Items, Judgments, Source

RATINGS = ("RMSE", "MAE")
"""Measures that read scores as predicted ratings."""


@dataclass(frozen=True, slots=True)
class ItemInputs:
    """The item table and the histories of a plan, and where they came from."""

    items: Items | None = None
    histories: Histories | None = None
    sources: tuple[Source, ...] = ()
    notes: tuple[str, ...] = ()


def read_item_inputs(plan: Plan, items: Any, histories: Any) -> ItemInputs:
    """Read the item table and the histories, each of which may be None.

    Raises
    ------
    InputError
        If one of them cannot be read.
    """
    columns = plan.columns
    inputs = ItemInputs()
    if items is not None:
        table = readers.read_items(
            items,
            id_column=columns.item,
            popularity=columns.popularity,
            category=columns.category,
            vector=columns.vector,
        )
        inputs = ItemInputs(table.table, None, table.audit.sources, table.audit.notes)
    if histories is not None:
        rows = readers.read_histories(histories, id_column=columns.query_id, item_column=columns.item)
        sources, notes = (*inputs.sources, *rows.audit.sources), (*inputs.notes, *rows.audit.notes)
        inputs = ItemInputs(inputs.items, rows.table, sources, notes)
    return inputs


def depth_of_lists(measures: Sequence[Measure]) -> int:
    """Return how many documents of each list are kept: those that are shown, or more where a measure looks at more."""
    return max([DEPTH, *(int(m.cutoff) for m in measures if "lists" in m.declaration.needs and m.cutoff)])


def audit_items(
    measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits], inputs: ItemInputs
) -> tuple[dict[str, Any] | None, list[str]]:
    """Count the listed documents that measures leave out.

    Returns
    -------
    audit : dict or None
        Rows of the item table, and for each measure that leaves documents out their number by system; None without an
        item table.
    notes : list of str
        The same in words, a sentence for each system and number.

    Raises
    ------
    InputError
        If the item table knows none of the documents that a system lists.
    """
    items = inputs.items
    if items is None:
        return None, []
    left_out = documents_left_out(measures, judgments, hits, items)
    for system in np.flatnonzero(left_out.any(axis=1)).tolist():
        _check_known(items, hits[system])
    by_measure: dict[str, dict[str, int]] = {}
    together: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for s, m in zip(*np.nonzero(left_out), strict=True):
        measure, system = measures[m], hits[s]
        number, k = int(left_out[s, m]), int(measure.cutoff or 0)
        by_measure.setdefault(measure.name, {})[system.system] = number
        together[(system.system, number, k)].append(measure.name)
    shown = {system.system: system.returned for system in hits}
    notes = [
        f"{system}: {number:,} of {count(int(np.minimum(shown[system], k).sum()), 'document')} among the first {k} "
        f"{'is' if number == 1 else 'are'} left out of {', '.join(names)}, because {items.source.name} lacks them or "
        "does not say what is asked"
        for (system, number, k), names in together.items()
    ]
    return {"rows": len(items), "left_out": by_measure}, notes


def _check_known(items: Items, hits: Hits) -> None:
    """Raise where no document of a system is in the item table: the files do not belong together."""
    shown = hits.top.doc_ids
    if not is_valid(index_in(shown, items.doc_ids)).any():
        raise InputError(
            f"knows none of the documents that {hits.system} lists: they look like {str(shown[0])!r}, those of the "
            f"item table like {str(items.doc_ids[0])!r}; check that the files belong together, or name the id column "
            "with --item-id",
            items.source.name,
        )


def rating_notes(measures: Sequence[Measure], judgments: Judgments, hits: Sequence[Hits]) -> list[str]:
    """Say where scores do not look like predicted ratings: most of them lie outside the grades."""
    names = [m.name for m in measures if m.declaration.name in RATINGS]
    if not names or not len(judgments.grade):
        return []
    low, high = float(judgments.grade.min()), float(judgments.grade.max())
    notes = []
    for system in hits:
        if system.score is None or not len(system.score):
            continue
        outside = np.count_nonzero((system.score < low) | (system.score > high))
        if 2 * outside > len(system.score):
            notes.append(
                f"{', '.join(names)}: {outside:,} of {len(system.score):,} scores of {system.system} lie outside the "
                f"grades ({low:g} to {high:g}); they are read as predicted ratings"
            )
    return notes
