"""The page: one HTML file with its styles, scripts, charting library and data inside, and nothing from the network."""

import base64
import gzip
import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.advice.advise import advise
from ipu_mlir.tools.report.comparison import compare
from ipu_mlir.tools.report.timeline import timeline
from ipu_mlir.tools.report.verdict import verdict_of

_HERE = Path(__file__).parent
SCRIPTS = (
    *("data", "format", "dom", "state", "theme", "chart", "grid", "table", "search", "steps"),
    *("summary", "problems", "advice", "comparison", "tiles", "memory", "tilemap", "matrix", "liveness"),
    *("blocks", "trace", "tree", "tables", "main"),
)
"""The files of ``web/`` that make the page's one script, in this order; they share its scope."""


def page(profiles: Sequence[tuple[str, Profile]]) -> str:
    """The page of one profile, or of a profile and another that it is compared with; each with the name of its file."""
    parts = {
        "title": html.escape(f"{_title(profiles[0][1])} - IPU profile"),
        "style": _text("web", "colours.css") + _text("web", "style.css"),
        "library": _text("vendor", "echarts.min.js"),
        "data": _packed(page_data(profiles)),
        "script": "\n".join(_text("web", f"{name}.js") for name in SCRIPTS),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _text("web", "page.html"))


def page_data(profiles: Sequence[tuple[str, Profile]]) -> dict[str, Any]:
    """The data that the scripts of the page draw, as JSON values."""
    shown = [
        {
            "file": file,
            "profile": profile.to_json(),
            "verdict": asdict(verdict_of(profile)),
            "timeline": timeline(profile),
            "advice": [asdict(advice) for advice in advise(profile)],
        }
        for file, profile in profiles
    ]
    return {"shown": shown, "comparison": compare(profiles[0][1], profiles[1][1]) if len(profiles) > 1 else None}


def _title(profile: Profile) -> str:
    source = profile.program.source
    return f"{Path(source).name}: {profile.program.entry}" if source else profile.program.entry


def _packed(data: dict[str, Any]) -> str:
    """``data`` compressed, in letters that mean nothing to HTML: names in it come from programs of users."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def _text(*path: str) -> str:
    return _HERE.joinpath(*path).read_text(encoding="utf-8")
