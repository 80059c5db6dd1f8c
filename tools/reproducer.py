"""A file that shows a failing pass again: what the pipeline got, and the pipeline, as ``mlir-opt`` writes them."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ipu_mlir.tools.command_line import UsageError, write_output

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir
    from ipu_mlir.dialects.support.parsing import Source
    from ipu_mlir.passes.core.pipeline_steps import Step

_PLUGIN = "// plugin: "
"""Begins a line that names a plugin of the pipeline."""
_SECTION = """
{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: %s,
      disable_threading: true,
      verify_each: %s
    }
  }
#-}
"""
_WRITTEN = re.compile(
    r"\n\{-#\s*external_resources:\s*\{\s*mlir_reproducer:\s*\{"
    r'\s*pipeline:\s*(?P<pipeline>"(?:[^"\\]|\\.)*")(?:,\s*disable_threading:\s*\w+)?(?:,\s*verify_each:\s*\w+)?,?'
    r"\s*\}\s*\}\s*#-\}\s*$"
)


def pipeline_of(steps: "Sequence[Step]") -> str:
    """The text of ``steps``, as ``--pass-pipeline`` takes it."""
    return f"builtin.module({','.join(step.text for step in steps)})"


@contextmanager
def reproducer(
    path: str | None, module: "ir.Module", steps: "Sequence[Step]", verify: bool, plugins: Sequence[str] = ()
) -> Iterator[None]:
    """Leave a file ``path`` if the block, which runs ``steps`` on ``module``, fails or ends the process.

    It is written first, for a pass in C++ that crashes never comes back; if all goes well, what was there is put back.

    Raises:
        UsageError: ``path`` is no file.
        IpuError: it cannot be written.
    """
    if path is None:
        yield
        return
    from ipu_mlir.dialects.support.printing import to_text

    file = Path(path).resolve()
    if path == "-" or (file.exists() and not file.is_file()):
        raise UsageError(f"--mlir-pass-pipeline-crash-reproducer needs a file, and {path} is none")
    before = _content(file)
    section = _SECTION % (json.dumps(pipeline_of(steps)), str(verify).lower())
    about = f"// configuration: ipu-opt --run-reproducer {' '.join(path.split())}\n"
    about += "".join(f"{_PLUGIN}{plugin_path(each)}\n" for each in plugins)
    write_output(path, about + to_text(module, locations=True) + section)
    yield
    if before is None:
        file.unlink(missing_ok=True)
    else:
        write_output(path, before)


def _content(file: Path) -> bytes | None:
    from ipu_mlir.dialects.support.errors import IpuError

    try:
        return file.read_bytes() if file.exists() else None
    except OSError as error:
        raise IpuError(f"cannot read {file}, which the reproducer replaces for a while: {error.strerror}") from error


def plugin_path(name: str) -> str:
    """A plugin as another folder finds it: files by their whole path, modules by name."""
    return str(Path(name).resolve()) if name.endswith(".py") else name


def plugins_of(source: "Source") -> list[str]:
    """The plugins that a file of ``reproducer`` names."""
    text = source.content if isinstance(source.content, str) else ""
    return [line.removeprefix(_PLUGIN) for line in text.splitlines()[:100] if line.startswith(_PLUGIN)]


def check_plugins(plugins: Sequence[str], loaded: Sequence[str], file: str) -> None:
    """Refuse a pipeline whose plugins are not loaded: a plugin is code, and the file may be somebody else's.

    Raises:
        UsageError: one is not; the message names the flags.
    """
    missing = [each for each in plugins if each not in map(plugin_path, loaded)]
    if missing:
        flags = " ".join(f"--load {each}" for each in missing)
        raise UsageError(
            f"{file} was written with plugins; add {flags}, or --trust-reproducer, which loads what the file names"
        )


def check_inside(steps: "Sequence[Step]", file: str) -> None:
    """Refuse ``steps`` of a file of somebody else if one of them reaches out of the program.

    Raises:
        IpuError: one does; the message says how, and gives the way out.
    """
    from ipu_mlir.dialects.support.errors import IpuError
    from ipu_mlir.passes.core.outside_passes import outside

    for name, reason in outside(steps):
        raise IpuError(
            f"the pipeline of {file} has the pass '{name}', which {reason}; if you trust whoever wrote the file, add "
            "--trust-reproducer"
        )


def read_reproducer(source: "Source") -> "tuple[Source, str]":
    """The program of a file that ``reproducer`` or ``mlir-opt`` wrote, and the pipeline.

    Raises:
        UsageError: the file is none.
    """
    found = _WRITTEN.search(source.content) if isinstance(source.content, str) else None
    if found is None:
        raise UsageError(f"--run-reproducer: {source.name} does not end in a mlir_reproducer section with a pipeline")
    try:
        return replace(source, content=source.content[: found.start() + 1]), json.loads(found["pipeline"])
    except json.JSONDecodeError as error:
        raise UsageError(f"--run-reproducer: {source.name} has no readable pipeline: {error}") from error
