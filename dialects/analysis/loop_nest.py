"""The loop nest of a structured (linalg) operation, as plain values.

Verifier, planner and passes ask the same questions of every linalg op, named or generic: how far do the loops run,
which of them are parallel, and which element of an operand does an iteration touch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import lcm

from ipu_mlir.dialects.analysis.matchers import defining_op, is_used
from ipu_mlir.dialects.support.bindings import ADVANCE, compiled, ir
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


_ON_TENSORS = "run ipu-normalize-indices while it is on tensors"


@dataclass(frozen=True)
class LoopNest:
    """Loops and operand indices of a structured op.

    Attributes:
        extents: iterations per loop.
        parallel: per loop, whether its iterations are independent (False: it is reduced over).
        indices: per operand, inputs first, the index of each of its dimensions.
        num_inputs: operands that are only read; the others are the outputs.
        loads: per load in the body (``loads_in``), the index of each dimension of what is loaded from.
    """

    extents: tuple[int, ...]
    parallel: tuple[bool, ...]
    indices: tuple[tuple[Index, ...], ...]
    num_inputs: int
    loads: tuple[tuple[Index, ...], ...] = ()

    @property
    def outputs(self) -> tuple[tuple[Index, ...], ...]:
        return self.indices[self.num_inputs :]

    @property
    def cut_multiples(self) -> tuple[int, ...]:
        """Per loop, the iterations at whose multiples it may be cut into parts; 0 for a loop that one part must run.

        A reduction may be cut where every result is kept per block of it: ``(m, k) -> (k floordiv 32, m)``.
        """
        return tuple(1 if parallel else self._kept_blocks(loop) for loop, parallel in enumerate(self.parallel))

    @cached_property
    def broken_results(self) -> str | None:
        """Why vertices that run one part each cannot write the results, as the end of a sentence; None if they can.

        Every index of a result is one loop, or counts its blocks; all results lie over the same loops.
        """
        named: list[set[int]] = []
        for number, output in enumerate(self.outputs):
            loops: set[int] = set()
            for index in output:
                block = () if index.block_of is None else index.block_of[:1]
                own = {*block, *(loop for loop, c in enumerate(index.coefficients) if c and self.extents[loop] > 1)}
                if len(own) > 1 or not (index.linear or block):
                    return f"has an index of result {number} that is not one loop; {_ON_TENSORS}"
                loops |= own
            named.append({loop for loop in loops if self.extents[loop] > 1})
        if any(loops != named[0] for loops in named):
            return f"has results over different loops; {_ON_TENSORS}"
        return None

    def _kept_blocks(self, loop: int) -> int:
        blocks = [
            next((index.block_of[1] for index in output if index.block_of and index.block_of[0] == loop), 0)
            for output in self.outputs
        ]
        return lcm(*blocks) if blocks else 0


def is_structured(op: ir.Operation | ir.OpView) -> bool:
    """True if ``op`` is a linalg op with a loop nest (not ``linalg.yield``, not ``linalg.index``)."""
    name = op.operation.name
    return name.startswith("linalg.") and name not in ("linalg.yield", "linalg.index")


def indexing_maps(op: ir.Operation | ir.OpView) -> list[ir.AffineMap] | None:
    """One map per operand, or None for an op without them (``linalg.softmax``)."""
    maps = compiled("_mlirDialectsLinalg").get_indexing_maps(op.operation)
    return None if maps is None else [attribute.value for attribute in maps]


def num_outputs(op: ir.Operation | ir.OpView) -> int:
    """The number of operands, the last ones, that are outputs."""
    operation = op.operation
    attributes = operation.attributes
    if "operandSegmentSizes" in attributes:
        return attributes["operandSegmentSizes"][1]  # linalg ops have inputs and outputs
    return len(operation.results) or 1


_LOADS = frozenset(["tensor.extract", "memref.load"])


def loads_in(op: ir.Operation | ir.OpView) -> list[ir.Operation]:
    """The ``tensor.extract`` and ``memref.load`` ops in the body of a structured op, as in a gather."""
    found: list[ir.Operation] = []

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner.name in _LOADS:
            found.append(inner)
        return ADVANCE

    op.operation.walk(visit)
    return found


def reads_operand(op: ir.Operation | ir.OpView, number: int) -> bool:
    """True if the body of a structured op uses the elements of that operand (a pooling window has only a shape)."""
    operation = op.operation
    if "library_call" in operation.attributes and number < len(operation.operands) - num_outputs(op):
        return True  # a library codelet reads every input; whether it reads an output, its body says as any other
    if not len(operation.regions):
        return True  # an op that is no loop nest does not say
    return is_used(operation.regions[0].blocks[0].arguments[number])


def loop_nest(op: ir.Operation | ir.OpView) -> LoopNest | None:
    """The loop nest of a structured op with static shapes, or None where it has none."""
    maps = compiled("_mlirDialectsLinalg").get_indexing_maps(op.operation)
    if maps is None:
        return None
    types = [value.type for value in op.operation.operands]
    shapes = tuple([tuple(each.shape) if isinstance(each, ir.ShapedType) else () for each in types])
    indices = tuple([_indices(each) for each in maps])
    inputs = len(types) - num_outputs(op)
    loops = maps[0].value.n_dims
    extents = _extents(loops, indices, shapes)
    if extents is None:
        return None
    loads = tuple([_load_indices(load, extents) for load in loads_in(op)])
    return LoopNest(extents, _parallel(op, loops, indices[inputs:]), indices, inputs, loads)


def loop_strides(
    indices: Sequence[Index], dim_strides: Sequence[int], loops: int
) -> tuple[tuple[int, ...], int, tuple[tuple[int, int], ...]]:
    """What an access with ``indices`` into a buffer with ``dim_strides`` means for the buffer's elements.

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
def _indices(attribute: ir.AffineMapAttr) -> tuple[Index, ...]:
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


@lru_cache(maxsize=4096)
def _extents(
    loops: int, indices: tuple[tuple[Index, ...], ...], shapes: tuple[tuple[int, ...], ...]
) -> tuple[int, ...] | None:
    """Iterations per loop, from the dimensions that are indexed by that loop alone."""
    extents: list[int | None] = [None] * loops
    for operand, shape in zip(indices, shapes, strict=True):
        for index, size in zip(operand, shape, strict=True):
            loop = index.plain_loop
            if loop is not None and extents[loop] is None:
                extents[loop] = size
    if any(extent is None or extent < 0 for extent in extents):
        return None
    return tuple(extent for extent in extents if extent is not None)


def _parallel(op: ir.Operation | ir.OpView, loops: int, outputs: tuple[tuple[Index, ...], ...]) -> tuple[bool, ...]:
    attributes = op.operation.attributes
    if "iterator_types" in attributes:
        return _said_parallel(attributes["iterator_types"])
    return _loops_of(outputs[0], loops)


@remembered
def _said_parallel(kinds: ir.ArrayAttr) -> tuple[bool, ...]:
    return tuple(["parallel" in str(kind) for kind in kinds])


@lru_cache(maxsize=1024)
def _loops_of(indices: tuple[Index, ...], loops: int) -> tuple[bool, ...]:
    """The loops that an operand's index depends on: for the output of a named op, its parallel ones."""
    return tuple(any(index.coefficients[loop] for index in indices) for loop in range(loops))


def _load_indices(load: ir.Operation, extents: tuple[int, ...]) -> tuple[Index, ...]:
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
            loop = ir.IntegerAttr(operation.attributes["dim"]).value
            return Index(tuple(int(loop == other) for other in range(loops)))
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
