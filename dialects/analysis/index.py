"""The index of an access in terms of the loops around it, as a plain value: of a map or of values in a body."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.remembered import remembered


@dataclass(frozen=True)
class Index:
    """The index of one operand dimension: ``constant + sum(coefficients[l] * loop_l)``.

    ``linear`` is False for an index that is no such sum: it may be anywhere in the dimension. Of one that counts the
    blocks of a loop, ``d0 floordiv 4``, ``block_of`` is the loop and the size of its blocks, ``(0, 4)``.
    """

    coefficients: tuple[int, ...]
    constant: int = 0
    linear: bool = True
    block_of: tuple[int, int] | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Computed once: indices are part of what most questions of the planner are remembered by."""
        return hash((self.coefficients, self.constant, self.linear, self.block_of))

    @cached_property
    def plain_loop(self) -> int | None:
        """The loop that this index is, if it is just that."""
        if (
            self.linear
            and self.constant == 0
            and sum(c != 0 for c in self.coefficients) == 1
            and 1 in self.coefficients
        ):
            return self.coefficients.index(1)
        return None


def plain_index(loop: int, loops: int) -> Index:
    """The index that is just that one of ``loops`` loops."""
    return Index(tuple(int(loop == each) for each in range(loops)))


def loop_strides(
    indices: Sequence[Index], dim_strides: Sequence[int], loops: int
) -> tuple[tuple[int, ...], int, tuple[tuple[int, int], ...]]:
    """The elements of a buffer with ``dim_strides`` that an access with ``indices`` touches.

    Returns:
        the stride of each loop, the constant offset (both in elements), and the (dimension, stride) of every dimension
        whose index is not linear in the loops and which is therefore needed whole.

    >>> loop_strides((Index((1, 0)), Index((0, 2), constant=1)), (10, 1), loops=2)
    ((10, 2), 1, ())
    """
    strides = [0] * loops
    offset = 0
    whole = []
    for dimension, (index, dim_stride) in enumerate(zip(indices, dim_strides, strict=True)):
        if not index.linear:
            whole.append((dimension, dim_stride))
            continue
        offset += index.constant * dim_stride
        for loop, coefficient in enumerate(index.coefficients):
            strides[loop] += coefficient * dim_stride
    return tuple(strides), offset, tuple(whole)


@remembered
def indices_of_map(attribute: ir.AffineMapAttr) -> tuple[Index, ...]:
    """The index of each dimension of an operand that is read or written by this map."""
    affine_map = attribute.value
    return tuple(_index(expr, affine_map.n_dims) for expr in affine_map.results)


def _index(expr: ir.AffineExpr, loops: int) -> Index:
    terms = _linear_terms(expr, loops)
    if terms is None:
        return Index((0,) * loops, linear=False, block_of=_block_of(expr))
    return Index(tuple(terms[:loops]), terms[loops])


def _block_of(expr: ir.AffineExpr) -> tuple[int, int] | None:
    """The loop and the size of its blocks, if ``expr`` is the number of a block."""
    if not isinstance(expr, ir.AffineFloorDivExpr):
        return None
    if not (isinstance(expr.lhs, ir.AffineDimExpr) and isinstance(expr.rhs, ir.AffineConstantExpr)):
        return None
    return expr.lhs.position, expr.rhs.value


def _linear_terms(expr: ir.AffineExpr, loops: int) -> list[int] | None:
    """Coefficients per loop and, last, the constant; None where ``expr`` is not linear."""
    if isinstance(expr, ir.AffineDimExpr):
        return [int(loop == expr.position) for loop in range(loops)] + [0]
    if isinstance(expr, ir.AffineConstantExpr):
        return [0] * loops + [expr.value]
    if isinstance(expr, ir.AffineAddExpr):
        left, right = _linear_terms(expr.lhs, loops), _linear_terms(expr.rhs, loops)
        return None if left is None or right is None else [a + b for a, b in zip(left, right, strict=True)]
    if isinstance(expr, ir.AffineMulExpr):
        left, right = _linear_terms(expr.lhs, loops), _linear_terms(expr.rhs, loops)
        if left is None or right is None:
            return None
        if any(left[:loops]):
            left, right = right, left
        return None if any(left[:loops]) else [left[loops] * b for b in right]
    return None


def indices_of_load(load: ir.Operation, extents: tuple[int, ...]) -> tuple[Index, ...]:
    """The index of a load in terms of the loops around it; not linear where it may leave the dimension."""
    shape = load.operands[0].type.shape
    return tuple(
        _within(_index_of_value(value, len(extents)), extents, size)
        for value, size in zip(list(load.operands)[1:], shape, strict=True)
    )


def _within(index: Index, extents: tuple[int, ...], size: int) -> Index:
    reach = [c * (extent - 1) for c, extent in zip(index.coefficients, extents, strict=True)]
    first, last = index.constant + sum(min(0, r) for r in reach), index.constant + sum(max(0, r) for r in reach)
    return index if index.linear and first >= 0 and last < size else Index((0,) * len(extents), linear=False)


def _index_of_value(value: ir.Value, loops: int) -> Index:
    """``value`` as a sum over ``linalg.index``, or an index that is not linear."""
    operation = defining_op(value)
    if operation is not None:
        if operation.name == "linalg.index":
            return plain_index(ir.IntegerAttr(operation.attributes["dim"]).value, loops)
        if operation.name == "arith.constant" and isinstance(value.type, ir.IndexType):
            return Index((0,) * loops, ir.IntegerAttr(operation.attributes["value"]).value)
        if operation.name == "arith.muli" and isinstance(value.type, ir.IndexType):
            left, right = (_index_of_value(operand, loops) for operand in operation.operands)
            factor, scaled = (left, right) if not any(left.coefficients) else (right, left)
            if not any(factor.coefficients) and factor.linear and scaled.linear:
                terms = tuple(factor.constant * c for c in scaled.coefficients)
                return Index(terms, factor.constant * scaled.constant)
        if operation.name in ("arith.addi", "arith.subi") and isinstance(value.type, ir.IndexType):
            left, right = (_index_of_value(operand, loops) for operand in operation.operands)
            sign = 1 if operation.name == "arith.addi" else -1
            terms = tuple(a + sign * b for a, b in zip(left.coefficients, right.coefficients, strict=True))
            return Index(terms, left.constant + sign * right.constant, left.linear and right.linear)
    return Index((0,) * loops, linear=False)
