"""Calls of generated source that are no arithmetic: assertions and library codelets."""

import numpy as np

from ipu_mlir.dialects.support.errors import RunError


def require(holds: np.ndarray, message: str) -> None:
    """Stop the run unless every element of ``holds`` is true.

    Raises:
        RunError: with ``message``, which is the program's own.
    """
    if not holds.all():
        raise RunError(f"an assertion of the program failed: {message}")


def run_codelet(name: str, operands: tuple[np.ndarray, ...], outputs: tuple[np.ndarray, ...]) -> None:
    """Let library codelet ``name`` work on whole arrays and put what it gives into ``outputs``.

    A codelet that fills the outputs, or updates an operand in place, gives that array: it is the output already.
    """
    from ipu_mlir.dialects.codelets.library import codelet_named  # with all of MLIR, which most programs do not need

    codelet = codelet_named(name)
    assert codelet.vectorised is not None, "generated source calls only what has a fast form"
    taken = (*operands, *outputs) if codelet.fills_outputs else operands
    for result, output in zip(codelet.vectorised(*taken), outputs, strict=True):
        if result is not output:
            np.copyto(output, result)
