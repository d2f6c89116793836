"""A matplotlib figure as SVG for the middle of a page: accessible, without style attributes, ids of its own.

A content-security policy that allows no inline style drops every ``style=`` attribute, so what matplotlib writes there
becomes presentation attributes; a style sheet can still recolour them.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import matplotlib as mpl

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "rankstats",
    "text.parse_math": False,
    "text.usetex": False,
    "font.family": "DejaVu Sans",
    "font.size": 13.0,
    "path.simplify": True,
    "axes.unicode_minus": True,
}
PIXELS_PER_INCH = 72
"""The unit of matplotlib's SVG is a point; at this resolution one pixel of a drawing is one unit."""

_FONTS = "system-ui, sans-serif"
_SIZE = "12px"
_NAMESPACE = re.compile(r"\{[^}]*\}")
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_NO_TURN = re.compile(r"rotate\(-?0[ )]")
_DECIMALS = re.compile(r"-?\d+\.\d{3,}")
_STEP = re.compile(r"([MLHVQCZ])([^MLHVQCZ]*)", re.IGNORECASE)
_PLACED = {"x", "y", "width", "height"}
_DROPPED = {"metadata"}
_INHERITED = {
    "stroke-linejoin": "round",
    "stroke-linecap": "butt",
    "font-family": _FONTS,
    "font-size": _SIZE,
}
"""What the root says for all that is in it."""


def inline_svg(figure: Figure, key: str, title: str, description: str) -> str:
    """Return a figure as one ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Made without pyplot, at `PIXELS_PER_INCH`.
    key : str
        Prefix of all ids; unique on the page.
    title, description : str
        What a reader who does not see the figure hears.
    """
    root = ET.fromstring(_raw(figure))
    _strip(root)
    used = _references(root)
    for element in root.iter():
        _rewrite(element, key, used)
    _bare_marks(root)
    _share_marks(root)
    _unwrap(root)
    width, height = (root.attrib[side].removesuffix("pt") for side in ("width", "height"))
    root.attrib.clear()
    root.attrib |= {
        "class": "figure",
        "role": "img",
        "aria-labelledby": f"{key}-t {key}-d",
        "width": width,
        "height": height,
        "viewBox": f"0 0 {width} {height}",
        **_INHERITED,
    }
    for position, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = ET.Element(tag, {"id": f"{key}-{tag[0]}"})
        element.text = text
        root.insert(position, element)
    return ET.tostring(root, encoding="unicode", short_empty_elements=True)


def _raw(figure: Figure) -> str:
    stream = io.StringIO()
    with mpl.rc_context(SETTINGS), warnings.catch_warnings():
        # The reader's fonts draw the text, so a glyph that matplotlib's font lacks is no fault.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", dpi=PIXELS_PER_INCH, transparent=True, metadata={"Date": None})
    return stream.getvalue()


def _strip(root: ET.Element) -> None:
    """Remove name spaces, metadata, style sheets and the empty background."""
    for element in root.iter():
        element.tag = _NAMESPACE.sub("", element.tag)
        element.attrib = {_NAMESPACE.sub("", name): value for name, value in element.attrib.items()}
        element.tail = None
        if element.text is not None and not element.text.strip():
            element.text = None
    for parent in list(root.iter()):
        for child in list(parent):
            empty = child.tag == "defs" and all(grandchild.tag == "style" for grandchild in child)
            if child.tag in _DROPPED or empty or child.attrib.get("id") == "patch_1":
                parent.remove(child)


def _references(root: ET.Element) -> set[str]:
    used: set[str] = set()
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "href" and value.startswith("#"):
                used.add(value[1:])
            used.update(_REFERENCE.findall(value))
    return used


def _rewrite(element: ET.Element, key: str, used: set[str]) -> None:
    attributes: dict[str, str] = {}
    for name, value in element.attrib.items():
        if name == "style":
            attributes.update(_presentation(value))
        elif name == "id":
            if value in used:
                attributes["id"] = f"{key}-{value}"
        elif name == "transform" and _NO_TURN.match(value):
            continue
        elif name == "href" and value.startswith("#"):
            attributes["href"] = f"#{key}-{value[1:]}"
        elif name == "d":
            attributes["d"] = compact_path(value)
        elif name in _PLACED or value.startswith("translate("):
            attributes[name] = _rounded(value)
        else:
            attributes[name] = value
    for name, value in _INHERITED.items():
        if attributes.get(name) == value:
            del attributes[name]
    element.attrib = {name: _REFERENCE.sub(rf"url(#{key}-\1)", value) for name, value in attributes.items()}


def _rounded(text: str) -> str:
    """Round to hundredths of a pixel, which nobody sees."""
    return _DECIMALS.sub(lambda match: f"{float(match[0]):.2f}".rstrip("0").rstrip("."), text)


def compact_path(path: str) -> str:
    """Return the data of a path in fewer characters: hundredths of a pixel, level and upright lines by one number.

    Examples
    --------
    >>> compact_path("M 10.123456 5  L 20 5  L 20 15  L 10.123456 15  z ")
    'M10.12 5H20V15H10.12z'
    """
    out: list[str] = []
    at: list[str] = []
    for command, numbers in _STEP.findall(_rounded(path)):
        ends = numbers.split()
        if command == "L" and ends[1] == at[1]:
            out.append(f"H{ends[0]}")
        elif command == "L" and ends[0] == at[0]:
            out.append(f"V{ends[1]}")
        else:
            out.append(command + " ".join(ends))
        at = ends[-2:] or at
    return "".join(out)


def _presentation(style: str) -> dict[str, str]:
    """Turn declarations into attributes; the `font` shorthand, which is none, into its parts."""
    out: dict[str, str] = {}
    for declaration in style.split(";"):
        name, _, value = (part.strip() for part in declaration.partition(":"))
        if name == "font":
            size = re.search(r"([\d.]+)px", value)
            out["font-size"] = size.group(1) if size else "13"
            out["font-family"] = _FONTS
            if re.search(r"\b(bold|[6-9]00)\b", value):
                out["font-weight"] = "bold"
        elif name == "font-family":
            out[name] = _FONTS
        elif name:
            out[name] = value
    return out


def _bare_marks(root: ET.Element) -> None:
    """Take the colours from shapes in `<defs>` whose every use has its own: no rule of the page reaches them there."""
    uses: dict[str, list[ET.Element]] = {}
    for element in root.iter("use"):
        uses.setdefault(element.attrib["href"].removeprefix("#"), []).append(element)
    for shape in root.iterfind(".//defs/path"):
        for name in ("fill", "stroke"):
            if all(name in use.attrib for use in uses.get(shape.attrib.get("id", ""), ())):
                shape.attrib.pop(name, None)


def _share_marks(root: ET.Element) -> None:
    """Let the group of many marks say once what each of them says."""
    for group in root.iter("g"):
        marks = list(group)
        if len(marks) < 2 or any(mark.tag != "use" for mark in marks):
            continue
        for name in ("fill", "stroke", "stroke-width", "fill-opacity", "stroke-opacity"):
            values = {mark.attrib.get(name) for mark in marks}
            if len(values) == 1 and None not in values:
                group.attrib[name] = str(values.pop())
                for mark in marks:
                    del mark.attrib[name]


def _unwrap(element: ET.Element) -> None:
    """Replace groups that carry nothing by what they hold; half of matplotlib's elements are such groups."""
    for child in list(element):
        _unwrap(child)
    children: list[ET.Element] = []
    for child in element:
        children.extend(child if child.tag == "g" and not child.attrib else [child])
    element[:] = children
