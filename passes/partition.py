"""``ipu-partition``: which part of every op runs on which tile."""

from dataclasses import dataclass
from math import prod
from typing import Any

from ipu_mlir.dialects.attributes import mapping_from_attr, mapping_to_attr, parts_from_attr, parts_to_attr
from ipu_mlir.dialects.bindings import ir
from ipu_mlir.dialects.buffers import element_bytes
from ipu_mlir.dialects.codelets.naming import codelet_name
from ipu_mlir.dialects.loop_nest import Index, LoopNest, is_structured, loop_nest, reads_operand
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.module_target import module_target
from ipu_mlir.dialects.part_rules import broken_part_rule
from ipu_mlir.dialects.target import Target
from ipu_mlir.passes.base import Pass, Refusals
from ipu_mlir.passes.placement_hints import MAP, PARTS, broken_home_rule
from ipu_mlir.passes.planner.balanced import Balanced
from ipu_mlir.passes.planner.follow import parts_that_follow
from ipu_mlir.passes.planner.operation import OperandUse, Operation, Planner
from ipu_mlir.passes.rewriting import list_ops
from ipu_mlir.passes.tensor_views import row_major, window_of

_NOTHING = OperandUse((), (), (), 0, 1, 1)
"""An operand that takes no memory on the tiles."""


@dataclass(frozen=True)
class Partition(Pass):
    """Cut every structured op into parts and choose a home for every tensor.

    Options: ``grain``, the bytes at whose multiples the fastest dimension of a result is cut. Python users may give
    another ``planner``, a function from an ``Operation`` and a ``Target`` to ``Parts``.

    Needs:  linalg on tensors with static shapes, views with evenly spaced elements (``ipu-materialize-views``), and one
            user per fill (``ipu-split-fills``).
    Leaves: ``ipu.parts`` on every structured op, ``ipu.map`` on arguments, constants and the empty tensors that no
            structured op fills. Hints that stand there already are honoured, or refused with a reason.
    """

    name = "ipu-partition"

    grain: int = 8
    planner: Planner | None = None

    def run(self, module: ir.Operation) -> None:
        target = module_target(module)
        planner = self.planner or Balanced(self.grain)
        with module.context, ir.Location.unknown(), Refusals() as refuse:
            for function in list_ops(module, "func.func"):
                if len(function.regions[0].blocks):
                    _FunctionPartition(planner, target, refuse).run(function)


