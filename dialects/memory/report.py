"""The memory that a superstep program needs on every tile, for what and when."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import Sequence, Step, control_nodes, steps
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.memory.assumptions import (
    CONTROL_FLOW_INSTRUCTIONS,
    INSTRUCTION_BYTES,
    STEP_INSTRUCTIONS,
)
from ipu_mlir.dialects.memory.buffer_bytes import BufferBytes, BufferSizes
from ipu_mlir.dialects.memory.exchange_code import ExchangeCode
from ipu_mlir.dialects.memory.names import argument_name, buffer_name, constant_name, writer_of
from ipu_mlir.dialects.memory.peaks import Peaks, StepMemory, live_at, sweep
from ipu_mlir.dialects.memory.per_tile import PerTile, total_of
from ipu_mlir.dialects.memory.resident import kept_arguments, kept_constants, trees_beside
from ipu_mlir.dialects.memory.timeline import Timeline, timeline_of
from ipu_mlir.dialects.memory.vertex_bytes import FamilyBytes, VertexSizes, code_of
from ipu_mlir.dialects.support.bindings import ir

Category = Literal["argument", "constant", "result", "temporary"]

PEAK_AS_WRITTEN = "ipu.peak_as_written"
"""Attribute of a function whose supersteps have an order of less memory (``ipu-order-supersteps``): the bytes of its
fullest tile in the order before."""

CODE = ("vertex_code", "vertex_state", "exchange_code", "control_code")
"""Categories of what is no data."""


@dataclass(frozen=True, eq=False)
class Variable:
    """A buffer of the program.

    Attributes:
        number: of the variable.
        name: ``%arg0``, ``@weights``, ``linalg.matmul at mlp.mlir:14:8``.
        category: what it is for.
        type_text: shape and type of its elements, ``tensor<128x256xf32>``.
        location: where the op comes from that computes it; for arguments and constants, where they stand.
        op: the op that computes it; None for arguments, constants, and what nothing writes.
        size: its bytes on each tile.
        first_step: number of the first step during which it lives; None if it always does, or during no step.
        last_step: of the last one.
    """

    number: int
    name: str
    category: Category
    type_text: str
    location: str
    op: ir.Operation | None
    size: BufferBytes
    first_step: int | None
    last_step: int | None


@dataclass(frozen=True, eq=False)
class MemoryReport:
    """The memory of a program.

    Attributes:
        target: the machine; ``limit`` is what each of its tiles has.
        tree: the program.
        categories: the bytes on each tile by what they are for, at the moment when that tile holds most:
            ``vertex_code``, ``vertex_state``, ``exchange_code``, ``control_code``, ``arguments``, ``constants``,
            ``results``, ``temporaries``, ``scratch``, ``gaps``. Their sum is ``peak``.
        peak: the most that each tile ever holds.
        always_live: code, state, arguments and constants, with their gaps.
        peak_step: number of the step at which a tile holds most; -1 where nothing but always-live bytes ever is.
        data_peak: the most that the elements of buffers alone ever take, arguments and constants included.
        steps: by number of the step.
    """

    target: Target
    tree: Sequence
    categories: dict[str, PerTile]
    peak: PerTile
    always_live: PerTile
    peak_step: PerTile
    data_peak: PerTile
    steps: dict[int, StepMemory]
    timeline: Timeline
    sizes: BufferSizes
    module: ir.Module | ir.Operation | ir.OpView
    """Owns the ops that the others point to: MLIR frees them with it."""

    @property
    def limit(self) -> int:
        """Bytes that a tile has."""
        return self.target.bytes_per_tile

    @property
    def ipus_in_use(self) -> int:
        """How many IPUs, from the first one, hold data; those behind them wait for nobody."""
        tiles = np.flatnonzero(self.data_peak.dense())
        return 1 + int(tiles.max(initial=0)) // self.target.tiles_per_ipu

    @property
    def fits(self) -> bool:
        return self.peak.largest() <= self.limit

    @property
    def peak_as_written(self) -> int | None:
        """The bytes of the fullest tile if supersteps were in the order of the program; None if they are."""
        attributes = self.tree.block.owner.operation.attributes
        return ir.IntegerAttr(attributes[PEAK_AS_WRITTEN]).value if PEAK_AS_WRITTEN in attributes else None

    @property
    def without_gaps(self) -> PerTile:
        """``peak`` without what is lost between buffers."""
        gaps = self.categories["gaps"]
        return total_of([self.peak, PerTile(gaps.starts, -gaps.values, gaps.num_tiles)], gaps.num_tiles)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every buffer: arguments, constants, then the others in the order in which they come to life."""
        entry = symbol_of(self.tree.block.owner.operation)
        return tuple(_variables(self.tree, trees_beside(self.module, entry), self.timeline, self.sizes))

    def live_on(self, tile: int) -> list[tuple[Variable, int]]:
        """The variables on ``tile`` at its worst moment with their bytes there, the largest first."""
        first = len(self.variables) - len(self.timeline.allocations)
        buffers = [each.size for each in self.variables[first:]]
        at_peak = live_at(self.timeline.events, buffers, tile, self.peak_step.on(tile))
        living = [*self.variables[:first], *(self.variables[first + number] for number in at_peak)]
        found = [(each, each.size.data.on(tile)) for each in living]
        return sorted(((each, size) for each, size in found if size), key=lambda pair: (-pair[1], pair[0].number))


