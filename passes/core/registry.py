"""Passes by name: the table of them, the nearest one to a name that does not exist, and those from a user's file."""

import difflib
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.core.pipeline_text import PipelineError


def suggestion(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` for the nearest known name, or nothing where none is near.

    >>> suggestion("ipu-partiton", ["ipu-partition", "cse"])
    "; did you mean 'ipu-partition'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean '{near[0]}'?" if near else ""


def by_name(pass_classes: Iterable[type[Pass]]) -> Mapping[str, type[Pass]]:
    """Pass classes by their names.

    Raises:
        PipelineError: two of them have one name.
    """
    named: dict[str, type[Pass]] = {}
    for pass_class in pass_classes:
        other = named.setdefault(pass_class.name, pass_class)
        if other is not pass_class:
            modules = f"{other.__module__}.{other.__name__} and {pass_class.__module__}.{pass_class.__name__}"
            raise PipelineError(f"two passes are named '{pass_class.name}': {modules}; rename one")
    return named


def load_passes(path: str | Path) -> tuple[type[Pass], ...]:
    """The pass classes that the Python file ``path`` defines, in its order.

    Raises:
        CompileError: the file is missing, cannot be imported, or defines no pass with a name.
    """
    path = Path(path)
    name = f"ipu_mlir_loaded_pass_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CompileError(f"cannot load passes from {path}: expected a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up there
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        place = (error.filename or str(path), error.lineno or 0, error.offset or 0)
        raise DiagnosedError([Diagnostic(error.msg, *place)]) from error
    except (OSError, ImportError) as error:
        raise CompileError(f"cannot load passes from {path}: {error}") from error
    found = tuple(value for value in vars(module).values() if _is_pass_of(value, name))
    if not found:
        raise CompileError(f"{path} defines no pass; expected a class that derives from Pass and has a name")
    return found


def _is_pass_of(value: object, module: str) -> bool:
    return isinstance(value, type) and issubclass(value, Pass) and value.__module__ == module and hasattr(value, "name")