class _FunctionPartition:
    """Decides op by op, in program order, and remembers where each tensor lies."""

    def __init__(self, planner: Planner, target: Target, refuse: Refusals) -> None:
        self.planner = planner
        self.target = target
        self.refuse = refuse
        self.homes: dict[ir.Value, Mapping] = {}
        self.constants: list[ir.Operation] = []

    def run(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        hints = _argument_hints(function)
        for argument, hint in zip(block.arguments, hints, strict=True):
            if hint is not None and self._is_home(function, f"argument {argument.arg_number}", argument, hint):
                self.homes[argument] = hint
        for op in block.operations:
            self._visit(op.operation)
        self._record_arguments(function, list(block.arguments))

    def _visit(self, op: ir.Operation) -> None:
        if is_structured(op):
            if not _is_initial_value(op):
                self._structured(op)
        elif op.name == "ipu.place":
            self._placed(op)
        elif op.name == "tensor.insert_slice":
            self.homes[op.results[0]] = self._home(op.operands[1])
            self._home(op.operands[0])
        elif op.name == "func.return":
            for value in op.operands:
                self._home(value)

    def _structured(self, op: ir.Operation) -> None:
        nest = loop_nest(op)
        if nest is None:
            self.refuse(op, "has loops whose extents are not known; rewrite it as linalg.generic with static shapes")
            return
        operation = self._describe(op, nest)
        parts = self._parts(op, operation)
        broken = broken_part_rule(parts, nest.extents, nest.parallel) or self._off_target(parts)
        if broken is not None:
            self.refuse(op, broken)
            return
        op.attributes[PARTS] = parts_to_attr(parts)
        for value, use in zip(op.operands, operation.inputs, strict=False):
            if use is not _NOTHING:
                self._settle(value, use.needed(parts))
            elif isinstance(value.type, ir.RankedTensorType):
                self._home(value)
        for result, init, use in zip(op.results, list(op.operands)[nest.num_inputs :], operation.outputs, strict=True):
            home = use.needed(parts)
            if not home.is_disjoint():
                self.refuse(op, "has parts that write one element from two tiles; do not cut a loop the result lacks")
            self.homes[result] = home
            self._settle_init(init, home, parts, use.indices)

    def _parts(self, op: ir.Operation, operation: Operation) -> Parts:
        """The parts that the user gave, or those that a placement of the result asks for, or the planner's."""
        if PARTS in op.attributes:
            return parts_from_attr(op.attributes[PARTS])
        for result, use in zip(op.results, operation.outputs, strict=True):
            for consumer in result.uses:
                if consumer.owner.name == "ipu.place":
                    strides = [
                        sum(i.coefficients[loop] * s for i, s in zip(use.indices, use.strides, strict=True))
                        for loop in range(len(operation.extents))
                    ]
                    wish = mapping_from_attr(consumer.owner.attributes["mapping"])
                    parts = parts_that_follow(wish, operation.extents, strides, operation.cuttable)
                    if parts is not None:
                        return parts
        return self.planner(operation, self.target)

    def _describe(self, op: ir.Operation, nest: LoopNest) -> Operation:
        uses = [
            self._use(value, indices) if self._matters(op, nest, number) else _NOTHING
            for number, (value, indices) in enumerate(zip(op.operands, nest.indices, strict=True))
        ]
        return Operation(
            op.name,
            codelet_name(op, nest),
            nest.extents,
            nest.parallel,
            tuple(uses[: nest.num_inputs]),
            tuple(uses[nest.num_inputs :]),
        )

    def _matters(self, op: ir.Operation, nest: LoopNest, number: int) -> bool:
        """Whether vertices touch the operand's memory: not a scalar (part of the code), not a window's shape."""
        if not isinstance(op.operands[number].type, ir.RankedTensorType):
            return False
        return number >= nest.num_inputs or reads_operand(op, number)

    def _use(self, value: ir.Value, indices: tuple[Index, ...]) -> OperandUse:
        found = window_of(value)
        assert found is not None, "a view without evenly spaced elements; ipu-materialize-views copies those"
        root, window = found
        return OperandUse(
            indices,
            window.shape,
            window.strides,
            window.offset,
            prod(root.type.shape),
            element_bytes(value.type.element_type),
            self.homes.get(root),
        )

    def _settle(self, value: ir.Value, needed: Mapping) -> None:
        """A tensor that lies nowhere yet lies where its first reader needs it, if that is a home."""
        root, _ = window_of(value) or (value, None)
        if root in self.homes:
            return
        if needed.is_home():
            self._decide(root, needed)
        else:
            self._home(value)

    def _settle_init(self, init: ir.Value, home: Mapping, parts: Parts, indices: tuple[Index, ...]) -> None:
        """The initial value of a result lies where the result lies; a fill runs in the same blocks."""
        owner = init.owner
        if isinstance(owner, ir.Block) or not _is_initial_value(owner):
            if isinstance(owner, ir.Block) or owner.name != "tensor.empty":
                self._home(init)
            return
        cuts = [PartLoop(size, size, 0) for size in init.type.shape]
        for dimension, index in enumerate(indices):
            if index.plain_loop is not None:
                cuts[dimension] = parts.loops[index.plain_loop]
        owner.operation.attributes[PARTS] = parts_to_attr(Parts(tuple(cuts), parts.first_tile))
        self.homes[init] = home

    def _placed(self, op: ir.Operation) -> None:
        wish = mapping_from_attr(op.attributes["mapping"])
        if not self._is_home(op, "value", op.results[0], wish):
            return
        self.homes[op.results[0]] = wish
        root, window = window_of(op.operands[0]) or (op.operands[0], None)
        if root not in self.homes and window == row_major(window.shape):
            self._decide(root, wish)

    def _home(self, value: ir.Value) -> Mapping:
        """Where the memory of ``value`` lies; decided now if it was not before."""
        root, _ = window_of(value) or (value, None)
        if root not in self.homes:
            shape = tuple(root.type.shape)
            loops = len(shape)
            indices = tuple(Index(tuple(int(loop == d) for loop in range(loops))) for d in range(loops))
            bytes_each = element_bytes(root.type.element_type)
            use = OperandUse(indices, shape, row_major(shape).strides, 0, prod(shape), bytes_each)
            whole = Operation("ipu.home", "home", shape, (True,) * loops, (), (use,))
            self._decide(root, use.needed(self.planner(whole, self.target)))
        return self.homes[root]

    def _decide(self, root: ir.Value, home: Mapping) -> None:
        self.homes[root] = home
        if not isinstance(root.owner, ir.Block):
            root.owner.operation.attributes[MAP] = mapping_to_attr(home)

    def _is_home(self, op: ir.Operation, what: str, value: ir.Value, mapping: Mapping) -> bool:
        broken = broken_home_rule(mapping, prod(value.type.shape), self.target)
        if broken is not None:
            self.refuse(op, f"cannot be placed: its {what} {broken}")
        return broken is None

    def _off_target(self, parts: Parts) -> str | None:
        tiles = parts.tiles()
        if tiles.min() < 0 or tiles.max() >= self.target.num_tiles:
            return (
                f"has parts on tiles {tiles.min()} to {tiles.max()}, but the target has {self.target.num_tiles} tiles"
            )
        return None

    def _record_arguments(self, function: ir.Operation, arguments: list[ir.Value]) -> None:
        old = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
        attributes: list[Any] = []
        for number, argument in enumerate(arguments):
            entries = {entry.name: entry.attr for entry in old[number]} if old else {}
            if isinstance(argument.type, ir.RankedTensorType):
                entries[MAP] = mapping_to_attr(self._home(argument))
            attributes.append(ir.DictAttr.get(entries))
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)


def _is_initial_value(op: Any) -> bool:
    """Whether ``op`` is a fill that is only the initial value of another structured op's result."""
    if op.name != "linalg.fill":
        return False
    uses = list(op.operation.results[0].uses)
    if len(uses) != 1 or not is_structured(uses[0].owner):
        return False
    user = uses[0].owner.operation
    return uses[0].operand_number >= len(user.operands) - len(user.results)


def _argument_hints(function: ir.Operation) -> list[Mapping | None]:
    arguments = len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" not in function.attributes:
        return [None] * arguments
    return [mapping_from_attr(entries[MAP]) if MAP in entries else None for entries in function.attributes["arg_attrs"]]
