"""The page of a sweep: one HTML file with its data, its script and the charting library of the report inside."""

import html
import json
import re
from importlib.resources import files

from ipu_mlir.tools.sweep.sweep import Sweep

_REPORT, _OWN = "ipu_mlir.tools.report", "ipu_mlir.tools.sweep"
_SHARED_SCRIPTS = ("format", "dom", "theme", "chart", "table")
"""Of the report: how numbers, colours, charts and tables look."""


def page(sweep: Sweep) -> str:
    """The page as HTML that asks nothing of the network."""
    parts = {
        "title": html.escape(f"{sweep.title} - IPU sweep"),
        "style": _text(_REPORT, "web/colours.css") + _text(_REPORT, "web/style.css") + _text(_OWN, "web/sweep.css"),
        "library": _text(_REPORT, "vendor/echarts.min.js"),
        "data": json.dumps(sweep.plain(), allow_nan=False).replace("<", "\\u003c"),
        "script": "\n".join(_text(_REPORT, f"web/{name}.js") for name in _SHARED_SCRIPTS) + _text(_OWN, "web/sweep.js"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text(_OWN, "web/page.html"))


def _text(package: str, path: str) -> str:
    return files(package).joinpath(path).read_text(encoding="utf-8")
