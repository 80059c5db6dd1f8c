"""``--version``: what runs."""

import io
import re
from importlib.metadata import version

_PRODUCER = re.compile(rb"MLIR([\w.+-]+)\0")
"""The version of LLVM, as MLIR writes it into the head of bytecode; the bindings have no other word for it."""


def version_text(tool: str) -> str:
    """The versions of the tool, of the wheel with MLIR, and of the LLVM in it."""
    from ipu_mlir.dialects.support.bindings import ir

    buffer = io.BytesIO()
    with ir.Context():
        ir.Module.parse("").operation.write_bytecode(buffer)
    producer = _PRODUCER.search(buffer.getvalue())
    llvm = f" (LLVM {producer[1].decode()})" if producer else ""
    return f"{tool} (ipu-mlir) {version('ipu-mlir')}\nMLIR of torch-mlir {version('torch-mlir')}{llvm}\n"
