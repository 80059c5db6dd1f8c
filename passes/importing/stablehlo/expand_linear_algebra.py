"""``ipu-expand-linear-algebra``: factors and solutions of matrices in StableHLO as calls of library codelets."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.importing.stablehlo.builders import full, half_of, stablehlo_op, transposed
from ipu_mlir.passes.importing.stablehlo.read_program_calls import result_types
from ipu_mlir.passes.importing.stablehlo.scalar_regions import Values
from ipu_mlir.passes.support.codelet_calls import call_codelet
from ipu_mlir.passes.support.linalg_builders import fill_with, zero
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_LAPACK = re.compile(r"lapack_([sdcz])(\w+)_ffi")
_YES = {"lower": ord("L"), "left": ord("L"), "unit": ord("U"), "plain": ord("N"), "adjoint": ord("C")}


class ExpandLinearAlgebra(Pass):
    """Call library codelets for cholesky and triangular_solve, and for what frameworks call LAPACK or XLA for.

    Those are JAX's ``lapack_*_ffi`` (``potrf``, ``getrf``, ``trsm``, ``gtsv``, ``geqrf``, ``orgqr``, ``syevd``,
    ``gesdd``, ``gesvd`` and ``geev`` without left vectors; of complex matrices, which come as pairs, too), and XLA's
    ``Qr``, ``ProductOfElementaryHouseholderReflectors``, ``Eigh`` and ``LuDecomposition`` of real ones. What they say
    about success is that there was one: what cannot be done gives NaN.

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
            replace_op(element, [values[ir.IntegerAttr(element.attributes["index"]).value]])
        op.erase()
    else:
        replace_op(op, values)


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
    if lapack and lapack[2] == "geev" and not _says(op, "compute_left", "plain"):
        return None
    return _CALLS.get(lapack[2] if lapack else f"xla {target}")


def _is_complex(op: ir.Operation) -> bool:
    """True if the matrices of ``op`` are of complex numbers: pairs, in one dimension more."""
    target = ir.StringAttr(op.attributes["call_target_name"]).value if "call_target_name" in op.attributes else ""
    lapack = _LAPACK.fullmatch(target)
    return lapack is not None and lapack[1] in "cz"


def _cholesky(op: ir.Operation, types: Types) -> Values:
    lower = "lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value
    return [_factor(op, op.operands[0], lower)]


def _potrf(op: ir.Operation, types: Types) -> Values:
    return [_factor(op, op.operands[0], _says(op, "uplo", "lower")), *_zeros(types[1:])]


def _factor(op: ir.Operation, a: ir.Value, lower: bool) -> ir.Value:
    a = _with_gradient(a)
    if lower:
        return _call(op, "cholesky", [a], [a.type])[0]
    return _adjoint(op, _call(op, "cholesky", [_adjoint(op, a)], [a.type])[0])


def _getrf(op: ir.Operation, types: Types) -> Values:
    """LAPACK counts rows from 1."""
    factors, pivots, _ = _lu(op, types)
    return [factors, stablehlo_op("stablehlo.add", types[1], [pivots, full(types[1], 1)]), *_zeros(types[2:])]


def _lu(op: ir.Operation, types: Types) -> Values:
    shape = op.operands[0].type.shape
    *stack, rows, _ = shape[:-1] if _is_complex(op) else shape
    order = ir.RankedTensorType.get([*stack, rows], types[1].element_type)
    return _call(op, "lu", [_with_gradient(op.operands[0])], [*types[:2], order])


def _with_gradient(matrix: ir.Value) -> ir.Value:
    """``matrix``, or what it stops: JAX solves with factors of a stopped matrix, and a rule that StableHLO has not."""
    moved = defining_op(matrix, "stablehlo.transpose")
    stop = defining_op(matrix if moved is None else moved.operands[0], "ipu.stop_gradient")
    if stop is None:
        return matrix
    if moved is None:
        return stop.operands[0]
    copied = moved.clone()
    copied.operands[0] = stop.operands[0]
    return copied.results[0]


def _triangular_solve(op: ir.Operation, types: Types) -> Values:
    left, lower, unit = (ir.BoolAttr(op.attributes[each]).value for each in ("left_side", "lower", "unit_diagonal"))
    transposed = "NO_TRANSPOSE" not in str(op.attributes["transpose_a"])
    return [_solved(op, left, lower, unit, transposed)]


def _trsm(op: ir.Operation, types: Types) -> Values:
    left, lower, unit = _says(op, "side", "left"), _says(op, "uplo", "lower"), _says(op, "diag", "unit")
    conjugates = _is_complex(op) and _says(op, "trans_x", "adjoint")
    return [_solved(op, left, lower, unit, not _says(op, "trans_x", "plain"), conjugates)]


def _solved(
    op: ir.Operation, left: bool, lower: bool, unit: bool, transposed: bool, conjugates: bool = False
) -> ir.Value:
    """``a x = b``, or ``x a = b``, which is ``a' x' = b'``."""
    a, b = op.operands
    turned = transposed == left
    name = f"solve_{'upper' if lower == turned else 'lower'}{'_unit' if unit else ''}"
    right = b if left else _turned(op, b)
    a = _conjugate(a) if conjugates else a
    (found,) = _call(op, name, [_turned(op, a) if turned else a, right], [right.type])
    return found if left else _turned(op, found)


def _gtsv(op: ir.Operation, types: Types) -> Values:
    """The first results are what LAPACK leaves of the diagonals: nobody reads them."""
    return [*op.operands[:3], *_call(op, "solve_tridiagonal", list(op.operands), types[3:4]), *_zeros(types[4:])]


