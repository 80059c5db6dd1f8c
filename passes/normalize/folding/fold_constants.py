"""``ipu-fold-constants``: what follows from small constants whose elements differ is one of them."""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import ELEMENT_TYPES, element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.normalize.folding.constant_arrays import Array, array_of, dense_of
from ipu_mlir.passes.normalize.folding.moves import MOVES
from ipu_mlir.passes.normalize.folding.nests import result_of
from ipu_mlir.passes.support.clone import operands_from_outside
from ipu_mlir.passes.support.rewriting import has_uses, list_ops


@dataclass(frozen=True)
class FoldConstants(Pass):
    """Compute what follows from small constants whose elements differ, to the bits that the program would compute.

    Element-wise ops, casts, transposes, gathers, reductions that are exact in any order, slices, concatenations and
    reshapes. Functions such as ``exp``, whose last bit depends on who computes them, and sums that are rounded stay.

    Option: ``most-bytes`` of an operand or a result.

    Needs:  linalg on tensors; what is alike in every element is a fill (``ipu-raise-splats``).
    Leaves: no such op on constants whose result takes no more bytes than they do.
    """

    name = "ipu-fold-constants"

    most_bytes: int = 65536

    def run(self, module: ir.Operation) -> None:
        with module.context:
            pending = [op for op in list_ops(module, "arith.constant") if self._is_small_table(op)]
            for op in pending:  # grows
                for user in _users(op):
                    made = self._folded(user)
                    if made is not None:
                        pending.append(made)
            for op in reversed(pending):
                if not has_uses(op):
                    op.erase()

    def _is_small_table(self, op: ir.Operation) -> bool:
        """True if ``op`` is a small constant tensor of elements that differ."""
        value = op.attributes["value"]
        return isinstance(value, ir.DenseElementsAttr) and not value.is_splat and self._is_small(value.type)

    def _is_small(self, type_: ir.Type) -> bool:
        return _is_of_host(type_) and _bytes(type_) <= self.most_bytes

    def _folded(self, op: ir.Operation) -> ir.Operation | None:
        """The constant that now stands in the place of ``op``; None if there is none."""
        compute = result_of if is_structured(op) else MOVES.get(op.name)
        kind: Any = op.results[0].type if compute is not None and len(op.results) == 1 else None
        if compute is None or not self._is_small(kind):
            return None
        tables = [value for value in dict.fromkeys(operands_from_outside(op)) if _is_table(value)]
        if not 0 < _bytes(kind) <= sum(_bytes(value.type) for value in tables):
            return None
        found = compute(op, self._array)
        if found is None:
            return None
        with ir.InsertionPoint(op), op.location:
            made = upstream("arith").ConstantOp(kind, dense_of(found, kind))
        op.results[0].replace_all_uses_with(made.result)
        op.erase()
        return made.operation

    def _array(self, value: ir.Value) -> Array | None:
        """The elements of a constant, or of a tensor that is filled with one."""
        constant = constant_of(value)
        if constant is not None:
            is_table = isinstance(constant, ir.DenseElementsAttr) and not constant.is_splat
            return None if is_table and not self._is_small(constant.type) else array_of(constant)
        fill = defining_op(value, "linalg.fill")
        number = None if fill is None else constant_of(fill.operands[0])
        if number is None or not _is_of_host(value.type) or number.type != value.type.element_type:
            return None
        array = array_of(number)
        return None if array is None else np.broadcast_to(array, tuple(value.type.shape))


def _is_of_host(type_: Any) -> bool:
    """True for tensors of static shape that the host has arrays for."""
    is_static = isinstance(type_, ir.RankedTensorType) and type_.has_static_shape
    return is_static and str(type_.element_type) in ELEMENT_TYPES


def _bytes(type_: Any) -> int:
    return prod(type_.shape) * element_type(str(type_.element_type)).bytes


def _is_table(value: ir.Value) -> bool:
    constant = constant_of(value)
    return isinstance(constant, ir.DenseElementsAttr) and not constant.is_splat and _is_of_host(constant.type)


def _users(op: ir.Operation) -> list[ir.Operation]:
    """The ops that read the result of ``op``, as operands or in their bodies; each once."""
    users = [use.owner.operation for use in op.results[0].uses]
    return list(dict.fromkeys(_structured_around(user) for user in users))


def _structured_around(op: ir.Operation) -> ir.Operation:
    """The structured op that ``op`` is in the body of, or ``op``."""
    parent = op.parent
    return parent.operation if parent is not None and is_structured(parent) else op
