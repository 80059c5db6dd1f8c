"""The results of loop nests whose operands are constants, as arrays."""

from math import fsum, prod

import ml_dtypes
import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import Index, LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.normalize.folding.constant_arrays import Array, Lookup
from ipu_mlir.passes.normalize.folding.scalar_functions import value_of
from ipu_mlir.passes.support.combiners import COMBINERS
from ipu_mlir.passes.support.rewriting import list_ops

MOST_POINTS = 65536
"""Of the loops together."""

_MOST_TERMS = 1024
"""Of a reduction: they are combined one after the other."""

_ANY_ORDER = COMBINERS - {"arith.addf", "arith.mulf"}
"""What combines numbers to the same bits in any order; ``addf`` does so where every sum is exact."""


def result_of(op: ir.Operation, lookup: Lookup) -> Array | None:
    """The one result of the structured ``op`` on tensors; None if it does not follow from what ``lookup`` knows."""
    if len(op.results) != 1 or "library_call" in op.attributes or not len(op.regions):
        return None
    nest = loop_nest(op)
    if nest is None or not 0 < prod(nest.extents) <= MOST_POINTS or nest.broken_results:
        return None
    block = op.regions[0].blocks[0]
    body = _Body(nest, op, lookup)
    if not all(body.holds(each) for each in list_ops(op, "cf.assert")):
        return None
    combined = None if all(nest.parallel) else _combination(block)
    if combined is None and not all(nest.parallel):
        return None
    wanted = terminator(block).operands[0] if combined is None else combined[1]
    terms = body.value(wanted)
    if terms is None or (combined is not None and not body.is_exact_product(wanted)):
        return None
    terms = np.broadcast_to(terms, nest.extents)
    if combined is not None:
        initial = body.value(block.arguments[len(block.arguments) - 1])
        found = None if initial is None else _reduced(combined[0], terms, initial, nest)
        if found is None:
            return None
        terms = found
    order = [loop for index in nest.outputs[0] if (loop := index.plain_loop) is not None]
    if len(order) != len(nest.outputs[0]):
        return None
    kept = [loop for loop in range(len(nest.extents)) if loop not in order]
    return np.transpose(terms, [*kept, *order]).reshape(op.results[0].type.shape)


class _Body:
    """Values in the body of a nest at all points at once: arrays with a dimension for each loop, of its size or 1."""

    def __init__(self, nest: LoopNest, op: ir.Operation, lookup: Lookup) -> None:
        self.nest, self.op, self.lookup = nest, op, lookup
        self.block = op.regions[0].blocks[0]
        self.known: dict[ir.Value, Array | None] = {}

    def value(self, value: ir.Value) -> Array | None:
        if value not in self.known:
            self.known[value] = self._found(value)
        return self.known[value]

    def holds(self, assertion: ir.Operation) -> bool:
        """True if the condition is known to be true at all points."""
        known = self.value(assertion.operands[0]) if assertion.block == self.block else None
        return known is not None and bool(np.all(known))

    def is_exact_product(self, value: ir.Value) -> bool:
        """False for a product of floats that is rounded: together with a sum it may be rounded only once."""
        product = defining_op(value, "arith.mulf")
        if product is None:
            return True
        factors = [self.value(operand) for operand in product.operands]
        found, (a, b) = self.value(value), [np.asarray(each, np.float64) for each in factors]
        is_f64 = str(product.results[0].type) == "f64"
        return not is_f64 and bool((np.asarray(found, np.float64) == a * b).all())

    def _found(self, value: ir.Value) -> Array | None:
        if isinstance(value.owner, ir.Block):
            if value.owner != self.block:
                return None
            number = ir.BlockArgument(value).arg_number
            whole = self.lookup(self.op.operands[number])
            return None if whole is None else self._at_points(whole, self.nest.indices[number])
        owner = value.owner.operation
        if owner.block != self.block:
            return self.lookup(value)
        if owner.name == "linalg.index":
            return self._numbers(ir.IntegerAttr(owner.attributes["dim"]).value)
        if owner.name == "tensor.extract":
            return self._loaded(owner)
        operands = [self.value(operand) for operand in owner.operands]
        known = [each for each in operands if each is not None]
        return value_of(owner, known) if len(known) == len(operands) else None

    def _numbers(self, loop: int) -> Array:
        extents = self.nest.extents
        return np.arange(extents[loop]).reshape([extents[loop] if each == loop else 1 for each in range(len(extents))])

    def _at_points(self, whole: Array, indices: tuple[Index, ...]) -> Array | None:
        if not all(index.linear for index in indices):
            return None
        places = []
        for index in indices:
            terms = [c * self._numbers(loop) for loop, c in enumerate(index.coefficients) if c]
            places.append(sum(terms, np.full((1,) * len(self.nest.extents), index.constant)))
        return whole[tuple(places)] if places else whole.reshape((1,) * len(self.nest.extents))

    def _loaded(self, load: ir.Operation) -> Array | None:
        """A load at indices that are computed; one outside is taken for the nearest inside."""
        whole = self.lookup(load.operands[0])
        places = [self.value(index) for index in list(load.operands)[1:]]
        known = [place for place in places if place is not None]
        if whole is None or not whole.size or len(known) < len(places):
            return None
        return whole[tuple(place.clip(0, size - 1) for place, size in zip(known, whole.shape, strict=True))]


