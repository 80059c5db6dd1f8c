"""ONNX models by torch-mlir: from its ``torch`` dialect to linalg on tensors."""

import io
import logging
import os
import threading
from collections.abc import Callable

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir, passmanager, upstream
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic, collect, diagnostic_at
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.trial import step_is_done, tried
from ipu_mlir.passes.core.manager import run_steps
from ipu_mlir.passes.core.pipeline_steps import PassStep
from ipu_mlir.passes.core.pipeline_text import parse_pipeline, pipeline_text
from ipu_mlir.passes.importing.convert_globals import ConvertGlobals
from ipu_mlir.passes.importing.expand_tm_tensor import ExpandTmTensor
from ipu_mlir.passes.importing.slice_pads import SlicePads
from ipu_mlir.passes.importing.widen_integers import WidenIntegers
from ipu_mlir.passes.support.rewriting import list_ops

_LOG = logging.getLogger("ipu_mlir")
_SECONDS, _BYTES = 30, 32 << 30
_QUIET_SECONDS = 30
"""After which the log says that an import is still under way."""
LONGEST = "IPU_IMPORT_SECONDS"
"""The environment variable that says how many seconds of processor time a pass of an import may take."""
_FAILED = b"\0"  # with which no bytecode begins
_PIPELINES = (
    "torch-onnx-to-torch-backend-pipeline{backend-legal-ops=aten.flatten.using_ints,aten.unflatten.int}",
    "torch-backend-to-linalg-on-tensors-backend-pipeline",
)


def context() -> ir.Context:
    """A context that knows torch, and what it becomes; the scatters and sorts among that come with a pass only."""
    fresh = ipu.context()
    upstream("torch").register_dialect(fresh)
    with fresh, ir.Location.unknown():
        empty = ir.Module.parse("func.func private @f()")
        passmanager.PassManager.parse("builtin.module(func.func(convert-torch-to-tmtensor))").run(empty.operation)
    return fresh


def import_safely(name: str, make: Callable[[], ir.Module]) -> ir.Module:
    """The module that ``make`` makes, in a child since importers may end the process, read in a context without torch.

    Args:
        name: of the file, or what stands for it.

    Raises:
        DiagnosedError: it cannot be imported, or a pass takes longer than the environment allows.
        CompileError: the environment does not say how long that is.
    """
    seconds = _longest()
    waiting = threading.Timer(_QUIET_SECONDS, _LOG.warning, [_STILL, _QUIET_SECONDS, seconds, LONGEST])
    waiting.daemon = True
    waiting.start()
    try:
        ending, said = tried(lambda: _outcome(make), seconds, _BYTES)
    finally:
        waiting.cancel()
    if ending.startswith("it takes longer"):
        ending += f" in one pass; set {LONGEST} to wait for it longer, or import it in parts"
    if ending or said.startswith(_FAILED):
        reason = ending or said.removeprefix(_FAILED).decode(errors="replace")
        raise DiagnosedError([Diagnostic(f"torch-mlir cannot import the ONNX model: {reason}", name)])
    with ipu.context():
        return ir.Module.parse(said)


_STILL = (
    "the import of the ONNX model by torch-mlir takes longer than %d s; it ends if one pass takes more than %d s (%s)"
)


def _longest() -> int:
    text = os.environ.get(LONGEST, str(_SECONDS))
    if not text.isdecimal() or int(text) == 0:
        raise CompileError(
            f"{LONGEST} is {text!r} in the environment; expected a number of seconds, such as {_SECONDS}"
        )
    return int(text)


def _outcome(make: Callable[[], ir.Module]) -> bytes:
    """What ``make`` makes, as bytecode, or why it fails."""
    try:
        buffer = io.BytesIO()
        make().operation.write_bytecode(buffer)
        return buffer.getvalue()
    except Exception as error:  # of any kind: importers raise what they like
        return _FAILED + (" ".join(str(error).split())[:1000] or type(error).__name__).encode(errors="replace")


def lower(module: ir.Module) -> None:
    """Bring ``module`` to linalg on tensors in place, by pipelines of torch-mlir.

    Raises:
        DiagnosedError: one of them fails, with the errors at its ops.
    """
    with module.context, collect(module.context) as errors:
        for pipeline in _PIPELINES:
            whole = passmanager.PassManager.parse(f"builtin.module({pipeline})")
            for element in parse_pipeline(str(whole)):
                step_is_done()
                text = pipeline_text([element])
                try:
                    passmanager.PassManager.parse(text).run(module.operation)
                except ir.MLIRError as error:
                    raise DiagnosedError(errors or [Diagnostic(str(error))]) from error
                if "convert-torch-to-linalg" in text:  # canonicalization adds up the paddings that it makes
                    SlicePads().run(module.operation)
    run_steps(module.operation, [PassStep(ConvertGlobals()), PassStep(ExpandTmTensor()), PassStep(WidenIntegers())])
    left = [op for op in list_ops(module.operation) if op.name.partition(".")[0] in ("torch", "tm_tensor")]
    if left:
        raise DiagnosedError(diagnostic_at(op.location, f"'{op.name}' is not known to ipu-mlir") for op in left)
