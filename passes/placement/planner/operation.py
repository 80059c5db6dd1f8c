"""Planners, and the questions about operations that they are asked."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.operand_mapping import operand_mapping
from ipu_mlir.dialects.costs.work import Work
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts


@dataclass(frozen=True)
class OperandUse:
    """One operand of an operation that is to be cut into parts.

    Attributes:
        indices: per dimension of the operand, its index in terms of the op's loops.
        shape: of the operand.
        strides, offset: of the operand within its allocation, in elements (it may be a view).
        elements: of the allocation.
        element_bytes: bytes of one element.
        home: where the allocation lies, or None if that is not decided yet.
        root: which of the allocations that the operation touches; None for one that it touches once.
    """

    indices: tuple[Index, ...]
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    elements: int
    element_bytes: int
    home: Mapping | None = None
    root: int | None = None

    @property
    def shows_part(self) -> bool:
        """True if it shows some elements of its allocation, not all."""
        return prod(self.shape) != self.elements

    def lies_on(self, target: Target) -> bool:
        """True if it lies somewhere, and on tiles of ``target``, not on an IPU that is not planned for."""
        home = self.home
        return home is not None and (not home.num_parts or (home.min_tile >= 0 and home.max_tile < target.num_tiles))

    def needed(self, parts: Parts) -> Mapping:
        """The elements of the operand's allocation that ``parts`` touch, and on which tiles."""
        return operand_mapping(parts, self.indices, self.shape, self.strides, self.offset, self.elements)


@dataclass(frozen=True)
class Operation:
    """An operation that is to be cut into parts.

    Attributes:
        name: ``linalg.matmul``.
        codelet: what its vertices run, ``matmul_f32``.
        extents: iterations per loop.
        parallel: per loop, whether it may be cut.
        inputs: operands that are read.
        outputs: operands that are written; an element must be written by one part.
        work: what the vertices do, as far as costs go; None for memory that is only to lie somewhere.
        splittable: whether parts may cut the reduced loops too: there are partial results then, and a second op that
            combines them.
        step_loops: the reduced loops over blocks of which it can run one after another.
        temporary_bytes: what operands that are brought for it, and partial results, may take on a tile.
        location: where it stands in the source, for messages; operations that differ in nothing else are equal.
        inits: what outputs start from, where that is read and lies somewhere already.
        reach: in each dimension of the first output, how far apart the slices begin that later ops read of it at once.
        ipus: the numbers of IPUs, of several, that it may take; none for any.
    """

    name: str
    codelet: str
    extents: tuple[int, ...]
    parallel: tuple[bool, ...]
    inputs: tuple[OperandUse, ...]
    outputs: tuple[OperandUse, ...]
    work: Work | None = None
    splittable: bool = False
    step_loops: tuple[int, ...] = ()
    temporary_bytes: int = 1 << 62
    location: str = field(default="", compare=False)
    inits: tuple[OperandUse, ...] = ()
    reach: tuple[int, ...] = ()
    ipus: tuple[int, ...] = ()

    @property
    def reads(self) -> tuple[OperandUse, ...]:
        """All that has to lie where the parts run: inputs, and what outputs start from."""
        return (*self.inputs, *self.inits)

    @property
    def cuttable(self) -> tuple[int, ...]:
        """The loops that may be cut: parallel ones that index a dimension of every output by themselves."""
        return tuple(
            loop
            for loop, parallel in enumerate(self.parallel)
            if parallel and all(any(index.plain_loop == loop for index in use.indices) for use in self.outputs)
        )


@dataclass(frozen=True)
class InSteps:
    """An operation that needs too much memory at once: it runs over blocks of a reduced loop, one after another.

    Attributes:
        loop: one of the operation's ``step_loops``.
        block: iterations of each step.
        cycles: of all steps, estimated.
    """

    loop: int
    block: int
    cycles: int = field(default=0, compare=False)


Planner = Callable[[Operation, Target], Parts | InSteps]
"""Decides how an operation is cut into vertices and on which tiles they run, or that it runs in steps."""
