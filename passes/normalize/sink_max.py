"""``ipu-sink-max``: pool first, and do what only grows with its input on the smaller result.

``pool(relu(x + b))`` becomes ``relu(pool(x) + b)``: the same bits from a quarter of the work, for windows of 2 x 2.

Why that is exact. A function ``f`` that never falls picks the same element: the largest ``f(x_i)`` is ``f`` of the
largest ``x_i``. IEEE rounding never falls, so ``x + c``, ``x - c``, and ``x * c`` and ``x / c`` for a finite constant
c > 0 never fall after rounding either, nor at an overflow to infinity or at the two zeros; ``maximumf`` and
``minimumf`` with a fixed c never fall by definition. The smallest goes with the smallest in the same way. A NaN among
the ``x_i`` makes both sides NaN, because every one of these ops passes it on; so ``maxnumf``, ``minnumf`` and
``select``, which may not, stay where they are. So do ``exp`` and its like: the
machine's and NumPy's need not be monotone in the last bit.

One corner is left: a NaN that ``f`` makes itself. An infinity in ``c`` that cancels one in the window (+inf added where
the window holds -inf as well as more) is NaN before, and may be infinite after. With ``any-addend=false`` only finite
constants are added and subtracted, and no corner is left.
"""

import math
from dataclasses import dataclass
from typing import Any

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, float_of, has_one_use
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import REWRITTEN, SKIP, rewrite

_NEUTRAL = {
    "linalg.pooling_nhwc_max": -math.inf,
    "linalg.pooling_nchw_max": -math.inf,
    "linalg.pooling_nwc_max": -math.inf,
    "linalg.pooling_ncw_max": -math.inf,
    "linalg.pooling_ndhwc_max": -math.inf,
    "linalg.pooling_nhwc_min": math.inf,
    "linalg.pooling_nwc_min": math.inf,
    "linalg.pooling_ndhwc_min": math.inf,
}
"""Poolings, and what their result has to start from: that of a pooling must not be lost in ``f``."""

_EITHER_SIDE = ("arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf")
_ADDITIONS = ("arith.addf", "arith.subf")
_SCALINGS = ("arith.mulf", "arith.divf")
_GROWING = (*_EITHER_SIDE, "arith.subf", "arith.divf")


def grows(op: str, side: int, constant: float | None, any_addend: bool = True) -> bool:
    """True if ``op`` grows with its operand number ``side`` while the other one is fixed.

    Args:
        constant: the value of the other operand; None if it is not known.
        any_addend: whether an addend may be anything.

    >>> grows("arith.addf", 1, None), grows("arith.subf", 0, None), grows("arith.subf", 1, None)
    (True, True, False)
    >>> grows("arith.mulf", 0, 0.5), grows("arith.mulf", 0, -0.5), grows("arith.mulf", 0, None)
    (True, False, False)
    """
    if op not in _GROWING or (side == 1 and op not in _EITHER_SIDE):
        return False
    is_finite = constant is not None and math.isfinite(constant)
    if op in _ADDITIONS:
        return any_addend or is_finite
    return op not in _SCALINGS or (is_finite and constant is not None and constant > 0)


