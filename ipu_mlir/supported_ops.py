"""What the default pipeline compiles; everything else in a program is listed at once, before anything runs."""

from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.diagnostics import DiagnosedError, Diagnostic, diagnostic_at

_DIALECTS = frozenset({"arith", "builtin", "func", "ipu", "linalg", "math", "memref", "scf", "tensor"})

# Ops of these dialects that have no place on the machine, and what to write instead.
_INSTEAD = {
    "tensor.generate": "use linalg.generic with linalg.index",
    "scf.parallel": "use linalg.generic",
    "scf.forall": "use linalg.generic",
    "scf.reduce": "use a reduction loop of linalg.generic",
}
_INSTEAD_OF_DIALECT = {
    "stablehlo": "run stablehlo-legalize-to-linalg first",
    "chlo": "run chlo-legalize-to-stablehlo and stablehlo-legalize-to-linalg first",
    "tosa": "run tosa-to-linalg first",
    "torch": "lower it with torch-mlir to linalg-on-tensors first",
}


def unsupported_ops(module: ir.Operation) -> list[Diagnostic]:
    """One diagnostic for each op of ``module`` that the default pipeline cannot compile, in program order."""
    found: list[Diagnostic] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if reason := _refusal(op.name):
            found.append(diagnostic_at(op.location, f"'{op.name}' is not supported; {reason}"))
        return ir.WalkResult.ADVANCE

    module.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def check_supported(module: ir.Operation) -> None:
    """Refuse ``module`` with the list of all its unsupported ops.

    Raises:
        DiagnosedError: one line per op, with its file, line and column.
    """
    if found := unsupported_ops(module):
        raise DiagnosedError(found)


def _refusal(name: str) -> str | None:
    """Why an op cannot be compiled and what to do, or None where it can."""
    dialect = name.partition(".")[0]
    if dialect not in _DIALECTS:
        return _INSTEAD_OF_DIALECT.get(dialect, f"programs are made of {', '.join(sorted(_DIALECTS))}")
    return _INSTEAD.get(name)
