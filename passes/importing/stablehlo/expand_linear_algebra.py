"""``ipu-expand-linear-algebra``: factors and solutions of matrices in StableHLO as calls of library codelets."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.read_program_calls import result_types
from ipu_mlir.passes.importing.stablehlo.scalar_regions import Values, replace
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import fill_with, zero
from ipu_mlir.passes.support.rewriting import list_ops

_LAPACK = re.compile(r"lapack_[sd](\w+)_ffi")
_YES = {"lower": ord("L"), "left": ord("L"), "unit": ord("U"), "plain": ord("N")}


@dataclass(frozen=True)
class ExpandLinearAlgebra(Pass):
    """Call library codelets for cholesky and triangular_solve, and for what frameworks call LAPACK or XLA for.

    Those are JAX's ``lapack_*_ffi`` of real matrices (``potrf``, ``getrf``, ``trsm``, ``geqrf``, ``orgqr``, ``syevd``,
    ``gesdd`` and ``gesvd``), and XLA's ``Qr``, ``ProductOfElementaryHouseholderReflectors``, ``Eigh`` and
    ``LuDecomposition``. What they say about success is that there was one: what cannot be done gives NaN.

    Needs:  StableHLO of static shapes.
    Leaves: no such op; each is ``linalg.generic`` with a ``library_call``, between transposes where triangles or sides
            ask for them.
    """

    name = "ipu-expand-linear-algebra"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            found = [(op, expand) for op in list_ops(module) if (expand := _expansion(op)) is not None]
            for op, expand in found:
                with ir.InsertionPoint(op), op.location:
                    _replace(op, expand(op, result_types(op)))


def _replace(op: ir.Operation, values: Values) -> None:
    """``values`` for the results of ``op``, which may be in one tuple, as TensorFlow has it."""
    if len(values) > 1 and len(op.results) == 1:
        for use in list(op.results[0].uses):
            element = use.owner.operation
            replace(element, [values[ir.IntegerAttr(element.attributes["index"]).value]])
        op.erase()
    else:
        replace(op, values)


Types = Sequence[Any]
Expansion = Callable[[ir.Operation, Types], Values]


def is_linear_algebra(op: ir.Operation) -> bool:
    """True if ``op`` is one that library codelets stand for."""
    return _expansion(op) is not None


def _expansion(op: ir.Operation) -> Expansion | None:
    if op.name != "stablehlo.custom_call":
        return _OPS.get(op.name)
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    lapack = _LAPACK.fullmatch(target)
    users = (use.owner.name for result in op.results if isinstance(result.type, ir.TupleType) for use in result.uses)
    if any(name != "stablehlo.get_tuple_element" for name in users):
        return None
    return _CALLS.get(lapack[1] if lapack else f"xla {target}")


def _cholesky(op: ir.Operation, types: Types) -> Values:
    lower = "lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value
    return [_factor(op.operands[0], lower)]


def _potrf(op: ir.Operation, types: Types) -> Values:
    return [_factor(op.operands[0], _says(op, "uplo", "lower")), *_zeros(types[1:])]


def _factor(a: ir.Value, lower: bool) -> ir.Value:
    return _turned(_call("cholesky", [_turned(a, not lower)], [a.type])[0], not lower)


def _getrf(op: ir.Operation, types: Types) -> Values:
    """LAPACK counts rows from 1."""
    factors, pivots, _ = _lu(op, types)
    one = ir.Operation.create("stablehlo.constant", [types[1]], attributes={"value": _splat(types[1], 1)}).results[0]
    return [factors, _stablehlo("add", types[1], pivots, one), *_zeros(types[2:])]


def _lu(op: ir.Operation, types: Types) -> Values:
    *stack, rows, _ = op.operands[0].type.shape
    order = ir.RankedTensorType.get([*stack, rows], types[1].element_type)
    return _call("lu", [op.operands[0]], [*types[:2], order])


def _triangular_solve(op: ir.Operation, types: Types) -> Values:
    left, lower, unit = (ir.BoolAttr(op.attributes[each]).value for each in ("left_side", "lower", "unit_diagonal"))
    transposed = "NO_TRANSPOSE" not in str(op.attributes["transpose_a"])
    a, b = op.operands
    return [_solved(a, b, left, lower, unit, transposed)]


def _trsm(op: ir.Operation, types: Types) -> Values:
    left, lower, unit = _says(op, "side", "left"), _says(op, "uplo", "lower"), _says(op, "diag", "unit")
    a, b = op.operands
    return [_solved(a, b, left, lower, unit, not _says(op, "trans_x", "plain"))]


def _solved(a: ir.Value, b: ir.Value, left: bool, lower: bool, unit: bool, transposed: bool) -> ir.Value:
    """``a x = b``, or ``x a = b``, which is ``a' x' = b'``."""
    turned = transposed == left
    name = f"solve_{'upper' if lower == turned else 'lower'}{'_unit' if unit else ''}"
    right = _turned(b, not left)
    return _turned(_call(name, [_turned(a, turned), right], [right.type])[0], not left)


