"""The frame of the verifiers of ops: when they are asked, and what becomes of errors that they meet."""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from ipu_mlir.dialects.support.bindings import ext
from ipu_mlir.dialects.support.diagnostics import fail
from ipu_mlir.dialects.support.errors import CompileError


def verifier(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """``check`` as the verifier of an op whose operands, results and attributes are those that its class declares.

    Others pass here: MLIR asks next the verifier that it made of the class, which reports what is missing. A
    ``CompileError`` that ``check`` meets is reported at the op: attributes say more than MLIR can check while it
    parses; whoever reads them first finds what is malformed.
    """

    @wraps(check)
    def verified(op: Any) -> bool:
        try:
            return not _is_as_declared(op) or check(op)
        except CompileError as error:
            return fail(op, str(error))

    return verified


@cache
def _declared(kind: type) -> tuple[int | None, int | None, tuple[tuple[str, type], ...]]:
    """Numbers of operands and of results of an op of class ``kind``, None if they vary; classes of its attributes."""
    operands, attributes, results, _ = ext.partition_fields(kind._fields)  # type: ignore[attr-defined]
    num_operands = len(operands) if kind._ODS_OPERAND_SEGMENTS is None else None  # type: ignore[attr-defined]
    num_results = len(results) if kind._ODS_RESULT_SEGMENTS is None else None  # type: ignore[attr-defined]
    kinds = ((each.name, each.constraint if isinstance(each.constraint, type) else object) for each in attributes)
    return num_operands, num_results, tuple(kinds)


def _is_as_declared(op: Any) -> bool:
    num_operands, num_results, classes = _declared(type(op))
    operation = op.operation
    if num_operands not in (None, len(operation.operands)) or num_results not in (None, len(operation.results)):
        return False
    attributes = operation.attributes
    return all(name in attributes and isinstance(attributes[name], kind) for name, kind in classes)
