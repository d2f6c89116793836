"""The words of experiments: arms, control and metrics where comparisons have systems, baseline and measures."""

from __future__ import annotations

from dataclasses import replace

from rankstats.report.blocks import Block, Figure, Section, Table

_HEADINGS = {"system": "arm", "baseline": "control", "measure": "metric"}
_MEANS = {"baseline mean": "control mean", "system mean": "arm mean"}
_CAPTIONS = {
    "The other measures": "The other metrics",
    "differences in all measures by segment": "differences in all metrics by segment",
}


def in_words_of_experiments(section: Section) -> Section:
    """Return a section with the headings of its tables as readers of an experiment know them.

    Examples
    --------
    >>> from rankstats.report.blocks import Column
    >>> table = Table("t", "The other measures against A", (Column("system", number=False), Column("p")), ())
    >>> made = in_words_of_experiments(Section("pairwise", "Every comparison", (table,))).blocks[0]
    >>> made.caption, [column.label for column in made.columns]
    ('The other metrics against A', ['arm', 'p'])
    """
    return replace(section, blocks=tuple(_block(block) for block in section.blocks))


def _block(block: Block) -> Block:
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure) and block.table is not None:
        return replace(block, table=_table(block.table))
    return block


def _table(table: Table) -> Table:
    caption = table.caption
    for words, others in _CAPTIONS.items():
        if caption.startswith(words) or caption.endswith(f": {words}, with adjusted p"):
            caption = caption.replace(words, others)
    # a metric may have any name: only columns of words, and the two means side by side, are meant
    means = _MEANS if {column.label for column in table.columns} >= set(_MEANS) else {}
    columns = tuple(
        replace(column, label=(means if column.number else _HEADINGS).get(column.label, column.label))
        for column in table.columns
    )
    return replace(table, caption=caption, columns=columns)
