"""Small pictures for notebooks: tables, bars and strips as HTML and SVG that need nothing from outside."""

from collections.abc import Iterable, Sequence
from html import escape

COLORS = ("#4c78a8", "#f58518", "#54a24b", "#b279a2", "#9d755d", "#e45756", "#72b7b2", "#eeca3b")
_FONT = "font-family:ui-monospace,monospace;font-size:12px"
_WIDTH = 480
_STRIP_CELLS = 240


def table(header: Sequence[str], rows: Iterable[Sequence[str]], raw: int | None = None) -> str:
    """A table of texts; column ``raw`` is HTML already.

    >>> table(["a"], [["<b>"]]).partition(">")[2]
    '<tr><th>a</th></tr><tr><td>&lt;b&gt;</td></tr></table>'
    """
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in header)]
    lines += ["".join(f"<td>{cell if n == raw else escape(cell)}</td>" for n, cell in enumerate(row)) for row in rows]
    return f'<table style="{_FONT}">' + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def title(text: str) -> str:
    """A line of text above a picture."""
    return f'<div style="{_FONT};font-weight:bold">{escape(text)}</div>'


def bar(parts: Sequence[tuple[str, float]]) -> str:
    """One bar that shows what share each part has, with the names and numbers below it."""
    total = sum(size for _, size in parts) or 1
    pieces, notes, begin = [], [], 0.0
    for number, (name, size) in enumerate(parts):
        color, width = COLORS[number % len(COLORS)], _WIDTH * size / total
        label = f"{name}: {size:,.0f} ({size / total:.1%})"
        pieces.append(_rectangle(begin, 0, width, 18, color, label))
        notes.append(f'<span style="color:{color}">&#9632;</span> {escape(label)}')
        begin += width
    return _svg(_WIDTH, 18, pieces) + f'<div style="{_FONT}">{" &nbsp; ".join(notes)}</div>'


def strip(values: Sequence[float], most: float, height: int = 12, width: int = _WIDTH, what: str = "tile") -> str:
    """A row of cells, darker where a value is nearer to ``most``; neighbours share a cell where there are many."""
    each = -(-len(values) // _STRIP_CELLS) or 1
    groups = [values[begin : begin + each] for begin in range(0, len(values), each)]
    cell = width / max(1, len(groups))
    pieces = []
    for number, group in enumerate(groups):
        first, last = number * each, number * each + len(group) - 1
        where = f"{what} {first}" if first == last else f"{what}s {first} to {last}"
        share = min(1.0, max(group) / most) if most else 0.0
        pieces.append(_rectangle(number * cell, 0, cell, height, _shade(share), f"{where}: {max(group):,.0f}"))
    return _svg(width, height, pieces)


def grid(owners: Sequence[Sequence[int]], width: int = 240) -> str:
    """A matrix of which each element has the color of its owner; a number below 0 is nobody."""
    rows, columns = len(owners), len(owners[0])
    cell = max(1.0, min(16.0, width / max(columns, rows)))
    pieces = []
    for row, line in enumerate(owners):
        begin = 0
        for column in range(1, columns + 1):  # neighbours of one owner are one rectangle
            if column == columns or line[column] != line[begin]:
                owner = line[begin]
                color = "#ffffff" if owner < 0 else COLORS[owner % len(COLORS)]
                extent = (column - begin) * cell
                pieces.append(_rectangle(begin * cell, row * cell, extent, cell, color, f"tile {owner}"))
                begin = column
    return _svg(columns * cell, rows * cell, pieces)


def _svg(width: float, height: float, pieces: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}">{"".join(pieces)}</svg>'
    )


def _rectangle(x: float, y: float, width: float, height: float, color: str, label: str) -> str:
    place = f'x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}"'
    return f'<rect {place} fill="{color}"><title>{escape(label)}</title></rect>'


def _shade(share: float) -> str:
    """A blue that is white for 0.

    >>> _shade(0), _shade(1)
    ('#ffffff', '#1f4e8c')
    """
    return "#" + "".join(f"{round(255 + (dark - 255) * share):02x}" for dark in (0x1F, 0x4E, 0x8C))
