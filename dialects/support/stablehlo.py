"""StableHLO in the bindings: its dialects and passes, which are there only for those who ask.

``load(context)`` makes ``stablehlo``, ``chlo`` and ``vhlo`` known to a context, and the passes of all of them.
"""

import re
from functools import cache
from typing import Any

from ipu_mlir.dialects.support.bindings import compiled, ir, passmanager

_MENTION = re.compile(r"\b(?:stablehlo|chlo|vhlo|mhlo)\.\w")
_MENTION_IN_BYTES = re.compile(rb"stablehlo|StableHLO_v|vhlo")
_MARK = re.compile(r'"mhlo\.|\bsdy\.')
_OF_MHLO = re.compile(r"\bmhlo\.(\w+) (%[\w#]+) : (tensor<[^<>]*(?:<[^>]*>)?>)")
_PORTABLE = b"StableHLO_v"


def mentions(content: str | bytes) -> bool:
    """True if text or bytecode has ops of StableHLO, as far as a look at it tells."""
    if isinstance(content, bytes):
        return _MENTION_IN_BYTES.search(content) is not None
    return "hlo." in content and _MENTION.search(content) is not None  # a regular expression crawls over weights


def has_marks(text: str) -> bool:
    """True if text has ops of mhlo or sdy, which nobody registers: copies and functions of TensorFlow, marks of JAX."""
    return ("mhlo." in text or "sdy." in text) and _MARK.search(text) is not None


def with_generic_ops(text: str) -> str:
    """``text`` with the ops of mhlo in the form that every context reads.

    >>> with_generic_ops("%1 = mhlo.copy %0 : tensor<4xf32>")
    '%1 = "mhlo.copy"(%0) : (tensor<4xf32>) -> tensor<4xf32>'
    """
    return _OF_MHLO.sub(r'"mhlo.\1"(\2) : (\3) -> \3', text) if "mhlo." in text else text


def is_portable(content: bytes) -> bool:
    """True if bytecode is a portable artifact: VHLO, of a version that its first bytes say."""
    return _PORTABLE in content[:64]


@cache
def bindings() -> Any:
    """The module of StableHLO's attributes; its passes have names from now on."""
    module = compiled("_stablehlo")
    module.register_stablehlo_passes()
    return module


def load(context: ir.Context) -> None:
    """Make StableHLO known to ``context``. Only passes know how to load the dialects that come before and after it."""
    if context.is_dialect_loaded("stablehlo") and context.is_dialect_loaded("chlo"):
        return
    bindings().register_dialect(context)
    with context, ir.Location.unknown():
        empty = ir.Module.parse("func.func private @f()")
        text = "builtin.module(func.func(stablehlo-complex-math-expander),stablehlo-legalize-to-vhlo)"
        passmanager.PassManager.parse(text).run(empty.operation)


def from_portable(content: bytes, context: ir.Context) -> str:
    """The StableHLO text of a portable artifact.

    Raises:
        ValueError: it is damaged, or of a version that the bindings do not know.
    """
    load(context)
    context.allow_unregistered_dialects = True
    with context:
        return bindings().deserialize_portable_artifact(context, content).operation.get_asm(enable_debug_info=True)
