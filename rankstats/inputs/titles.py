"""The document table: titles, so that lists can be read by people."""

from __future__ import annotations

from pathlib import Path

from rankstats.inputs.audit import Read, ReadAudit
from rankstats.inputs.columns import DOCUMENT_NAMES, ColumnNames
from rankstats.inputs.files import StoredFile
from rankstats.inputs.formats import read_table
from rankstats.inputs.quoting import listed, quoted

ID_NAMES = (*DOCUMENT_NAMES, "item", "sku", "_id", "id")
TITLE_NAMES = ("title", "product_title", "name", "headline", "text")


def read_titles(path: str | Path, *, id_column: str | None = None, title: str | None = None) -> Read[dict[str, str]]:
    r"""Read a document table with a header row: TSV, CSV, JSON lines or Parquet, plain or compressed.

    The id is doc_id, docno, product_id, item_id, id …, the title title, product_title, name, headline or text: the
    first of each list that is there. Capitals, hyphens and spaces in names do not matter. Documents without a title are
    left out.

    Parameters
    ----------
    path : str or Path
        The file.
    id_column, title : str, optional
        The columns, where they have other names.

    Returns
    -------
    Read of dict of str to str
        Titles by document id, and the audit.

    Raises
    ------
    InputError
        With file and line: an empty id, a document listed twice. With the file: a column that is not there.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "documents.tsv"
    >>> _ = path.write_text("doc_id\ttitle\n007\tOak lamp\n8\t\n")
    >>> read_titles(path).table
    {'007': 'Oak lamp'}
    """
    file = StoredFile(path)
    table = read_table(file)
    names = ColumnNames(table)
    doc_id = names.optional(ID_NAMES, "--document", id_column, ())
    if doc_id is None:
        known = ", ".join(ID_NAMES[:4])
        raise file.error(f"no document id column (there are {listed(table.names)}); call it {known} …")
    titles = names.optional(TITLE_NAMES, "--documents", title, {doc_id})
    if titles is None:
        known = ", ".join(TITLE_NAMES)
        raise file.error(f"no title column (there are {listed(table.names)}); call it one of {known}")
    rows: dict[str, int] = {}
    found: dict[str, str] = {}
    ids = table.id_list(doc_id)
    for row, (name, text) in enumerate(zip(ids, table.trimmed(titles).to_pylist(), strict=True)):
        first = rows.setdefault(name, row)
        if first != row:
            problem = f"document {quoted(name)} is listed twice, first in {table.place(first)}; remove one"
            raise table.error(problem, row)
        if text is not None:
            found[name] = str(text)
    return Read(found, ReadAudit((file.source(),), len(table), table.blank_lines))