@dataclass(frozen=True)
class SinkMax(Pass):
    """Pool before what only grows with its input, such as bias and relu, instead of after it.

    Needs:  linalg on tensors, element-wise ops fused.
    Leaves: no max or min pooling into a smaller tensor whose input is the only use of an element-wise op that grows
            with one operand and reads the others alike at every point of a window.

    ``any_addend``: whether more than finite constants may be added; not exact where infinities cancel.
    """

    name = "ipu-sink-max"

    any_addend: bool = True

    def run(self, module: ir.Operation) -> None:
        def pool_first(op: Any, rewriter: Any) -> bool:
            """pool(f(x)) becomes f(pool(x))."""
            pooling = op.operation
            found = self._candidate(pooling) if _starts_neutral(pooling) else None
            if found is None:
                return SKIP
            number = found.operand
            with rewriter.ip, op.location:
                source = found.producer.operands[number]
                if found.expansion is not None:
                    expanded = found.expansion.clone()
                    expanded.operands[0] = source
                    source = expanded.results[0]
                pooled = pooling.clone()
                pooled.operands[0] = source
                kind = pooled.results[0].type
                empty = upstream("tensor").EmptyOp(list(kind.shape), kind.element_type)
                after = found.producer.clone()
                maps = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in found.maps])
                parallel = ir.Attribute.parse("#linalg.iterator_type<parallel>")
            after.attributes["indexing_maps"] = maps
            after.attributes["iterator_types"] = ir.ArrayAttr.get([parallel] * kind.rank, module.context)
            after.operands[number] = pooled.results[0]
            after.operands[len(after.operands) - 1] = empty.result
            after.results[0].set_type(kind)
            rewriter.replace_op(op, [after.results[0]])
            return REWRITTEN

        rewrite(module, dict.fromkeys(_NEUTRAL, pool_first))

    def _candidate(self, pooling: ir.Operation) -> "_Candidate | None":
        """The element-wise op that ``pooling`` can change places with."""
        expansion, value = _before_unit_expansion(pooling.operands[0])
        producer = defining_op(value, "linalg.generic")
        if producer is None or not _is_elementwise(producer) or not has_one_use(value):
            return None
        if math.prod(pooling.results[0].type.shape) >= math.prod(value.type.shape):
            return None
        maps = [attribute.value for attribute in producer.attributes["indexing_maps"]]
        identity = ir.AffineMap.get_identity(maps[-1].n_dims)
        moved = [number for number, read in enumerate(maps[:-1]) if read == identity]
        if maps[-1] != identity or len(moved) != 1 or producer.operands[moved[0]].type != value.type:
            return None
        rank = pooling.operands[0].type.rank
        dimensions = range(rank) if expansion is None else [group[-1] for group in _groups(expansion)]
        maps = [ir.AffineMap.get_identity(rank) if m == identity else _renamed(m, dimensions, rank) for m in maps]
        kept = kept_dimensions(pooling)
        if any(not _is_within(read, kept) for number, read in enumerate(maps[:-1]) if number != moved[0]):
            return None
        if not self._body_grows(producer.regions[0].blocks[0], moved[0]):
            return None
        return _Candidate(producer, moved[0], maps, expansion)

    def _body_grows(self, body: ir.Block, argument: int) -> bool:
        """True if all that ``body`` does is a chain of growing ops from ``argument`` to what it yields."""
        *steps, terminator = body.operations
        running: ir.Value = body.arguments[argument]
        for step in steps:
            operands = list(step.operation.operands)
            sides = [side for side, operand in enumerate(operands) if operand == running]
            if len(operands) != 2 or len(sides) != 1:
                return False
            other = operands[1 - sides[0]]
            is_step = defining_op(other) is not None and block_of(other) == body
            if other == body.arguments[len(body.arguments) - 1] or is_step:
                return False
            if not grows(step.operation.name, sides[0], float_of(other), self.any_addend):
                return False
            running = step.operation.results[0]
        return bool(steps) and list(terminator.operation.operands) == [running]


@dataclass(frozen=True)
class _Candidate:
    """Element-wise ``producer``, which grows with operand number ``operand``.

    ``maps`` say how it reads its operands in loops over the dimensions of the pooling; ``expansion`` is the op that
    gives its result those dimensions, if it has fewer.
    """

    producer: ir.Operation
    operand: int
    maps: list[ir.AffineMap]
    expansion: ir.Operation | None


def kept_dimensions(pooling: ir.Operation) -> list[int]:
    """The dimensions that a pooling leaves as they are: batch and channels."""
    source, *_, result = (attribute.value for attribute in linalg.get_indexing_maps(pooling))
    pairs = zip(source.results, result.results, strict=True)
    return [number for number, (before, after) in enumerate(pairs) if before == after]


def _before_unit_expansion(value: ir.Value) -> tuple[ir.Operation | None, ir.Value]:
    """The op that adds leading unit dimensions, and what it adds them to; None and ``value`` if there is none."""
    owner = defining_op(value, "tensor.expand_shape")
    if owner is None or not has_one_use(value):
        return None, value
    if any(value.type.shape[d] != 1 for group in _groups(owner) for d in group[:-1]):
        return None, value
    return owner, owner.operands[0]


def _groups(expansion: ir.Operation) -> list[list[int]]:
    """The dimensions that each dimension of the source becomes."""
    return [[d.value for d in group] for group in expansion.attributes["reassociation"]]


def _renamed(read: ir.AffineMap, dimensions: Any, rank: int) -> ir.AffineMap:
    """``read`` in ``rank`` loops, where loop ``l`` has become ``dimensions[l]``."""
    names = [ir.AffineDimExpr.get(dimensions[loop]) for loop in range(read.n_dims)]
    return ir.AffineMap.get(rank, 0, [result.compose(ir.AffineMap.get(rank, 0, names)) for result in read.results])


def _is_elementwise(op: ir.Operation) -> bool:
    if len(op.results) != 1 or "library_call" in op.attributes:
        return False
    return all("parallel" in str(kind) for kind in op.attributes["iterator_types"])


def _is_within(read: ir.AffineMap, dimensions: list[int]) -> bool:
    """True if ``read`` moves with no other loops than ``dimensions``."""
    return all(isinstance(r, ir.AffineDimExpr) and r.position in dimensions for r in read.results)


def _starts_neutral(pooling: ir.Operation) -> bool:
    """True if the result starts from the value that never wins."""
    fill = defining_op(pooling.operands[len(pooling.operands) - 1], "linalg.fill")
    return fill is not None and float_of(fill.operands[0]) == _NEUTRAL[pooling.name]