def _combination(block: ir.Block) -> tuple[ir.Operation, ir.Value] | None:
    """The op that ``block`` combines the running value with a term by, and the term."""
    running = block.arguments[len(block.arguments) - 1]
    combiner = terminator(block).operands[0].owner
    if isinstance(combiner, ir.Block) or combiner.operation.block != block or len(list(running.uses)) != 1:
        return None
    operands = list(combiner.operation.operands)
    if len(operands) != 2 or running not in operands or operands[0] == operands[1]:
        return None
    return combiner.operation, operands[1 if operands[0] == running else 0]


def _reduced(combiner: ir.Operation, terms: Array, initial: Array, nest: LoopNest) -> Array | None:
    """``terms`` combined over the reduced loops, starting with ``initial``, in as many dimensions."""
    over = [loop for loop, parallel in enumerate(nest.parallel) if not parallel]
    rest = [loop for loop, parallel in enumerate(nest.parallel) if parallel]
    steps = prod(nest.extents[loop] for loop in over)
    if steps > _MOST_TERMS:
        return None
    rows = np.transpose(terms, [*over, *rest]).reshape(steps, *(nest.extents[loop] for loop in rest))
    total = np.broadcast_to(initial, [n if p else 1 for n, p in zip(nest.extents, nest.parallel, strict=True)])
    total = np.transpose(total, [*over, *rest]).reshape(rows.shape[1:])
    if combiner.name not in _ANY_ORDER and not (
        combiner.name == "arith.addf" and _sums_are_exact(np.concatenate([total[None], rows]))
    ):
        return None
    for row in rows:
        found = value_of(combiner, [total, row])
        if found is None:
            return None
        total = found
    full = total.reshape([1] * len(over) + [nest.extents[loop] for loop in rest])
    return np.transpose(full, np.argsort([*over, *rest]))


def _sums_are_exact(terms: Array) -> bool:
    """True if no sum of any of ``terms`` along the first dimension is rounded, whatever the order.

    >>> _sums_are_exact(np.float32([1, 2**23, -3])), _sums_are_exact(np.float32([0.1, 1]))
    (True, False)
    """
    limits = ml_dtypes.finfo(terms.dtype)
    wide = terms.astype(np.float64).reshape(len(terms), -1)
    if not np.isfinite(wide).all():
        return False
    digits = int(limits.nmant) + 1
    fractions, exponents = np.frexp(wide)
    numbers = np.ldexp(fractions, digits).astype(np.int64)
    units = np.where(wide == 0, np.inf, np.ldexp((numbers & -numbers).astype(np.float64), exponents - digits))
    for column, unit in zip(np.abs(wide).T, units.min(axis=0), strict=True):
        largest = fsum(column)
        if largest > float(limits.max) or largest > unit * 2.0**digits:
            return False
    return True
