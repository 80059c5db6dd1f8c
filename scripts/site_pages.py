"""What the documentation site has besides the files of ``docs/``: pages of the Python API and of the tools' options.

MkDocs calls the functions ``on_...`` (``mkdocs.yml``); ``make docs`` builds the site into ``build/site``.
"""

import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROJECT = Path(__file__).parents[1]
_OUTSIDE = re.compile(r"\[([^\]]*)\]\((?:\.\./[^)]*|[\w./-]+\.(?:py|mlir))\)")
_INTERNAL = re.compile(r"\b(?:ipu_mlir|torch_mlir|collections|typing|numpy)(?:\.\w+)*\.(?=\w)")
_MODULES = ("nn", "random", "numpy", "debug", "layers", "optimizers")
"""Of ``ipu_mlir``, with names of their own."""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are generated."""
    from mkdocs.structure.files import File

    for name, text in (("api.md", api_page()), ("options.md", options_page())):
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to files of the project that are no pages become their text."""
    return _OUTSIDE.sub(r"\1", markdown)


def api_page() -> str:
    """The names of ``ipu_mlir`` and of its modules, with signatures and docstrings."""
    import ipu_mlir

    lines = ["# Python API", "", "Generated from the docstrings. `import ipu_mlir as ipu` gives all of it.", ""]
    lines += ["## ipu_mlir", "", *_members("ipu", ipu_mlir, sorted(ipu_mlir.__all__))]
    for name in _MODULES:
        module = importlib.import_module(f"ipu_mlir.{name}")
        public = getattr(module, "__all__", None) or [each for each in vars(module) if not each.startswith("_")]
        lines += [f"## ipu_mlir.{name}", "", inspect.getdoc(module) or "", ""]
        lines += _members(f"ipu.{name}", module, sorted(public))
    return "\n".join(lines) + "\n"


def options_page() -> str:
    """What each tool prints for ``--help``."""
    scripts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["scripts"]
    lines = ["# Options of the tools", "", "What `--help` prints; [tools.md](tools.md) explains them.", ""]
    for tool, function in sorted(scripts.items()):
        command = [sys.executable, "-m", function.partition(":")[0], "--help"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=PROJECT, check=True)
        lines += [f"## {tool}", "", "```", done.stdout.strip(), "```", ""]
    return "\n".join(lines)


def _members(prefix: str, module: Any, names: list[str]) -> Iterator[str]:
    for name in names:
        value = getattr(module, name)
        if inspect.ismodule(value):
            continue
        yield from (f"### {prefix}.{name}", "", *_signature(name, value), *_text(value), "")
        if inspect.isclass(value):
            for method, function in vars(value).items():
                if not method.startswith("_") and callable(function) and inspect.getdoc(function):
                    yield from (f"#### {name}.{method}", "", *_signature(method, function), *_text(function), "")


def _signature(name: str, value: Any) -> list[str]:
    if not callable(value):
        return []
    try:
        text = _INTERNAL.sub("", str(inspect.signature(value)))
    except (TypeError, ValueError):  # of a compiled function
        return []
    return ["```python", f"{name}{text}", "```", ""]


def _text(value: Any) -> list[str]:
    """The docstring as it is, in which indentation says what belongs together."""
    found = inspect.getdoc(value) if callable(value) or inspect.isclass(value) else None
    if not found:
        return []
    first, _, rest = found.partition("\n\n")
    summary = [first.replace("``", "`").replace("<", "&lt;"), ""]
    return [*summary, "```text", rest, "```"] if rest else summary
