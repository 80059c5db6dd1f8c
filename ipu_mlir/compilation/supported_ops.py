"""What the default pipeline compiles; everything else in a program is listed at once, before anything runs."""

from ipu_mlir.dialects.support.bindings import ADVANCE, ir
from ipu_mlir.dialects.support.diagnostics import Diagnostic, diagnostic_at
from ipu_mlir.specs.tensor_types import ELEMENT_TYPES, dtype_of

_DIALECTS = frozenset({"arith", "bufferization", "builtin", "func", "ipu", "linalg", "math", "memref", "scf", "tensor"})

# Dialects that a program may come in, and what brings it to ours.
_INSTEAD_OF_DIALECT = {
    "cf": "write control flow with scf",
    "chlo": "run ipu-import-stablehlo first",
    "onnx": "compile the ONNX model itself, or bring it to linalg on tensors with onnx-mlir first",
    "stablehlo": "run ipu-import-stablehlo first",
    "torch": "lower it to linalg on tensors with torch-mlir first",
    "tosa": "run tosa-to-linalg-named, tosa-to-linalg, tosa-to-arith and tosa-to-tensor first",
}
_INSTEAD = {
    "scf.forall": "use linalg.generic",
    "scf.parallel": "use linalg.generic",
}


def unsupported_ops(module: ir.Operation) -> list[Diagnostic]:
    """One diagnostic for each op of ``module`` that the default pipeline cannot compile, in program order."""
    found: list[Diagnostic] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if reason := _refusal(op):
            found.append(diagnostic_at(op.location, f"'{op.name}' {reason}"))
        return ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def way_out_of(dialect: str) -> str:
    """The way from a program with ops of a dialect that is not ours to one without."""
    return _INSTEAD_OF_DIALECT.get(dialect, f"programs are made of {', '.join(sorted(_DIALECTS))}")


def _refusal(op: ir.Operation) -> str | None:
    """Why an op cannot be compiled and what to do, or None where it can."""
    dialect = op.name.partition(".")[0]
    if dialect not in _DIALECTS and op.name != "cf.assert":
        return f"is not supported; {way_out_of(dialect)}"
    if op.name in _INSTEAD:
        return f"is not supported; {_INSTEAD[op.name]}"
    return next(filter(None, (_refusal_of_type(result.type) for result in op.results)), None)


def _refusal_of_type(type_: ir.Type) -> str | None:
    element = getattr(type_, "element_type", type_)
    if isinstance(element, ir.IntegerType | ir.IndexType | ir.FloatType | ir.ComplexType) and dtype_of(element) is None:
        return f"gives {type_}, whose elements are not supported; they can be {', '.join(ELEMENT_TYPES)}"
    if isinstance(type_, ir.RankedTensorType | ir.MemRefType) and not type_.has_static_shape:
        return f"gives {type_}, whose sizes are not all known; give the program fixed sizes"
    return None
