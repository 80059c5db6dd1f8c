"""The home of each tensor of a function: where its memory lies."""

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from ipu_mlir.dialects.analysis.buffers import element_bytes
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op
from ipu_mlir.dialects.analysis.index import plain_index
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.shards import ALL_IPUS, TO_SHARD, argument_shards, shard_of
from ipu_mlir.dialects.attributes.attributes import mapping_to_attr
from ipu_mlir.dialects.costs.work import Move
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import Parts
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.placement.partition.memory_budget import MemoryBudget
from ipu_mlir.passes.placement.partition.on_shard import plan_on_shard, tiles_of_shard
from ipu_mlir.passes.placement.partition.shifted_readers import reach_of_readers
from ipu_mlir.passes.placement.planner.operation import OperandUse, Operation, Planner
from ipu_mlir.passes.support.placement_hints import BLOCK_HOMES, HOMES, MADE_WITHOUT_LOOPS, MAP, broken_home_rule
from ipu_mlir.passes.support.tensor_views import view_of
from ipu_mlir.passes.support.value_attributes import set_value_attributes, value_attributes


class Homes:
    """Remembers where each tensor lies, and decides it for one that somebody asks for too early.

    Attributes:
        known: by tensor that is no view of another, or by op's result, its home.
        budget: the memory that arguments and constants leave.
    """

    def __init__(self, function: ir.Operation, planner: Planner, target: Target, refuse: Refusals) -> None:
        self.known: dict[ir.Value, Mapping] = {}
        self.budget = MemoryBudget(target)
        self._function = function
        self._planner = planner
        self._target = target
        self._refuse = refuse
        self._argument_shards = argument_shards(function)

    def of_all(self, values: list[ir.Value]) -> list[Mapping | None]:
        """The home of each of ``values``; None for one that is no tensor."""
        return [self.of(value) if isinstance(value.type, ir.RankedTensorType) else None for value in values]

    def settle(self, value: ir.Value, needed: Mapping, shared: Mapping | None = None) -> None:
        """A tensor that lies nowhere yet lies where its first reader needs it, if that is a home for all of it.

        Args:
            shared: where it lies if it is not; None for evenly over all tiles.
        """
        root, _ = view_of(value) or (value, None)
        if root in self.known:
            return
        if needed.elements == prod(root.type.shape) and needed.is_home():
            self.decide(root, needed)
        elif shared is not None and self._shard(root) in (None, ALL_IPUS):
            self.decide(root, shared)
        else:
            self.of(value)

    def of(self, value: ir.Value) -> Mapping:
        """Where the memory of ``value`` lies; decided now if it was not before."""
        root, _ = view_of(value) or (value, None)
        if root not in self.known and 0 in root.type.shape:
            self.decide(root, one_tile(0, tiles_of_shard(self._shard(root), self._target).start))
        elif root not in self.known:
            shape = tuple(root.type.shape)
            indices = tuple(plain_index(dimension, len(shape)) for dimension in range(len(shape)))
            bytes_each = element_bytes(root.type.element_type)
            use = OperandUse(indices, shape, View.whole(shape).strides, 0, prod(shape), bytes_each)
            memory = Operation("ipu.home", "home", shape, (True,) * len(shape), (), (use,))
            reach = reach_of_readers(root)
            if any(reach):
                work = Move("copy", "f32" if bytes_each >= 4 else "f16", tuple(range(len(shape))))
                memory = replace(memory, work=work, reach=reach)
            parts = plan_on_shard(self._planner, memory, self._target, self._shard(root))
            assert isinstance(parts, Parts), "nothing is reduced that could run in steps"
            self.decide(root, use.needed(parts))
        return self.known[root]

    def _shard(self, root: ir.Value) -> int | None:
        """The shard that ``root``, which lies nowhere yet, belongs to."""
        if isinstance(root.owner, ir.Block):
            return self._argument_shards.get(root.arg_number)
        return shard_of(root.owner.operation)

    def decide(self, root: ir.Value, home: Mapping) -> None:
        """``root``, which is no view, lies at ``home``."""
        self.known[root] = home
        if isinstance(root.owner, ir.Block) or root.owner.name == "arith.constant":
            self.budget.take(home, element_bytes(root.type.element_type))
        if not isinstance(root.owner, ir.Block):
            root.owner.operation.attributes[MAP] = mapping_to_attr(home)

    def accepts(self, op: ir.Operation, what: str, value: ir.Value, mapping: Mapping) -> bool:
        """True if ``value`` can lie where ``mapping`` says; else ``op`` is refused, whose ``what`` it is."""
        broken = broken_home_rule(mapping, prod(value.type.shape), self._target)
        if broken is not None:
            self._refuse(op, f"cannot be placed: its {what} {broken}")
        return broken is None

    def record(self) -> None:
        """Write into the function where everything lies."""
        self._record_arguments()
        self._record(self._function.regions[0].blocks[0])

    def _record(self, block: ir.Block) -> None:
        """Write into the IR where everything lies that is not an argument, a constant or a view."""
        for each in block.operations:
            op = each.operation
            if op.name == "tensor.empty" and op.results[0] in self.known:
                op.attributes[MAP] = mapping_to_attr(self.known[op.results[0]])
            elif op.name in MADE_WITHOUT_LOOPS or op.name == TO_SHARD:
                op.attributes[MAP] = mapping_to_attr(self.of(op.results[0]))  # if nothing that reads it decided that
            elif is_structured(op) or op.name == "tensor.insert_slice":
                op.attributes[HOMES] = self._attribute(op.results)
            elif control_op(op) is not None:
                op.attributes[HOMES] = self._attribute(op.results)
                blocks = list(blocks_of(op))
                if any(len(inner.arguments) for inner in blocks):
                    op.attributes[BLOCK_HOMES] = ir.ArrayAttr.get([self._attribute(b.arguments) for b in blocks])
                for inner in blocks:
                    self._record(inner)

    def _attribute(self, values: Iterable[ir.Value]) -> ir.ArrayAttr:
        return homes_attribute(self.known.get(value) for value in values)

    def _record_arguments(self) -> None:
        entries = value_attributes(self._function, "arg_attrs")
        for argument, entry in zip(self._function.regions[0].blocks[0].arguments, entries, strict=True):
            if isinstance(argument.type, ir.RankedTensorType):
                entry[MAP] = mapping_to_attr(self.of(argument))
        set_value_attributes(self._function, "arg_attrs", entries)


def homes_attribute(homes: Iterable[Mapping | None]) -> ir.ArrayAttr:
    """A mapping for each value; a unit attribute for one that is no tensor."""
    return ir.ArrayAttr.get([ir.UnitAttr.get() if home is None else mapping_to_attr(home) for home in homes])