def _geqrf(op: ir.Operation, types: Types) -> Values:
    return _call(op, "reflections", list(op.operands), types)


def _orgqr(op: ir.Operation, types: Types) -> Values:
    return _call(op, "reflections_product", list(op.operands), types)


def _syevd(op: ir.Operation, types: Types) -> Values:
    a = op.operands[0] if _says(op, "uplo", "lower") else _adjoint(op, op.operands[0])
    if _says(op, "mode", "plain"):
        return [op.operands[0], *_call(op, "eigvalsh", [a], types[1:2]), *_zeros(types[2:])]
    values, vectors = _call(op, "eigh", [a], [types[1], types[0]])
    return [vectors, values, *_zeros(types[2:])]


def _eigh(op: ir.Operation, types: Types) -> Values:
    """The configuration begins with whether the lower triangle counts."""
    config = ir.StringAttr(op.attributes["backend_config"]).value if "backend_config" in op.attributes else "1"
    a = _adjoint(op, op.operands[0]) if config.startswith("0") else op.operands[0]
    values, vectors = _call(op, "eigh", [a], [types[1], types[0]])
    return [vectors, values]


def _geev(op: ir.Operation, types: Types) -> Values:
    """Of real matrices the values come as two results, for their parts. Nobody reads the left vectors."""
    a, *parts = op.operands[0], *types[: -3 if _is_complex(op) else 2]
    left, vectors, info = types[-3:]
    pairs = parts[0] if _is_complex(op) else ir.RankedTensorType.get([*parts[0].shape, 2], parts[0].element_type)
    if _says(op, "compute_right", "plain"):
        (values,), right = _call(op, "eigvals", [a], [pairs]), _zeros([vectors])[0]
    else:
        values, right = _call(op, "eig", [a], [pairs, vectors])
    apart = [values] if _is_complex(op) else [half_of(values, which) for which in range(2)]
    return [*apart, *_zeros([left]), right, *_zeros([info])]


def _gesdd(op: ir.Operation, types: Types) -> Values:
    """The first result is what LAPACK leaves of the matrix: nobody reads it."""
    a, values = op.operands[0], types[1]
    if _says(op, "mode", "plain"):
        return [a, *_call(op, "svdvals", [a], [values]), *_zeros(types[2:])]
    left, right = types[2:4]
    rows = len(values.shape) - 1
    full = left.shape[rows] == left.shape[rows + 1] and right.shape[rows] == right.shape[rows + 1]
    u, s, vh = _call(op, "svd" if full else "svd_reduced", [a], [left, values, right])
    return [a, s, u, vh, *_zeros(types[4:])]


_OPS: dict[str, Expansion] = {"stablehlo.cholesky": _cholesky, "stablehlo.triangular_solve": _triangular_solve}
_CALLS: dict[str, Expansion] = {
    "potrf": _potrf,
    "getrf": _getrf,
    "trsm": _trsm,
    "gtsv": _gtsv,
    "geqrf": _geqrf,
    "orgqr": _orgqr,
    "syevd": _syevd,
    "gesdd": _gesdd,
    "gesvd": _gesdd,
    "geev": _geev,
    "heevd": _syevd,
    "ungqr": _orgqr,
    "xla Qr": _geqrf,
    "xla ProductOfElementaryHouseholderReflectors": _orgqr,
    "xla Eigh": _eigh,
    "xla LuDecomposition": _lu,
}
"""What each gives for the op and the types of its results: its operands are floats, or pairs of them."""


def _says(op: ir.Operation, name: str, what: str) -> bool:
    """True if a letter of LAPACK in the configuration of a call is the one that says ``what``."""
    found = [op.attributes[each] for each in ("mhlo.backend_config", "backend_config") if each in op.attributes]
    config = ir.DictAttr(found[0]) if found and isinstance(found[0], ir.DictAttr) else {}
    return name in config and int(re.sub(r" :.*", "", str(config[name]))) == _YES[what]


def _call(op: ir.Operation, name: str, inputs: Values, types: Types) -> Values:
    whole = f"{name}_complex" if _is_complex(op) else name
    return call_codelet(whole, inputs, [each.shape for each in types], [each.element_type for each in types])


def _turned(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The transpose of each matrix."""
    order, last = list(range(value.type.rank)), -2 if _is_complex(op) else -1
    order[last], order[last - 1] = order[last - 1], order[last]
    return transposed(value, order)


def _adjoint(op: ir.Operation, value: ir.Value) -> ir.Value:
    """The transpose of each matrix, of conjugate numbers if they are complex."""
    return _turned(op, _conjugate(value) if _is_complex(op) else value)


def _conjugate(pairs: ir.Value) -> ir.Value:
    element = pairs.type.element_type
    kind = ir.RankedTensorType.get([2], element)
    signs = ir.DenseElementsAttr.get([ir.FloatAttr.get(element, each) for each in (1.0, -1.0)], kind)
    both = ir.Operation.create("stablehlo.constant", [kind], attributes={"value": signs}).results[0]
    along = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([len(pairs.type.shape) - 1])}
    wide = ir.Operation.create("stablehlo.broadcast_in_dim", [pairs.type], [both], along).results[0]
    return stablehlo_op("stablehlo.multiply", pairs.type, [pairs, wide])


def _zeros(types: Types) -> Values:
    """Zeros of all types."""
    made = []
    for type_ in types:
        empty = upstream("tensor").EmptyOp(list(type_.shape), type_.element_type).result
        made.append(fill_with(zero(type_.element_type), empty).results[0])
    return made
