"""``ipu-check-stablehlo``: everything in a program that cannot be imported, at once."""

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.importing.stablehlo.convert_collectives import COLLECTIVES
from ipu_mlir.passes.importing.stablehlo.expand_linear_algebra import is_linear_algebra
from ipu_mlir.passes.importing.stablehlo.read_program_calls import broken_call, broken_symbols, is_program_call
from ipu_mlir.passes.importing.stablehlo.simplify_stablehlo import (
    IDENTITIES,
    is_identity_call,
    is_top_k,
    sets_whole_size,
)
from ipu_mlir.passes.importing.stablehlo.split_complex import is_splittable
from ipu_mlir.passes.support.rewriting import list_ops

_DIALECTS = frozenset({"stablehlo", "chlo", "mhlo", "vhlo", "sdy"})
_MARKS = frozenset({"mhlo.copy", "mhlo.erf", "sdy.mesh", "sdy.sharding_constraint"})
_REFUSED = {
    **dict.fromkeys(["stablehlo.recv", "stablehlo.send"], "passes values to another program; give them as arguments"),
    "stablehlo.infeed": "reads from a queue of the framework; give what it reads as an argument",
    "stablehlo.outfeed": "writes to a queue of the framework; return what it writes",
    **dict.fromkeys(
        [f"stablehlo.{name}" for name in ("get_dimension_size", "map", "tuple")],
        "is not imported; write the program without it",
    ),
    **dict.fromkeys(
        ["stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"],
        "works on quantized types; write the integers and scales as tensors",
    ),
}
_COMPLEX = "is not imported for complex numbers; write it with their real and imaginary parts"


class CheckStablehlo(Pass):
    """Refuse StableHLO ops that cannot be imported, and report all of them at once.

    Needs:  StableHLO, as it comes in.
    Leaves: the program as it was.
    """

    name = "ipu-check-stablehlo"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            calls = []
            for op in list_ops(module):
                reason = broken_call(op) if is_program_call(op) else _reason(op)
                if reason is not None:
                    refuse(op, reason)
                elif is_program_call(op):
                    calls.append(op)
            for op, reason in broken_symbols(calls, module):
                refuse(op, reason)


def _reason(op: ir.Operation) -> str | None:
    """Why ``op`` cannot be imported."""
    dialect, _, name = op.name.partition(".")
    if dialect not in _DIALECTS:
        return None
    if op.name in _REFUSED:
        return _REFUSED[op.name]
    if op.name in IDENTITIES:
        return None
    if dialect in ("mhlo", "sdy", "vhlo") and op.name not in _MARKS:
        return f"is no op of StableHLO; export the program as StableHLO without {dialect}"
    if name == "custom_call" and not (is_identity_call(op) or is_linear_algebra(op) or is_top_k(op)):
        return f"calls {op.attributes['call_target_name']}, which only the framework's own library has"
    if name == "get_tuple_element" and isinstance(op.operands[0].owner, ir.Block):
        return "takes an argument apart; export the program with tensors one by one"
    if name == "set_dimension_size" and not sets_whole_size(op):
        return "sets a size that depends on data; the sizes of a program are fixed when it is compiled"
    if op.name in COLLECTIVES or (op.parent is not None and op.parent.operation.name in COLLECTIVES):
        return None  # ipu-convert-collectives says what it cannot write
    types = [value.type for value in (*op.operands, *op.results)]
    shaped = [kind for kind in types if isinstance(kind, ir.RankedTensorType)]
    if any(isinstance(kind.element_type, ir.ComplexType) for kind in shaped) and not is_splittable(op):
        return _COMPLEX
    dynamic = next((kind for kind in shaped if not kind.has_static_shape), None)
    return dynamic and f"has {dynamic}, whose sizes are not all known; export the program for fixed sizes"
