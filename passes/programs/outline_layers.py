"""``ipu-outline-layers``: layers that are alike are one function, which is compiled and stored once."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, count

from ipu_mlir.dialects.analysis.control_flow import control_op, is_terminator
from ipu_mlir.dialects.analysis.locations import name_scope
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.analysis.shards import SHARD, argument_shards
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.repeated_sequences import Repeat, largest_repeat
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.placement_hints import PROPORTION
from ipu_mlir.passes.support.rewriting import list_ops

func = upstream("func")

_FEWEST = 3  # copies
_CUTS = 4  # places between copies that are tried
_PURE = ("linalg", "tensor", "arith", "math", "scf")
_NAME_PARTS = re.compile(r"([^\w]+)")

Slot = tuple[int, ...]
"""Where a copy uses a value: the number of its op, and that of the value among what the op uses from outside."""


@dataclass(frozen=True)
class OutlineLayers(Pass):
    """Make one function of a sequence of ops that a large program repeats, as the layers of a network are, and call it.

    The function is compiled once, and its code is stored once on each tile. Each call may cost a sync more than the ops
    did in its place, where what it takes does not lie where the function reads it.

    The sequences stand directly behind each other, and do the same to other tensors. Constants of one value and empty
    tensors are made inside. Sequences that write into what they are given, and those whose results the program returns
    or assigns to variables, stay as they are: their results would be copied. Where names of ops differ from copy to
    copy, the name of the op in the function has ``*``.

    Options: ``least``, the ops that no longer need to be compiled, from which on it is done.

    Needs:  fused ops (``ipu-fuse-elementwise-ops``): nothing is fused across the edges of a function later.
    Leaves: calls marked ``no_inline`` of private functions on tensors.
    """

    name = "ipu-outline-layers"

    least: int = 160

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                for block in list(_blocks_in(function)):
                    if len(block.operations) > self.least:
                        _outline_in(block, function, self.least)


def _blocks_in(op: ir.Operation) -> Iterator[ir.Block]:
    """The blocks of ``op`` that hold ops on tensors, those of loops and branches inside them as well."""
    for region in op.regions:
        for block in region.blocks:
            yield block
            for inner in block.operations:
                if control_op(inner.operation) is not None:
                    yield from _blocks_in(inner.operation)


def _outline_in(block: ir.Block, function: ir.Operation, least: int) -> None:
    """Make functions of what ``block``, which stands in ``function``, repeats."""
    every = [op.operation for op in block.operations]
    if argument_shards(function) or any(SHARD in op.attributes for op in every):
        return  # what has no shard itself belongs to that of its neighbours
    keys = _Keys()
    ops = [op for op in every if not _is_made_anywhere(op)]
    items = [keys.of(op) for op in ops]
    never = count(-1, -1)  # is equal to nothing
    while (repeat := largest_repeat(items, _FEWEST)) is not None and repeat.saved >= least:
        copies = _Copies.best_of(ops, repeat, block)
        if copies is not None and copies.saved >= least:
            copies.outline(function)
        for place in range(repeat.start, repeat.start + repeat.length * repeat.times + repeat.spare):
            items[place] = next(never)


def _is_made_anywhere(op: ir.Operation) -> bool:
    """True of constants, and of tensors that are empty or begin with one value."""
    if op.name == "linalg.fill":
        return all(map(_is_cheap, op.operands))
    return op.name == "arith.constant" or (op.name == "tensor.empty" and not len(op.operands))


def _is_cheap(value: ir.Value) -> bool:
    """True if ``value`` is made anew inside of each function: a fill, an empty tensor or a constant of one value."""
    op = defining_op(value)
    if op is None or not _is_made_anywhere(op):
        return False
    if op.name != "arith.constant" or not isinstance(value.type, ir.ShapedType):
        return True
    constant = op.attributes["value"]
    return isinstance(constant, ir.DenseElementsAttr) and constant.is_splat


class _Keys:
    """A number for each op: that of ops is equal which do the same to other operands of the same types."""

    def __init__(self) -> None:
        self._numbers: dict[object, int] = {}
        self._cheap: dict[ir.Value, object] = {}
        self._never = count()

    def of(self, op: ir.Operation) -> int:
        """The number of ``op``."""
        found, scope = self._structure(op, {}), name_scope(op.location)
        key = (next(self._never),) if found is None else (found, scope if PROPORTION in scope else "")
        return self._numbers.setdefault(key, len(self._numbers))

    def _structure(self, op: ir.Operation, inside: dict[ir.Value, int]) -> object | None:
        """All that matters of ``op``; None if it may do something else than compute."""
        if op.name.partition(".")[0] not in _PURE:
            return None
        said = tuple([(name, op.attributes[name]) for name in op.attributes])
        uses = tuple([inside[value] if value in inside else self._outside(value) for value in op.operands])
        inside.update(zip(op.results, count(len(inside))))
        blocks: list[object] = []
        for region in op.regions:
            for block in region.blocks:
                inside.update(zip(block.arguments, count(len(inside))))
                blocks.append(tuple([argument.type for argument in block.arguments]))
                for inner in block.operations:
                    found = self._structure(inner.operation, inside)
                    if found is None:
                        return None
                    blocks.append(found)
        return op.name, said, uses, tuple([result.type for result in op.results]), tuple(blocks)

    def _outside(self, value: ir.Value) -> object:
        if not _is_cheap(value):
            return value.type
        if value not in self._cheap:
            op = value.owner.operation
            said = tuple(op.attributes[name] for name in op.attributes)
            self._cheap[value] = op.name, said, value.type, tuple(map(self._outside, op.operands))
        return self._cheap[value]


class _Copies:
    """Sequences of ops in a block that do the same.

    Attributes:
        ops: of each copy, in their order.
    """

    def __init__(self, ops: Sequence[Sequence[ir.Operation]], block: ir.Block) -> None:
        found = [_Copy(each, block) for each in ops]
        like = [copy for copy in found if copy.links == found[1].links]
        places = [number for number, copy in enumerate(found) if copy.links == found[1].links]
        self.copies = like if places == list(range(places[0], places[0] + len(places))) else []
        self.results = sorted({slot for copy in self.copies for slot in copy.used_outside})
        taken = self.copies[0].taken if self.copies else ()
        self._arguments = list(dict.fromkeys(tuple(copy.taken[slot] for copy in self.copies) for slot in taken))
        distinct = (len({values[number] for values in self._arguments}) for number in range(len(self.copies)))
        self._model = next((n for n, each in enumerate(distinct) if each == len(self._arguments)), None)
        """The number of a copy that takes another value for each argument."""

    @classmethod
    def best_of(cls, ops: Sequence[ir.Operation], repeat: Repeat, block: ir.Block) -> "_Copies | None":
        """``repeat`` in ``ops``, cut where the fewest values go from copy to copy."""
        start, length, times, spare = repeat
        live = _live_behind(ops[start : start + 2 * length], block)
        shifts = sorted(range(min(spare, length - 1) + 1), key=lambda shift: live[shift + length - 1])
        for shift in shifts[:_CUTS]:
            starts = [start + shift + number * length for number in range(times)]
            found = cls([ops[each : each + length] for each in starts], block)
            if len(found.copies) >= _FEWEST and found.may_be_calls():
                return found
        return None

    @property
    def saved(self) -> int:
        return (len(self.copies) - 1) * len(self.copies[0].ops)

    def may_be_calls(self) -> bool:
        """True if calls take and give tensors of known shape, and nothing that would be copied because of them."""
        for copy in self.copies:
            types = [*(value.type for value in copy.taken.values()), *(copy.result(slot).type for slot in self.results)]
            if not all(isinstance(x, ir.RankedTensorType) and x.has_static_shape and x.encoding is None for x in types):
                return False
            if any(_is_written(copy.ops[number], place) for number, place in copy.taken):
                return False
        return self._model is not None and not any(
            _gives_away(user) for copy in self.copies[:-1] for users in copy.used_outside.values() for user in users
        )

    def outline(self, function: ir.Operation) -> None:
        """Put calls of a new function, which stands before ``function``, in the place of the copies."""
        assert self._model is not None, "these may be calls"
        model = self.copies[self._model]
        taken = [values[self._model] for values in self._arguments]
        name = _free_name(function)
        types = [value.type for value in taken], [model.result(slot).type for slot in self.results]
        with ir.InsertionPoint(function), model.ops[0].location:
            made = func.FuncOp(name, types, visibility="private")
            if PROPORTION in function.attributes:
                made.attributes[PROPORTION] = function.attributes[PROPORTION]
        self._fill(made.add_entry_block(), model, taken)
        calls: list[ir.Operation] = []
        for number, copy in enumerate(self.copies):
            with ir.InsertionPoint(copy.ops[-1]), copy.ops[-1].location:
                calls.append(func.CallOp(types[1], name, [values[number] for values in self._arguments]).operation)
                calls[-1].attributes[OUTLINED] = calls[-1].attributes["no_inline"] = ir.UnitAttr.get()
        for copy, call in zip(self.copies, calls, strict=True):
            for slot, result in zip(self.results, call.results, strict=True):
                copy.result(slot).replace_all_uses_with(result)
        for op in reversed([op for copy in self.copies for op in copy.ops]):
            op.erase()

    def _fill(self, body: ir.Block, model: "_Copy", taken: Sequence[ir.Value]) -> None:
        """Put the code of ``model``, which takes ``taken``, into ``body``."""
        known: Known = dict(zip(taken, body.arguments, strict=True))
        with ir.InsertionPoint(body), model.ops[-1].location:
            for number, op in enumerate(model.ops):
                for value in operands_from_outside(op):
                    _make_again(value, known)
                locations = [self.copies[each].ops[number].location for each in (0, 1, -1)]
                clone_into(op, known).location = _location_of_all(locations)
            func.ReturnOp([known[model.result(slot)] for slot in self.results])


def _live_behind(ops: Sequence[ir.Operation], block: ir.Block) -> list[int]:
    """Behind each of ``ops``, the results of all up to there that are used later."""
    places = {op: place for place, op in enumerate(ops)}
    change = [0] * (len(ops) + 1)
    for op, place in places.items():
        for result in op.results:
            users = [around_in(use.owner.operation, block) for use in result.uses]
            change[place] += 1
            change[max((places.get(user, len(ops)) for user in users if user is not None), default=place)] -= 1
    return list(accumulate(change))


class _Copy:
    """One of them.

    Attributes:
        links: of each op, for each value that it uses, the slot of the result of the copy that it is; for any other
            whether it is made anywhere.
        taken: what comes from outside, by slot.
        used_outside: by result, ops of the block that use it behind the copy.
    """

    def __init__(self, ops: Sequence[ir.Operation], block: ir.Block) -> None:
        self.ops = ops
        numbers = {op: number for number, op in enumerate(ops)}
        made = {result: (number, place) for op, number in numbers.items() for place, result in enumerate(op.results)}
        self.links: list[list[Slot | bool]] = []
        self.taken: dict[Slot, ir.Value] = {}
        for op, number in numbers.items():
            uses = operands_from_outside(op)
            self.links.append([made.get(value) or _is_cheap(value) for value in uses])
            self.taken |= {(number, n): value for n, value in enumerate(uses) if self.links[-1][n] is False}
        self.used_outside: dict[Slot, list[ir.Operation]] = {}
        for value, slot in made.items():
            users = [around_in(use.owner.operation, block) for use in value.uses]
            outside = [user for user in users if user is not None and user not in numbers]
            if outside:
                self.used_outside[slot] = outside

    def result(self, slot: Slot) -> ir.Value:
        """The result at ``slot``."""
        return self.ops[slot[0]].results[slot[1]]


def _is_written(op: ir.Operation, place: int) -> bool:
    """True if ``op`` may write into what it uses there, so that a function would have to copy it."""
    if is_structured(op):
        return len(op.operands) - num_outputs(op) <= place < len(op.operands)
    if op.name in ("tensor.insert_slice", "tensor.insert"):
        return place == 1
    return control_op(op) is not None and place < len(op.operands)


def _gives_away(op: ir.Operation) -> bool:
    """True if what ``op`` uses needs memory of its own behind it, which it may be computed in where it is made."""
    return is_terminator(op) or op.name.startswith("ipu.")


def _make_again(value: ir.Value, known: Known) -> None:
    """Copy ``value`` to the current insertion point if it is made anywhere."""
    if value not in known and _is_cheap(value):
        op = value.owner.operation
        for operand in op.operands:
            _make_again(operand, known)
        clone_into(op, known)


def _location_of_all(locations: Sequence[ir.Location]) -> ir.Location:
    """The first of ``locations``, with the name that they have in common: ``layers.*.attn``."""
    names = list(dict.fromkeys(map(name_scope, locations)))
    common = common_name(names)
    return locations[0] if common == names[0] else ir.Location.name(common, locations[0])


def common_name(names: Sequence[str]) -> str:
    """The name that ``names`` have in common, with ``*`` in the place of the parts that differ.

    >>> common_name(["layers.0.attn", "layers.1.attn"])
    'layers.*.attn'
    """
    parts = [_NAME_PARTS.split(name) for name in names]
    if len({len(each) for each in parts}) > 1:
        return names[0]
    return "".join(each[0] if len(set(each)) == 1 else "*" for each in zip(*parts, strict=True))


def _free_name(function: ir.Operation) -> str:
    """A name that no symbol beside ``function`` has."""
    beside = (op.operation.attributes for op in function.parent.operation.regions[0].blocks[0].operations)
    taken = {ir.StringAttr(each["sym_name"]).value for each in beside if "sym_name" in each}
    return next(name for number in count() if (name := f"layer_{number}") not in taken)