def memory_report(module: ir.Module | ir.Operation | ir.OpView, entry: str = "main") -> MemoryReport:
    """The memory of its target that the program ``entry`` of a module of supersteps needs.

    Functions that share variables with it are on the tiles as well: their code, state and constants count, and
    variables that only they use.

    Raises:
        CompileError: no tree can be made of the program (``program_tree``).
    """
    target = module_target(module.operation)
    tree, num_tiles = program_tree(module, entry), target.num_tiles
    timeline, sizes = timeline_of(tree), BufferSizes(num_tiles)
    beside = trees_beside(module, entry)
    arguments = [sizes.of(each.type) for each in kept_arguments(tree, beside)]
    shown = [op for each in (timeline, *map(timeline_of, beside)) for op in each.constants]
    constants = [sizes.of(op.results[0].type) for op in kept_constants(shown)]
    vertex_sizes = VertexSizes(machine_of(target), num_tiles)
    families, scratch = _families(steps(tree), vertex_sizes)
    families += [family for each in beside for family in _families(steps(each), vertex_sizes)[0]]
    exchange_code = ExchangeCode(target)
    exchanges = [x for each in (tree, *beside) for x in steps(each) if x.kind == "exchange"]
    scratch |= {x.number: exchange_code.messages(x.op) for x in steps(tree) if x.kind == "exchange"}
    categories = {
        "vertex_code": code_of(families, num_tiles),
        "vertex_state": total_of([family.state for family in families], num_tiles),
        "exchange_code": total_of([exchange_code.of(x.op) for x in exchanges], num_tiles),
        "control_code": PerTile.uniform(sum(map(control_bytes, (tree, *beside))), num_tiles),
        "arguments": total_of([each.data for each in arguments], num_tiles),
        "constants": total_of([each.data for each in constants], num_tiles),
    }
    gaps = total_of([each.gaps for each in (*arguments, *constants)], num_tiles)
    always = total_of([*categories.values(), gaps], num_tiles)
    buffers = [sizes.of(value.type) for value in timeline.allocations]
    results = frozenset().union(*timeline.results)
    peaks: Peaks = sweep(timeline.events, buffers, results, scratch, always)
    temporaries, returned, used, more_gaps = peaks.parts
    categories |= {"results": returned, "temporaries": temporaries, "scratch": used}
    categories["gaps"] = total_of([gaps, more_gaps], num_tiles)
    return MemoryReport(
        target=target,
        tree=tree,
        categories=categories,
        peak=total_of(list(categories.values()), num_tiles),
        always_live=always,
        peak_step=peaks.step,
        data_peak=total_of([peaks.data, categories["arguments"], categories["constants"]], num_tiles),
        steps=peaks.steps,
        timeline=timeline,
        sizes=sizes,
        module=module,
    )


def _families(all_steps: list[Step], sizes: VertexSizes) -> tuple[list[FamilyBytes], dict[int, PerTile]]:
    """All families of vertices, and the scratch of each step that needs any: its vertices run at the same time."""
    families: list[FamilyBytes] = []
    scratch: dict[int, PerTile] = {}
    for step in all_steps:
        if step.kind == "compute":
            here = sizes.of_step(step)
            families += here
            if needed := [family.scratch for family in here if family.scratch is not None]:
                scratch[step.number] = needed[0] if len(needed) == 1 else total_of(needed, needed[0].num_tiles)
    return families, scratch


def control_bytes(tree: Sequence) -> int:
    """The code of the program itself, on every tile."""
    instructions = STEP_INSTRUCTIONS * len(steps(tree)) + CONTROL_FLOW_INSTRUCTIONS * len(control_nodes(tree))
    return INSTRUCTION_BYTES * instructions


def _variables(tree: Sequence, beside: list[Sequence], timeline: Timeline, sizes: BufferSizes) -> list[Variable]:
    found: list[Variable] = []

    def add(
        value: ir.Value, name: str, category: Category, location: str, op: ir.Operation | None = None,
        lives: tuple[int | None, int | None] = (None, None),
    ) -> None:  # fmt: skip
        memref = ir.MemRefType(value.type)
        shape = "x".join([*map(str, memref.shape), str(memref.element_type)])
        found.append(Variable(len(found), name, category, f"tensor<{shape}>", location, op, sizes.of(memref), *lives))

    for argument in kept_arguments(tree, beside):
        add(argument, argument_name(argument), "argument", place_of(argument.location))
    for constant in kept_constants(op for each in (timeline, *map(timeline_of, beside)) for op in each.constants):
        add(constant.results[0], constant_name(constant), "constant", place_of(constant.location))
    results = frozenset().union(*timeline.results)
    lives = lifetimes(timeline)
    for number, value in enumerate(timeline.allocations):
        writer = writer_of(value)
        place = place_of((writer or value.owner).location)
        category: Category = "result" if number in results else "temporary"
        add(value, buffer_name(value), category, place, writer, lives[number])
    return found


def lifetimes(timeline: Timeline) -> list[tuple[int | None, int | None]]:
    """Per allocation the lowest and the highest number of a step during which it lives; None where there is none."""
    first = np.full(len(timeline.allocations), -1)
    last = np.full(len(timeline.allocations), -1)
    living: dict[int, int] = {}
    for event in timeline.events:
        if event.kind == "step":
            for number in living:
                if first[number] < 0 or event.number < first[number]:
                    first[number] = event.number
                last[number] = max(last[number], event.number)
        elif event.kind == "birth":
            living[event.number] = living.get(event.number, 0) + 1
        elif living[event.number] == 1:
            del living[event.number]
        else:
            living[event.number] -= 1
    return [(int(low), int(high)) if low >= 0 else (None, None) for low, high in zip(first, last, strict=True)]
