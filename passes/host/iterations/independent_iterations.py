"""Loops whose iterations do not wait for each other: what each computes is its own, what it leaves has its place."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, loop_nest, num_outputs
from ipu_mlir.dialects.analysis.matchers import (
    defining_op,
    has_one_use,
    integer_of,
    is_made_inside,
    is_used,
    terminator,
)
from ipu_mlir.dialects.codelets.scatter import SCATTERS
from ipu_mlir.dialects.codelets.update_slice import UPDATE_SLICE
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.host.memory_writes import static_layout
from ipu_mlir.passes.host.replicas.axis import is_plain
from ipu_mlir.passes.host.replicas.batch_codelets import is_first_of_vertices
from ipu_mlir.passes.host.replicas.batch_structured import captured_scalars
from ipu_mlir.passes.support.clone import operands_from_outside
from ipu_mlir.passes.support.combiners import COMBINERS

_MOST_ELEMENTS = 1 << 12  # of a buffer of one iteration: on more of them a call takes longer than it takes to begin
_MOST_IN_ALL = 1 << 20  # of a buffer for all iterations: 4 MiB of f32
_SCATTERS = frozenset(codelet.name for codelet in SCATTERS)


@dataclass(frozen=True)
class Progression:
    """The numbers ``first``, ``first + step``, ..., one for each iteration."""

    first: int
    step: int


@dataclass(frozen=True)
class Combination:
    """An op that combines elements with what was there: the operand by which it reads that, and its parallel loops."""

    operand: int
    parallel: tuple[bool, ...]


@dataclass
class Update:
    """What the iterations leave in one buffer.

    Attributes:
        initial: the buffer before the loop.
        carried: the value that the loop carries for it, or None for a buffer from outside.
        now: the buffer as the op that is looked at finds it: copies of it, which nothing else reads, take its place.
        op: the only op that touches it: a scatter, a slice, or one that combines what it computes with what was there.
        old: the buffer as that op finds it.
        places: of a slice, where it begins in each dimension; else None.
        combination: of an op that combines, how it does; else None.
    """

    initial: ir.Value
    carried: ir.Value | None
    now: ir.Value
    op: ir.Operation | None = None
    old: ir.Value | None = None
    places: tuple[Progression, ...] | None = None
    combination: Combination | None = None

    @property
    def is_in_place(self) -> bool:
        """True if the memory from before the loop holds the result after it."""
        return self.now in (self.initial, self.carried)


@dataclass(frozen=True)
class Iterations:
    """A loop whose iterations can be done at once.

    Attributes:
        loop: the ``scf.for``.
        numbers: its counter in each iteration.
        own: ops that compute in memory of the iteration alone, in order.
        varying: the counter, and the buffers and scalars of which iterations have different ones.
        updates: what is left of all iterations; those that the loop carries first, in their order.
    """

    loop: ir.Operation
    numbers: range
    own: list[ir.Operation]
    varying: set[ir.Value]
    updates: list[Update]


def independent_iterations(loop: ir.Operation) -> Iterations | None:
    """The iterations of ``loop`` if they can be done at once; None if one may wait for another, or they are large.

    Which buffers from outside are one memory is still to be asked.
    """
    numbers, block = _numbers(loop), loop.regions[0].blocks[0]
    *ops, _ = (op.operation for op in block.operations)
    if numbers is None or not all(map(_is_known, ops)):
        return None
    carried = zip(list(block.arguments)[1:], list(loop.operands)[3:], strict=True)
    updates = [Update(initial, argument, argument) for argument, initial in carried]
    own = _without_updates(loop, ops, updates)
    if own is None or not updates or [each.now for each in updates if each.carried] != list(terminator(block).operands):
        return None
    varying = _varying(own, block.arguments[0])
    for each in updates:
        if each.op is None or not _can_be_joined(each, varying, numbers):
            return None
    return Iterations(loop, numbers, own, varying, updates) if _is_small(own, varying, numbers) else None


def outside_buffers(iterations: Iterations) -> set[ir.Value]:
    """The buffers from outside that the loop reads, other than to update them."""
    used = {value for op in iterations.own for value in operands_from_outside(op)}
    for each in iterations.updates:
        used.update(value for value in operands_from_outside(each.op) if value != each.old)
    outside = {root_of(value) for value in used if isinstance(value.type, ir.MemRefType)}
    return {value for value in outside if not is_made_inside(value, iterations.loop)}


def _numbers(loop: ir.Operation) -> range | None:
    first, end, step = (integer_of(value) for value in list(loop.operands)[:3])
    if first is None or end is None or step is None or step < 1:
        return None
    numbers = range(first, end, step)
    return numbers if len(numbers) > 1 else None


def _is_known(op: ir.Operation) -> bool:
    """True for what runs on buffers with one dimension more as it does on those of one iteration."""
    if op.name == "memref.alloc" or op.name in VIEW_OPS:
        return static_layout(op.results[0].type) is not None
    if is_structured(op):
        return num_outputs(op) > 0 and indexing_maps(op) is not None and loop_nest(op) is not None
    if any(isinstance(result.type, ir.MemRefType) for result in op.results) or len(op.regions):
        return False
    return op.name.startswith(("arith.", "math.")) or op.name in ("memref.load", "memref.copy")


def _without_updates(loop: ir.Operation, ops: list[ir.Operation], updates: list[Update]) -> list[ir.Operation] | None:
    """The ops that touch none of the buffers that the loop updates, which this finds; None if one is used otherwise."""
    own: list[ir.Operation] = []
    stale: set[ir.Value] = set()
    for op in ops:
        used, written = set(operands_from_outside(op)), _written(op)
        held = [each for each in updates if each.now in used]
        if not held and written and not is_made_inside(root_of(written), loop):
            held = [Update(written, None, written)]
            updates += held
        if not held:
            if not stale.isdisjoint(root_of(value) for value in used):
                return None
            own.append(op)
            continue
        (update, *others) = held
        if written is None or others:
            return None
        if op.name in ("memref.copy", "linalg.copy") and op.operands[0] == update.now != written:
            if defining_op(written, "memref.alloc") is None or not is_made_inside(written, loop):
                return None
        elif update.op is not None:
            return None
        else:
            update.op, update.old = op, update.now
        if written != update.now:
            stale.add(update.now)
            update.now = written
    return own


def _written(op: ir.Operation) -> ir.Value | None:
    """The buffer that ``op`` writes to, the first one of several."""
    if is_structured(op):
        return op.operands[len(op.operands) - num_outputs(op)]
    return op.operands[1] if op.name == "memref.copy" else None


def _varying(own: list[ir.Operation], counter: ir.Value) -> set[ir.Value]:
    """The values that differ between iterations; a buffer counts with all that is ever written to it."""
    found, before = {counter}, 0
    while len(found) > before:
        before = len(found)
        for op in own:
            if any(root_of(value) in found for value in operands_from_outside(op)):
                found.update(op.results if op.name not in VIEW_OPS else ())
                written = _written(op)
                if written is not None:
                    found.update(map(root_of, list(op.operands)[len(op.operands) - num_outputs(op) :]))
    return found


def _is_small(own: list[ir.Operation], varying: set[ir.Value], numbers: range) -> bool:
    """True if what all iterations compute is worth its memory, and library codelets have an axis for it."""
    for op in own:
        if "library_call" in op.attributes and not _has_axis(op, varying):
            return False
        if op.name == "memref.alloc" and op.results[0] in varying:
            elements = prod(op.results[0].type.shape)
            if elements > _MOST_ELEMENTS or elements * len(numbers) > _MOST_IN_ALL:
                return False
    return True


def _has_axis(op: ir.Operation, varying: set[ir.Value]) -> bool:
    """True if one call of a library codelet does what the calls of all iterations do."""
    differ = [root_of(value) in varying for value in op.operands]
    if _codelet(op) in _SCATTERS:
        return not any(differ[len(op.operands[len(differ) - 1].type.shape) + 2 : -1])
    return not any(differ) or (is_first_of_vertices(op) and all(map(_is_whole, op.operands)))


def _codelet(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["library_call"]).value if "library_call" in op.attributes else ""


def _is_whole(value: ir.Value) -> bool:
    """True for all elements of an allocation, in their order."""
    return is_plain(value) and prod(value.type.shape) == prod(root_of(value).type.shape)


def _can_be_joined(update: Update, varying: set[ir.Value], numbers: range) -> bool:
    """True if one op can do what that of ``update`` does in all iterations, in their order."""
    op, old = update.op, update.old
    assert op is not None and old is not None, "a buffer that is updated has an op that does it"
    operands, name = list(op.operands), _codelet(op)
    if name in _SCATTERS:
        given = len(old.type.shape) + 2
        differ = [root_of(value) in varying for value in operands[:-1]]
        return operands[-1] == old and any(differ[:given]) and not any(differ[given:])
    if name == UPDATE_SLICE.name:
        update.places = _places(operands[:-2], operands[-2], old, varying, numbers)
        return operands[-1] == old and update.places is not None
    if not name and is_structured(op):
        update.combination = _combination(op, old, varying)
    return update.combination is not None


def _places(
    offsets: list[ir.Value], small: ir.Value, big: ir.Value, varying: set[ir.Value], numbers: range
) -> tuple[Progression, ...] | None:
    """Where a slice begins, if every iteration has a place of its own, all of it inside the buffer."""
    sizes = list(small.type.shape) if isinstance(small.type, ir.MemRefType) else []
    sizes = sizes if len(sizes) == len(offsets) else [1] * len(offsets)
    if static_layout(big.type) is None:
        return None
    found = []
    for offset, size, extent in zip(offsets, sizes, big.type.shape, strict=True):
        place = _progression(offset, varying, numbers)
        if place is None or min(_ends(place, numbers)) < 0 or max(_ends(place, numbers)) + size > extent:
            return None
        found.append(place)
    apart = any(abs(place.step) >= size for place, size in zip(found, sizes, strict=True))
    return tuple(found) if apart else None


def _ends(place: Progression, numbers: range) -> tuple[int, int]:
    """The first and the last number."""
    return place.first, place.first + place.step * (len(numbers) - 1)


def _progression(value: ir.Value, varying: set[ir.Value], numbers: range) -> Progression | None:
    """``value`` as a progression over the iterations; None if it is no constant, and not computed from the counter."""
    constant, op = integer_of(value), defining_op(value, *_PROGRESSIONS)
    if constant is not None:
        return Progression(constant, 0)
    if op is None:
        is_counter = value in varying and isinstance(value.owner, ir.Block)
        return Progression(numbers.start, numbers.step) if is_counter else None
    operands = [_progression(each, varying, numbers) for each in op.operands]
    known = [each for each in operands if each is not None]
    found = _PROGRESSIONS[op.name](*known, len(numbers)) if len(known) == len(operands) else None
    width = 64 if isinstance(value.type, ir.IndexType) else value.type.width
    fits = found is not None and all(-(1 << (width - 1)) <= end < 1 << (width - 1) for end in _ends(found, numbers))
    return found if fits else None


def _sum(one: Progression, other: Progression, _: int) -> Progression:
    return Progression(one.first + other.first, one.step + other.step)


def _difference(one: Progression, other: Progression, _: int) -> Progression:
    return Progression(one.first - other.first, one.step - other.step)


def _product(one: Progression, other: Progression, _: int) -> Progression | None:
    """
    >>> _product(Progression(1, 2), Progression(3, 0), 5)
    Progression(first=3, step=6)
    """
    if one.step and other.step:
        return None
    return Progression(one.first * other.first, one.step * other.first + other.step * one.first)


def _largest(one: Progression, other: Progression, count: int) -> Progression | None:
    """The one that is nowhere below the other.

    >>> _largest(Progression(0, 1), Progression(0, 0), 5), _largest(Progression(-1, 1), Progression(0, 0), 5)
    (Progression(first=0, step=1), None)
    """
    more = _difference(one, other, count)
    ends = more.first, more.first + more.step * (count - 1)
    return one if min(ends) >= 0 else other if max(ends) <= 0 else None


def _smallest(one: Progression, other: Progression, count: int) -> Progression | None:
    largest = _largest(one, other, count)
    return None if largest is None else other if largest == one else one


_PROGRESSIONS = {
    "arith.index_cast": lambda one, _: one,
    "arith.addi": _sum,
    "arith.subi": _difference,
    "arith.muli": _product,
    "arith.maxsi": _largest,
    "arith.minsi": _smallest,
}


def _combination(op: ir.Operation, old: ir.Value, varying: set[ir.Value]) -> Combination | None:
    """How ``op`` combines every element of ``old`` with a number; None if it does more, or if iterations differ in no
    operand, which would tell how many there are.
    """
    nest, block, maps = loop_nest(op), op.regions[0].blocks[0], indexing_maps(op)
    numbers = [number for number, value in enumerate(op.operands) if value == old and is_used(block.arguments[number])]
    if nest is None or maps is None or num_outputs(op) != 1 or len(numbers) != 1:
        return None
    (number,) = numbers
    argument, out = block.arguments[number], len(op.operands) - 1
    made = defining_op(terminator(block).operands[0], *COMBINERS)
    if made is None or argument not in made.operands or not has_one_use(argument) or maps[number] != maps[out]:
        return None
    if any(index.plain_loop is None for index in nest.outputs[0]) or (number != out and is_used(block.arguments[out])):
        return None
    others = [value for n, value in enumerate(op.operands) if n not in (number, out)]
    tells = any(root_of(value) in varying for value in (*others, *captured_scalars(op)))
    return Combination(number, nest.parallel) if tells else None
