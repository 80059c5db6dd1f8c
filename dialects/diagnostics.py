"""Errors of verifiers and passes, at the op that they speak of."""

from typing import Any


def fail(op: Any, message: str) -> bool:
    """Report ``message`` at ``op``'s location, as MLIR's own verifiers do, and answer False."""
    op.location.emit_error(f"'{op.operation.name}' op {message}")
    return False
