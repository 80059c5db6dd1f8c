"""First tiles: ops that take few tiles begin where their operands do, or on tiles that nobody has taken lately."""

from collections.abc import Callable
from dataclasses import replace
from math import prod

from ipu_mlir.dialects.analysis.control_flow import control_op, flows, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.shards import shard_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.placement.partition.apart import tiles_apart
from ipu_mlir.passes.placement.partition.on_shard import moved, plan_on_shard, tiles_of_shard
from ipu_mlir.passes.placement.planner.fastest import Fastest
from ipu_mlir.passes.placement.planner.operation import InSteps, Operation, Planner
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, view_of

_AHEAD = 3  # ops behind one another whose other operands are asked where they lie


class FirstTiles:
    """Where parts begin, which planners count from the first tile of an IPU.

    An op is small if it takes at most half of the tiles of an IPU. Small ops that have nothing to do with each other
    run at the same time where they lie on different tiles, and their tensors share out the memory.
    """

    def __init__(
        self,
        planner: Planner,
        target: Target,
        known: dict[ir.Value, Mapping],
        question: Callable[[ir.Operation], Operation],
    ) -> None:
        self._planner = planner
        self._question = question
        self._target = target
        self._known = known
        self._tiles = target.tiles_per_ipu - target.io_tiles
        self._next: dict[int, int] = {}
        """Per first tile of an IPU, how many tiles behind it the next small op begins."""
        self._apart: dict[ir.Block, dict[ir.Operation, Parts]] = {}
        """Per block, the parts of ops that have tiles of their own, counted from the first of these."""

    def plan(self, op: ir.Operation, operation: Operation, shard: int | None) -> Parts | InSteps:
        """The decision of the planner for ``op``, which is ``operation``, on tiles that suit it."""
        start = tiles_of_shard(shard, self._target).start
        if own := self._apart_of(op):
            return replace(own, first_tile=self._free(start, own.max_tile + 1))
        there = self._begin_of_reads(operation, start)
        if there:
            found = plan_on_shard(self._planner, moved(operation, -there), self._target, shard)
            if isinstance(found, Parts) and found.max_tile + there < start + self._tiles:
                return replace(found, first_tile=found.first_tile + there)
        found = plan_on_shard(self._planner, operation, self._target, shard)
        if isinstance(found, InSteps) or not self._is_free(operation, found, start):
            return found
        near = self._near(op, start, _AHEAD)
        if near is not None and near + found.max_tile < start + self._tiles:
            return replace(found, first_tile=found.first_tile + near)
        return replace(found, first_tile=self._free(start, found.max_tile - start + 1))

    def of_loop(self, loop: ir.Operation, values: list[ir.Value]) -> int:
        """The tile for ``loop``, which one tile runs: that of the first of ``values`` that lies on one."""
        for value in values:
            home = self._known.get((view_of(value) or (value, None))[0])
            if home is not None and home.num_parts == 1:
                return home.first_tile
        return self._free(tiles_of_shard(shard_of(loop), self._target).start, 1)

    def _apart_of(self, op: ir.Operation) -> Parts | None:
        """The parts of ``op`` on tiles of its own, counted from the first of these; None if it has none."""
        if self._target.ipus > 1 or not isinstance(self._planner, Fastest):
            return None
        if op.block not in self._apart:
            quiet = replace(self._planner, listener=None)
            found = tiles_apart(op.block, self._known.__contains__, self._question, quiet, self._target)
            self._apart[op.block] = found
        return self._apart[op.block].get(op)

    def _free(self, start: int, span: int) -> int:
        """The first of ``span`` tiles that no small op has taken lately."""
        at = self._next.get(start, 0)
        if at + span > self._tiles:
            at = 0
        self._next[start] = at + span
        return start + at

    def _begin_of_reads(self, operation: Operation, start: int) -> int:
        """How many tiles behind ``start`` the operands begin that lie somewhere; 0 where they are at odds."""
        begins = {self._begin(use.home, start) for use in operation.reads if use.home is not None and use.elements > 1}
        (there,) = begins if len(begins) == 1 else (None,)
        return there or 0

    def _begin(self, home: Mapping, start: int) -> int | None:
        """How many tiles behind ``start`` a small tensor begins; None of another one."""
        if not home.num_parts or home.min_tile < start or home.max_tile >= start + self._tiles:
            return None
        return home.min_tile - start if 2 * (home.max_tile - home.min_tile + 1) <= self._tiles else None

    def _is_free(self, operation: Operation, parts: Parts, start: int) -> bool:
        """True of small parts at the first tile, none of whose operands lies there for them."""
        if parts.first_tile != start or parts.min_tile < start or 2 * (parts.max_tile - start + 1) > self._tiles:
            return False
        if all(prod(use.shape) <= 1 for use in operation.outputs):
            return False
        several = [use for use in operation.reads if use.home is not None and use.elements > 1]
        return not any(use.home.contains(use.needed(parts)) for use in several if use.home is not None)

    def _near(self, op: ir.Operation, start: int, ahead: int) -> int | None:
        """How many tiles behind ``start`` what will be used together with a result of ``op`` begins, if it is known."""
        for result in op.results:
            for use in result.uses:
                user = use.owner.operation
                others = _carried(user, use.operand_number) if is_terminator(user) else _operands(user, result)
                for other in others:
                    home = self._known.get((view_of(other) or (other, None))[0])
                    begin = None if home is None or home.elements <= 1 else self._begin(home, start)
                    if begin is not None:
                        return begin
                if ahead > 1 and (is_structured(user) or user.name in VIEW_OPS):
                    begin = self._near(user, start, ahead - 1)
                    if begin is not None:
                        return begin
        return None


def _operands(user: ir.Operation, result: ir.Value) -> list[ir.Value]:
    """The other tensors that a structured op needs in one place with ``result``."""
    if not is_structured(user):
        return []
    return [each for each in user.operands if each != result and isinstance(each.type, ir.RankedTensorType)]


def _carried(end: ir.Operation, number: int) -> list[ir.Value]:
    """What operand ``number`` of a terminator becomes in the next iteration, or behind the op."""
    around = end.parent
    if around is None or control_op(around.operation) is None:
        return []
    found = [flow for flow in flows(around.operation) if flow.source == end]
    return [flow.targets[number - flow.first] for flow in found if 0 <= number - flow.first < len(flow.targets)]
