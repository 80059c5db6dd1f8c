"""The loop nest of a structured (linalg) operation, as plain values.

Verifier, planner and passes ask the same questions of every linalg op, named or generic: how far do the loops run,
which of them are parallel, and which element of an operand does an iteration touch.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import lcm

from ipu_mlir.dialects.analysis.index import Index, indices_of_load, indices_of_map
from ipu_mlir.dialects.analysis.matchers import is_used
from ipu_mlir.dialects.support.bindings import ADVANCE, compiled, ir
from ipu_mlir.dialects.support.remembered import remembered

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
    operation = op.operation
    types = tuple([value.type for value in operation.operands])
    found = _nest_of((tuple(maps), types, operation.attributes.get("iterator_types"), len(types) - num_outputs(op)))
    if found is None or operation.name != "linalg.generic" or not (loads := loads_in(op)):
        return found
    return replace(found, loads=tuple([indices_of_load(load, found.extents) for load in loads]))


@remembered
def _nest_of(
    of: tuple[tuple[ir.AffineMapAttr, ...], tuple[ir.Type, ...], ir.ArrayAttr | None, int],
) -> LoopNest | None:
    """The nest of ops with these indexing maps, types of operands, kinds of loops and number of inputs."""
    maps, types, kinds, inputs = of
    shapes = tuple([tuple(each.shape) if isinstance(each, ir.ShapedType) else () for each in types])
    indices = tuple([indices_of_map(each) for each in maps])
    loops = maps[0].value.n_dims if maps else 0  # an assertion of a constant is left without operands
    extents = _extents(loops, indices, shapes)
    if extents is None:
        return None
    parallel = _loops_of(indices[inputs], loops) if kinds is None else _said_parallel(kinds)
    return LoopNest(extents, parallel, indices, inputs)


@lru_cache(maxsize=1024)
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


@remembered
def _said_parallel(kinds: ir.ArrayAttr) -> tuple[bool, ...]:
    return tuple(["parallel" in str(kind) for kind in kinds])


@lru_cache(maxsize=1024)
def _loops_of(indices: tuple[Index, ...], loops: int) -> tuple[bool, ...]:
    """The loops that an operand's index depends on: for the output of a named op, its parallel ones."""
    return tuple(any(index.coefficients[loop] for index in indices) for loop in range(loops))
