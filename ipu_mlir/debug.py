"""Look into programs that run: show values, and stop where something does not hold.

    ipu.debug.print("loss {}", loss)
    ipu.debug.check(np.all(x > 0), "x is positive")
    ipu.debug.check_finite(gradients, "gradients")

Outside of traced functions they do the same at once.
"""

import string
import sys
from typing import Any

import numpy as np

from ipu_mlir.dialects.ops.print import PrintOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.specs.tensor_types import kind_of
from ipu_mlir.tracing import emit
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError, located
from ipu_mlir.tracing.graph import Symbol
from ipu_mlir.tracing.pairs import as_pairs, is_complex
from ipu_mlir.tracing.structure import flatten, paths
from ipu_mlir.tracing.user_places import user_place


def print(form: str, *args: Any, **kwargs: Any) -> None:
    """Show tensors on standard error each time that the program comes by: a line for each field of ``form``.

    ``ipu.debug.print("x {} y {y}", x, y=y)`` shows ``x: [1. 2.]`` and ``y: 3.0``.

    Raises:
        TraceTypeError: ``form`` has other fields than values are given, or says how to format one.
    """
    located("ipu.debug.print", _print, form, args, kwargs)


def check(condition: Any, message: str = "a check failed") -> None:
    """Let the run fail with ``message`` and this line unless ``condition``, all of it, holds.

    Raises:
        RunError: outside of traced functions, it does not hold; in them, when the program runs.
    """
    if not isinstance(condition, Symbol):
        if not np.all(condition):
            raise RunError(f"{user_place()}: {message}")
        return
    held: Any = np.all(condition) if condition.shape else condition.astype(np.bool_)  # type: ignore[attr-defined]
    emit.check("check", held, message)


def check_finite(value: Any, name: str = "value") -> None:
    """Let the run fail where an element of the tensors in ``value`` is NaN or infinite.

    Raises:
        RunError: as ``check``; the message names the tensor.
    """
    structure, leaves = flatten(value, name)
    for path, leaf in zip(paths(structure), leaves, strict=True):
        if is_complex(leaf) or kind_of(leaf.dtype) == "f":
            check(np.all(np.isfinite(leaf)), f"{path or name} is not finite")


def _print(form: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    position = iter(args)
    used: set[str] = set()
    for text, field, how, conversion in string.Formatter().parse(form):
        if field is None:
            raise TraceTypeError(f"ipu.debug.print({form!r}): text after the last field; put it before a field")
        if how or conversion or (field and field not in kwargs):
            raise TraceTypeError(f"ipu.debug.print({form!r}): a field is {{}} or {{name}}, got '{field}' with '{how}'")
        try:
            value = kwargs[field] if field else next(position)
        except StopIteration:
            raise TraceTypeError(f"ipu.debug.print({form!r}) has more fields than the {len(args)} values") from None
        used.add(field)
        _show(text.strip().rstrip(":= ") or field or "value", value)
    if next(position, None) is not None or kwargs.keys() - used:
        raise TraceTypeError(f"ipu.debug.print({form!r}) has fewer fields than there are values")


def _show(label: str, value: Any) -> None:
    if not isinstance(value, Symbol):
        shown = " ".join(np.array2string(np.asarray(value), threshold=100).split()).replace("[ ", "[")
        sys.stderr.write(f"{label}: {shown}\n")
        return
    if 0 in value.shape:
        raise TraceValueError(f"ipu.debug.print of {value}: there are no elements to show")
    shown = as_pairs(value) if is_complex(value) else value
    with shown.program.emit("print"):
        op = PrintOp(value=shown.value, label=ir.StringAttr.get(label))
        if shown.dtype.kind == "u":
            op.operation.attributes["unsigned"] = ir.UnitAttr.get()
