"""Write the pipelines, and what the docstrings of passes say, into docs/passes.md: by phase, in the order of running.

``python scripts/write_passes_page.py`` after a pass was added, or said something else; a test compares.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING
from pathlib import Path

from ipu_mlir.compilation.kernels import ALL_PASSES
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.options import option_text, options_of
from ipu_mlir.passes.pipelines import PIPELINES

PAGE = Path(__file__).parents[1] / "docs" / "passes.md"
MARK = "<!-- {} is written by python scripts/write_passes_page.py. -->\n"
LEADS = {
    "ipu-import-stablehlo": "StableHLO to linalg",
    "ipu-normalize": "linalg as it comes in to few, fused ops",
    "ipu-place": "normalised linalg to placed tensors",
    "ipu-lower": "placed tensors to supersteps",
    "ipu-to-host": "supersteps to the same program for one memory, which the translator reads",
    "ipu-compile": "linalg as it comes in to supersteps",
}


def pipelines() -> str:
    """A table of the pipelines and their passes."""
    rows = []
    for name, parts in PIPELINES.items():
        passes = ", ".join("`" + part.partition("{")[0] + "`" for part in parts)
        rows.append(f"| `{name}` | {LEADS[name]} | {passes} |\n")
    return "\n| pipeline | from, to | passes |\n|---|---|---|\n" + "".join(rows)


def reference() -> str:
    """Every pass under a heading with its docstring, below a heading for the folder of its phase."""
    ran = (name for pipeline in ("ipu-import-stablehlo", "ipu-compile", "ipu-to-host") for name in _ran(pipeline))
    order = [*ran, *ALL_PASSES]
    by_phase: dict[str, list[type[Pass]]] = {}
    for each in sorted(ALL_PASSES.values(), key=lambda each: order.index(each.name)):
        folder = each.__module__.removeprefix("ipu_mlir.passes.").partition(".")[0]
        by_phase.setdefault(f"passes/{folder}" if folder != "ipu_mlir" else "ipu_mlir/compilation", []).append(each)
    phases = (f"### {phase}\n\n{''.join(map(_section, passes))}" for phase, passes in by_phase.items())
    return "\n" + "".join(phases).rstrip() + "\n"


def with_reference(page: str) -> str:
    """``page`` with both parts as they should be; each ends where the next paragraph or section begins."""
    for what, text, end in (
        ("This table", pipelines(), "\nPasses that ignore"),
        ("This list", reference(), "\n## Hints\n"),
    ):
        mark = MARK.format(what)
        before, _, rest = page.partition(mark)
        page = before + mark + text + end + rest.partition(end)[2]
    return page


def _ran(name: str) -> Iterator[str]:
    """The passes that a pipeline or a pass called ``name`` runs."""
    for part in PIPELINES.get(name, ()):
        yield from _ran(part.partition("{")[0])
    if name not in PIPELINES:
        yield name


def _section(pass_class: type[Pass]) -> str:
    text = inspect.getdoc(pass_class) or ""
    text = re.sub(r"``(.+?)``", r"`\1`", text)
    text = re.sub(r"^(Needs|Leaves):\s+(.*(?:\n {8}.*)*)", _contract, text, flags=re.MULTILINE)
    return f"#### `{pass_class.name}`\n\n{text}\n{_defaults(pass_class)}\n"


def _contract(found: re.Match[str]) -> str:
    """A line of a list; a list begins after an empty line."""
    return f"- *{found[1]}*: " + re.sub(r"\n {8}", "\n  ", found[2])


def _defaults(pass_class: type[Pass]) -> str:
    defaults = [
        f"`{option.name}`" + ("" if option.default is MISSING else f" = `{option_text(option.default) or '()'}`")
        for option in options_of(pass_class)
    ]
    return f"- *Defaults*: {', '.join(defaults)}\n" if defaults else ""


if __name__ == "__main__":
    PAGE.write_text(with_reference(PAGE.read_text()))
