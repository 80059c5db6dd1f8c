"""The decisions for one function: parts op by op, in program order, and from them where each tensor lies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.collectives import COLLECTIVES
from ipu_mlir.dialects.analysis.control_flow import ControlOp, blocks_of, control_op, flows, is_terminator, terminator
from ipu_mlir.dialects.analysis.host_calls import TO_HOST
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, is_structured, loop_nest
from ipu_mlir.dialects.analysis.memory_access import MemoryAccess, memory_accesses
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, SHARD, TO_SHARD, shard_attribute, shard_of
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr, parts_from_attr, parts_to_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.part_rules import broken_part_rule
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.placement.partition.carried_rows import whole_dimensions
from ipu_mlir.passes.placement.partition.first_tiles import FirstTiles
from ipu_mlir.passes.placement.partition.homes import Homes, homes_attribute
from ipu_mlir.passes.placement.partition.on_shard import plan_on_shard, tiles_of_shard
from ipu_mlir.passes.placement.partition.one_tile_loops import carried_tensors, read_from_outside, runs_on_one_tile
from ipu_mlir.passes.placement.partition.operations import operation_of
from ipu_mlir.passes.placement.partition.proportions import MemoryProportions
from ipu_mlir.passes.placement.partition.reduction_steps import run_in_steps
from ipu_mlir.passes.placement.partition.split_reduction import cut_reductions, split_reduction, split_steps
from ipu_mlir.passes.placement.planner.fastest import Fastest, cycles_of
from ipu_mlir.passes.placement.planner.follow import parts_that_follow
from ipu_mlir.passes.placement.planner.on_ipus import ipus_for, ipus_of, spread
from ipu_mlir.passes.placement.planner.operation import InSteps, OperandUse, Operation, Planner
from ipu_mlir.passes.support.initial_values import is_filled_here, is_initial_fill
from ipu_mlir.passes.support.placement_hints import (
    BLOCK_HOMES,
    HOMES,
    MAP,
    PARTS,
    argument_hints,
    wishes,
)
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import view_of


@dataclass(frozen=True)
class Boundary:
    """Where the arguments and the results of a function lie; None for what is no tensor.

    Attributes:
        cycles: of its ops, estimated, where one has to know how many IPUs are best.
    """

    arguments: list[Mapping | None]
    results: list[Mapping | None]
    cycles: int = 0


class TooSlow(Exception):
    """What was only tried takes more cycles than something that is known.

    Attributes:
        cycles: that it takes at least.
    """

    def __init__(self, cycles: int) -> None:
        super().__init__(cycles)
        self.cycles = cycles


class _Decided(NamedTuple):
    """How an op is cut, and what that was decided by."""

    nest: LoopNest
    accesses: list[MemoryAccess]
    operation: Operation
    parts: Parts | InSteps


class FunctionPartition:
    """Decides op by op, in program order."""

    def __init__(
        self,
        function: ir.Operation,
        planner: Planner,
        target: Target,
        proportions: MemoryProportions,
        refuse: Refusals,
        called: dict[str, Boundary],
        most_ipus: int | None = None,
        limit: int | None = None,
    ) -> None:
        self.function = function
        self._ipus = _numbers_of_ipus(function, most_ipus, target)
        self.target = target = replace(target, ipus=max(self._ipus, default=target.ipus))
        self.proportions = proportions
        self.refuse = refuse
        self.called = called
        self.homes = Homes(function, planner, target, refuse)
        self.first_tiles = FirstTiles(planner, target, self.homes.known, self._without_homes)
        self._planner = planner
        self._times = 1
        self._cycles = 0
        self._brought: set[tuple[ir.Value | None, Mapping]] = set()
        """Memory that ops read, and on which tiles."""
        self._hints: set[ir.Value] = set()
        """Arguments with a hint where they lie."""
        self._tile: int | None = None
        """Where the loop runs whose ops are being placed, if one tile runs it."""
        self._limit = limit

    def run(self) -> Boundary:
        """Decide, and write it into the function; the functions that it calls are decided before."""
        block = self.function.regions[0].blocks[0]
        for argument, hint in zip(block.arguments, argument_hints(self.function), strict=True):
            name = f"argument {argument.arg_number}"
            if hint is not None and self.homes.accepts(self.function, name, argument, hint):
                self.homes.known[argument] = hint
                self._hints.add(argument)
        self._visit_block(block)
        self.homes.record()
        ends = (list(block.arguments), list(terminator(block).operands))
        arguments, results = (self.homes.of_all(values) for values in ends)
        return Boundary(arguments, results, self._cycles)

    def _visit(self, op: ir.Operation) -> None:
        if is_structured(op):
            if not is_initial_fill(op):
                self._structured(op)
        elif op.name in ("arith.constant", "tensor.empty") and MAP in op.attributes:
            self._hinted(op)
        elif op.name == "ipu.place":
            self._placed(op)
        elif op.name == "tensor.empty" and self._tile is not None:
            self.homes.known[op.results[0]] = one_tile(prod(op.results[0].type.shape), self._tile)
        elif op.name in COLLECTIVES:
            self._collective(op)
        elif op.name == "tensor.insert_slice":
            self.homes.known[op.results[0]] = self.homes.of(op.operands[1])
            self.homes.of(op.operands[0])
        elif (control := control_op(op)) is not None:
            self._control(op, control)
        elif op.name == "func.call":
            self._call(op)
        elif is_terminator(op) or op.name in ("tensor.extract", TO_SHARD) or op.name in TO_HOST:
            self.homes.of_all(list(op.operands))

    def _collective(self, op: ir.Operation) -> None:
        """Place what a replica gets where what it gave lies, unless it has another shape."""
        home = self.homes.of(op.operands[0])
        if op.operands[0].type == op.results[0].type and home.elements == prod(op.results[0].type.shape):
            self.homes.known[op.results[0]] = home

    def _visit_block(self, block: ir.Block) -> None:
        for op in list(block.operations):
            self._visit(op.operation)

    def _control(self, op: ir.Operation, control: ControlOp) -> None:
        """Place what a loop carries or a branch gives where the first value that it can be lies."""
        if self._tile is None and self._runs_on_one_tile(op):
            reads = read_from_outside(op)
            self._tile = self.first_tiles.of_loop(op, [*_begins_with(op), *reads])
            for value in reads:
                self.homes.settle(value, one_tile(prod(value.type.shape), self._tile))
            self._control(op, control)
            self._tile = None
            return
        if self._tile is not None:
            self.homes.known.update((each, one_tile(prod(each.type.shape), self._tile)) for each in carried_tensors(op))
        self._follow(op, op)
        once, self._times = self._times, self._times * (control.trip_count(op) or 1)
        for block in blocks_of(op):
            self._visit_block(block)
            self._follow(op, terminator(block))
        self._times = once

    def _runs_on_one_tile(self, loop: ir.Operation) -> bool:
        """True if the work of ``loop`` is so little that one tile does it in fewer cycles than many.

        Where it begins with arguments that are spread out by hints, it stays there.
        """
        is_spread = any(each in self._hints and self.homes.known[each].num_parts > 1 for each in _begins_with(loop))
        if is_spread or not isinstance(self._planner, Fastest):
            return False
        tiles = tiles_of_shard(shard_of(loop), self.target)
        left = self.homes.budget.bytes_left(tiles)
        return runs_on_one_tile(loop, self.target, self._without_homes, self._cycles_on_all, left)

    def _without_homes(self, op: ir.Operation) -> Operation:
        """What the planner is asked about ``op``, as if nothing lay anywhere yet."""
        nest = loop_nest(op)
        assert nest is not None, "refuse_unplaceable lets none pass"
        return operation_of(op, nest, memory_accesses(op, nest), {}, self.proportions, self.target)

    def _cycles_on_all(self, op: ir.Operation, operation: Operation) -> int | None:
        target = replace(self.target, ipus=1)
        parts = plan_on_shard(self._planner, operation, target, None)
        return None if isinstance(parts, InSteps) else cycles_of(operation, parts, target)

    def _call(self, op: ir.Operation) -> None:
        """Place what a function takes and gives where it lies for all of its calls."""
        name = callee_of(op)
        if name not in self.called:
            self.refuse(
                op, f"calls @{name}, which has no body, or calls itself; a call that stays is of another function"
            )
            return
        boundary = self.called[name]
        self._add(boundary.cycles)
        for operand, home in zip(op.operands, boundary.arguments, strict=True):
            if home is not None:
                self.homes.settle(operand, home)
        for result, home in zip(op.results, boundary.results, strict=True):
            if home is not None:
                self.homes.known[result] = home
        op.attributes[BLOCK_HOMES] = ir.ArrayAttr.get([homes_attribute(boundary.arguments)])
        op.attributes[HOMES] = homes_attribute(boundary.results)

    def _follow(self, op: ir.Operation, source: ir.Operation) -> None:
        """Place what values go to from ``source``, if nothing else went there before."""
        for flow in flows(op):
            if flow.source == source:
                homes = zip(flow.targets, self.homes.of_all(flow.values()), strict=True)
                known = self.homes.known
                known.update({to: home for to, home in homes if home is not None and to not in known})

    def _structured(self, op: ir.Operation, is_counted: bool = False) -> Parts | None:
        """Cut ``op``, and place what it makes; gives its parts, or None where they are refused.

        Args:
            is_counted: its cycles are in those of the op that it was a piece of.
        """
        shard = shard_of(op)
        decided = self._decided(op)
        if decided is None:
            return None
        nest, accesses, operation, parts = decided
        if self._ipus and not is_counted:
            self._count(operation, accesses, parts)
        if isinstance(parts, InSteps):
            return self._steps(_on_shard(run_in_steps(op, nest, parts.loop, parts.block), shard), parts.loop)
        if cut_reductions(nest, parts):
            for each in _on_shard(split_reduction(op, nest, parts), shard):
                self._structured(each, is_counted=True)
            return parts
        op.attributes[PARTS] = parts_to_attr(parts)
        self._place_operands(op, nest, accesses, operation, parts)
        return parts

    def _count(self, operation: Operation, accesses: Sequence[MemoryAccess], parts: Parts | InSteps) -> None:
        """Add the cycles of ``operation``; what was brought to the same tiles for an op before it comes once."""
        if isinstance(parts, InSteps):
            self._add(parts.cycles)
            return
        views = (view_of(access.value) for access in accesses if not access.written)
        keys = [(view and view[0], use.needed(parts)) for view, use in zip(views, operation.inputs, strict=True)]
        new = tuple(use for key, use in zip(keys, operation.inputs, strict=True) if key not in self._brought)
        self._brought.update(keys)
        self._add(cycles_of(replace(operation, inputs=new), parts, self.target))

    def _add(self, cycles: int) -> None:
        self._cycles += self._times * cycles
        if self._limit is not None and self._cycles > self._limit:
            raise TooSlow(self._cycles)

    def _decided(self, op: ir.Operation, is_step: bool = False) -> _Decided | None:
        """What is decided for ``op``; None where its parts are refused."""
        nest = loop_nest(op)
        assert nest is not None, "refuse_unplaceable lets none pass"
        accesses = memory_accesses(op, nest)
        shard = shard_of(op)
        operation = operation_of(op, nest, accesses, self.homes.known, self.proportions, self.target)
        left = self.homes.budget.bytes_left(tiles_of_shard(shard, self.target))
        operation = replace(
            operation,
            temporary_bytes=min(operation.temporary_bytes, left),
            ipus=(self.target.ipus,) if shard == ALL_IPUS else self._ipus,
        )
        if is_step:
            operation = replace(operation, step_loops=())
        if op.name == "linalg.fill":
            whole = whole_dimensions(op.results[0], len(tiles_of_shard(shard, self.target)))
            cut = tuple(each and loop not in whole for loop, each in enumerate(operation.parallel))
            operation = replace(operation, parallel=cut)
        parts = self._parts(op, operation)
        if isinstance(parts, InSteps):
            return _Decided(nest, accesses, operation, parts)
        multiples = [max(multiple, int(operation.splittable)) for multiple in nest.cut_multiples]
        broken = broken_part_rule(parts, nest.extents, multiples) or self._broken_tiles(parts, shard)
        if broken is not None:
            self.refuse(op, broken)
            return None
        return _Decided(nest, accesses, operation, parts)

    def _steps(self, steps: list[ir.Operation], loop: int) -> Parts | None:
        """All steps run where the first one does, so that what they add up stays where it is."""
        shard = shard_of(steps[0])
        decided = self._decided(steps[0], is_step=True)
        if decided is None:
            return None
        parts = decided.parts
        assert isinstance(parts, Parts), "a step has no steps"
        own = [parts]
        for step in steps[1:]:
            nest = loop_nest(step)
            assert nest is not None, "a step has the loops of the first one"
            cut, extent = parts.loops[loop], nest.extents[loop]
            again = PartLoop(min(cut.block, extent), extent, cut.tile_step if cut.block < extent else 0)
            own.append(replace(parts, loops=(*parts.loops[:loop], again, *parts.loops[loop + 1 :])))
        if all(cut_reductions(decided.nest, each) for each in own):
            steps = _on_shard(split_steps(steps, own), shard)
        else:
            for step, each in zip(steps, own, strict=True):
                step.attributes[PARTS] = parts_to_attr(each)
        for step in steps:
            self._structured(step, is_counted=True)
        return parts

    def _place_operands(
        self, op: ir.Operation, nest: LoopNest, accesses: list[MemoryAccess], operation: Operation, parts: Parts
    ) -> None:
        """Homes for what ``op`` reads and does not lie anywhere yet, and for what it makes."""
        reads, writes = ([x for x in accesses if x.written == written] for written in (False, True))
        for access, use in zip(reads, operation.inputs, strict=True):
            self.homes.settle(access.value, use.needed(parts), self._shared(op, use, parts))
        for value in list(op.operands)[: nest.num_inputs]:
            if isinstance(value.type, ir.RankedTensorType):
                self.homes.of(value)  # those whose elements do not matter
        for result, access, use in zip(op.results, writes, operation.outputs, strict=True):
            home = use.needed(parts)
            if not home.is_disjoint():
                self.refuse(op, "has parts that write one element from two tiles; do not cut a loop the result lacks")
            self.homes.known[result] = home
            self._settle_init(access, home, parts)

    def _shared(self, op: ir.Operation, use: OperandUse, parts: Parts) -> Mapping | None:
        """Where what several parts of ``op`` need lies on some of several IPUs; None where the whole target has it."""
        if self.target.ipus == 1 or use.home is not None or shard_of(op) is not None or self.target.io_tiles:
            return None
        return spread(use, parts, replace(self.target, ipus=ipus_of(use.needed(parts), self.target)))

    def _parts(self, op: ir.Operation, operation: Operation) -> Parts | InSteps:
        """The parts that the user gave, or those that a placement of the result asks for, or the planner's."""
        if PARTS in op.attributes:
            return parts_from_attr(op.attributes[PARTS])
        if self._tile is not None:
            return Parts(tuple(PartLoop(max(1, each), each, 0) for each in operation.extents), self._tile)
        for result, use in zip(op.results, operation.outputs, strict=True):
            strides = [
                sum(i.coefficients[loop] * s for i, s in zip(use.indices, use.strides, strict=True))
                for loop in range(len(operation.extents))
            ]
            init = op.operands[len(op.operands) - len(op.results) + result.result_number]
            hinted = [self.homes.known[init]] if init in self.homes.known and is_filled_here(init) else []
            for wish in (*hinted, *wishes(result)):
                parts = parts_that_follow(wish, operation.extents, strides, operation.cuttable)
                if parts is not None:
                    return parts
        return self.first_tiles.plan(op, operation, shard_of(op))

    def _settle_init(self, access: MemoryAccess, home: Mapping, parts: Parts) -> None:
        """The initial value of a result lies where the result lies; a fill runs in the same blocks."""
        init = access.value
        if not is_filled_here(init):
            self.homes.of(init)
            return
        hint = self.homes.known.get(init)
        if hint is not None and hint.normalized() != home:
            self.refuse(init.owner, "cannot lie where its hint says: the op that fills it cannot be cut like that")
        self.homes.known[init] = home
        if init.owner.name == "linalg.fill":
            self.homes.known[init.owner.operands[1]] = home
            cuts = [PartLoop(size, size, 0) for size in init.type.shape]
            for dimension, index in enumerate(access.indices):
                if index.plain_loop is not None:
                    cuts[dimension] = parts.loops[index.plain_loop]
                elif index.block_of is not None:
                    loop, block = index.block_of
                    cut = parts.loops[loop]
                    cuts[dimension] = PartLoop(max(1, cut.block // block), init.type.shape[dimension], cut.tile_step)
            init.owner.operation.attributes[PARTS] = parts_to_attr(Parts(tuple(cuts), parts.first_tile))

    def _hinted(self, op: ir.Operation) -> None:
        hint = mapping_from_attr(op.attributes[MAP])
        if self.homes.accepts(op, "value", op.results[0], hint):
            self.homes.known[op.results[0]] = hint

    def _placed(self, op: ir.Operation) -> None:
        wish = mapping_from_attr(op.attributes["mapping"])
        if not self.homes.accepts(op, "value", op.results[0], wish):
            return
        self.homes.known[op.results[0]] = wish
        found = view_of(op.operands[0])
        if found is not None and found[1].is_whole() and prod(found[0].type.shape) == wish.elements:
            self.homes.settle(found[0], wish)

    def _broken_tiles(self, parts: Parts, shard: int | None) -> str | None:
        first, last = parts.min_tile, parts.max_tile
        if first < 0 or last >= self.target.num_tiles:
            return f"has parts on tiles {first} to {last}, but the target has {self.target.num_tiles} tiles"
        tiles = tiles_of_shard(shard, self.target)
        if first < tiles.start or last >= tiles.stop:
            return (
                f"has parts on tiles {first} to {last}, but shard {shard} has tiles {tiles.start} to {tiles.stop - 1}; "
                "change the hint or the shard"
            )
        return None


def _begins_with(loop: ir.Operation) -> list[ir.Value]:
    """The tensors, no views, that ``loop`` carries first."""
    values = [value for flow in flows(loop) if flow.source == loop for value in flow.values()]
    return [(view_of(each) or (each, None))[0] for each in values if isinstance(each.type, ir.RankedTensorType)]


def _numbers_of_ipus(function: ir.Operation, most: int | None, target: Target) -> tuple[int, ...]:
    """How many IPUs an op may take: as many as have room for all tensors, or ``most``; none if it has a shard."""
    if most is None:
        return ()
    least = fewest_ipus(function, target)
    return tuple(sorted({least, max(least, most)}))


def fewest_ipus(function: ir.Operation, target: Target) -> int:
    """The fewest IPUs that have room for all tensors of ``function``; those there are at most."""
    return ipus_for(_bytes_of_all(function), target)


def _bytes_of_all(function: ir.Operation) -> int:
    """Of all arguments and results in ``function``, as if all lived at once."""
    values = [value for op in list_ops(function) for value in op.results]
    values += [value for op in (function, *list_ops(function)) for b in blocks_of(op) for value in b.arguments]
    tensors = [each.type for each in values if isinstance(each.type, ir.RankedTensorType)]
    return sum(prod(each.shape) * element_bytes(each.element_type) for each in tensors)


def _on_shard(ops: Sequence[ir.Operation], shard: int | None) -> list[ir.Operation]:
    """``ops``, which one op of ``shard`` has become, with that shard."""
    if shard is not None:
        for op in ops:
            op.attributes[SHARD] = shard_attribute(shard)
    return list(ops)
