"""Reads a rendered page back: its tables as rows of texts, its elements, its text."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "link", "br", "input", "img", "wbr"}


class Page(HTMLParser):
    """The elements of a page with their attributes, and the texts of its tables by id."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.tables: dict[str, list[list[str]]] = {}
        self.texts: list[str] = []
        self._open: list[str] = []
        self._tables: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)
        if tag == "table":
            key = dict(attrs).get("id") or f"table-{len(self.tables)}"
            self._tables.append(key)
            self.tables[key] = []
        if tag == "tr" and self._tables:
            self.tables[self._tables[-1]].append([])
        if tag in {"td", "th"} and self._tables:
            self.tables[self._tables[-1]][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open, f"</{tag}> closes nothing"
        assert self._open[-1] == tag, f"</{tag}> closes <{self._open[-1]}>"
        self._open.pop()
        if tag == "table":
            self._tables.pop()

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] in {"style", "script"}:
            return
        self.texts.append(data)
        inside = any(tag in {"td", "th"} for tag in self._open)
        if self._tables and inside and not {"title", "desc"} & set(self._open):
            part = f"[{data}]" if self._open[-1] == "small" else data
            self.tables[self._tables[-1]][-1][-1] += part

    @property
    def ids(self) -> list[str]:
        """All ids, in order."""
        return [attributes["id"] or "" for _, attributes in self.elements if "id" in attributes]

    @property
    def text(self) -> str:
        """All text of the page but style and script."""
        return " ".join(self.texts)