def _geqrf(op: ir.Operation, types: Types) -> Values:
    return _call("reflections", list(op.operands), types)


def _orgqr(op: ir.Operation, types: Types) -> Values:
    return _call("reflections_product", list(op.operands), types)


def _syevd(op: ir.Operation, types: Types) -> Values:
    a = _turned(op.operands[0], not _says(op, "uplo", "lower"))
    if _says(op, "mode", "plain"):
        return [op.operands[0], *_call("eigvalsh", [a], types[1:2]), *_zeros(types[2:])]
    values, vectors = _call("eigh", [a], [types[1], types[0]])
    return [vectors, values, *_zeros(types[2:])]


def _eigh(op: ir.Operation, types: Types) -> Values:
    """The configuration begins with whether the lower triangle counts."""
    config = ir.StringAttr(op.attributes["backend_config"]).value if "backend_config" in op.attributes else "1"
    values, vectors = _call("eigh", [_turned(op.operands[0], config.startswith("0"))], [types[1], types[0]])
    return [vectors, values]


def _gesdd(op: ir.Operation, types: Types) -> Values:
    """The first result is what LAPACK leaves of the matrix: nobody reads it."""
    a, values = op.operands[0], types[1]
    if _says(op, "mode", "plain"):
        return [a, *_call("svdvals", [a], [values]), *_zeros(types[2:])]
    left, right = types[2:4]
    full = left.shape[-1] == left.shape[-2] and right.shape[-1] == right.shape[-2]
    u, s, vh = _call("svd" if full else "svd_reduced", [a], [left, values, right])
    return [a, s, u, vh, *_zeros(types[4:])]


_OPS: dict[str, Expansion] = {"stablehlo.cholesky": _cholesky, "stablehlo.triangular_solve": _triangular_solve}
_CALLS: dict[str, Expansion] = {
    "potrf": _potrf,
    "getrf": _getrf,
    "trsm": _trsm,
    "geqrf": _geqrf,
    "orgqr": _orgqr,
    "syevd": _syevd,
    "gesdd": _gesdd,
    "gesvd": _gesdd,
    "xla Qr": _geqrf,
    "xla ProductOfElementaryHouseholderReflectors": _orgqr,
    "xla Eigh": _eigh,
    "xla LuDecomposition": _lu,
}
"""What each gives for the op and the types of its results: its operands are floats."""


def _says(op: ir.Operation, name: str, what: str) -> bool:
    """True if a letter of LAPACK in the configuration of a call is the one that says ``what``."""
    config = next(op.attributes[each] for each in ("mhlo.backend_config", "backend_config") if each in op.attributes)
    return int(re.sub(r" :.*", "", str(ir.DictAttr(config)[name]))) == _YES[what]


def _call(name: str, inputs: Values, types: Types) -> Values:
    return call_codelet(name, inputs, [each.shape for each in types], [each.element_type for each in types])


def _turned(value: ir.Value, turned: bool) -> ir.Value:
    """The transpose of each matrix, if ``turned``."""
    if not turned:
        return value
    *stack, rows, columns = value.type.shape
    order = [*range(len(stack)), len(stack) + 1, len(stack)]
    type_ = ir.RankedTensorType.get([*stack, columns, rows], value.type.element_type)
    attributes = {"permutation": ir.DenseI64ArrayAttr.get(order)}
    return ir.Operation.create("stablehlo.transpose", [type_], [value], attributes).results[0]


def _stablehlo(name: str, type_: ir.Type, *operands: ir.Value) -> ir.Value:
    return ir.Operation.create(f"stablehlo.{name}", [type_], list(operands)).results[0]


def _splat(type_: Any, number: int) -> ir.Attribute:
    return ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, number))


def _zeros(types: Types) -> Values:
    """Zeros of all types."""
    made = []
    for type_ in types:
        empty = upstream("tensor").EmptyOp(list(type_.shape), type_.element_type).result
        made.append(fill_with(zero(type_.element_type), empty).results[0])
    return made
