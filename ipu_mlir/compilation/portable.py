"""Programs that go from one process to another: what their pickles hold."""

import io
import pickle
from typing import Any

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support import stablehlo
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError


class NotPortableError(CompileError, pickle.PicklingError):
    """An executable holds something that no other process could make again."""


def portable(what: str, value: Any) -> Any:
    """``value``, which a pickle is going to hold.

    Raises:
        NotPortableError: it cannot be pickled; calls it ``what``.
    """
    try:
        pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        raise NotPortableError(
            f"the executable cannot be pickled, because {what} cannot: {error}; functions and classes that it names "
            "have to stand at the top of a module"
        ) from error
    return value


def bytecode_of(module: ir.Module | ir.Operation) -> bytes:
    """``module`` for ``module_of``."""
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


def module_of(bytecode: bytes) -> ir.Module:
    """The module that was written as ``bytecode``, in a context of its own."""
    context = ipu.context()
    if stablehlo.mentions(bytecode):
        stablehlo.load(context)
    with context:
        return ir.Module.parse(bytecode)  # whoever unpickles trusts more than this
