"""Passes by name: the table of them, and the nearest one to a name that does not exist."""

import difflib
from collections.abc import Iterable, Mapping

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
