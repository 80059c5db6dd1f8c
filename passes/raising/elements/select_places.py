"""``ipu-select-places``: the few elements of a sorted row that are read, without the sort."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.loop_nest import is_structured, loop_nest
from ipu_mlir.dialects.analysis.matchers import ops_around
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.sort_tuples import sort_tuples_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.element_types import element_type
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.elements.spread_gathers import loops_of, rows_asked_for
from ipu_mlir.passes.raising.matrices.on_all_tiles import Values, as_i32, compared, either, inserted_at, made, reduced
from ipu_mlir.passes.raising.ranks.sort_plan import plan_sort
from ipu_mlir.passes.raising.ranks.spread_sorts import (
    in_order,
    is_call,
    is_one_row_of_integers,
    is_read,
    ordered_by,
    places_of,
    puts_all,
)
from ipu_mlir.passes.support.linalg_builders import constant_index, loop_index, reshaped
from ipu_mlir.passes.support.rewriting import list_ops

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")

_CYCLES_OF_ROUND = 5500  # for each place, seen with two of them among a million elements
_MOST_PLACES = 8


@dataclass(frozen=True)
class SelectPlaces(Pass):
    """Find the few elements of a sorted row that are read by their places, as quantiles are, without a sort.

    Every worker sorts a part of the row. The key of the element at a place is the largest one that has at most so many
    keys before it: bit by bit, from the highest one on, all parts are searched for how many that are. Among equal keys,
    the part and the place in it follow from their numbers, so that the order is that of a stable sort.

    Option: ``shortest``, from how many elements on; shorter sorts are not worth the steps of the program.

    Needs:  ranks and scatters (``ipu-raise-ranks``, ``ipu-raise-element-ops``), before they are spread over tiles
            (``ipu-spread-sorts``).
    Leaves: no sort of one row by one key of integers of which only a few elements are read, where it would take longer.
    """

    name = "ipu-select-places"

    shortest: int = 4096

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                if is_call(op, "rank") and is_one_row_of_integers(op):
                    self._select(op, target)

    def _select(self, op: ir.Operation, target: Target) -> None:
        key, *others = list(op.operands)[:-2]
        elements = key.type.shape[1]
        scatters = ordered_by(op.results[0])
        if others or elements < self.shortest or not all(puts_all(each, elements) for each in scatters):
            return
        reads = [read for scatter in scatters for read in _reads_of(scatter)]
        asking = dict.fromkeys((read.scatter, read.user) for read in reads)
        groups = [[read for read in reads if (read.scatter, read.user) == each] for each in asking]
        places = sum(read.places for read in reads)
        if not reads or places > _MOST_PLACES or not _is_worth_it(key, len(groups), places, scatters[0], target):
            return
        for group in groups:
            with ir.InsertionPoint(group[0].user), group[0].user.location:
                _replace(key, group, _parts(elements, target))
        for scatter in scatters:
            scatter.erase()
        if not is_read(op):
            _erase_unread(op)


@dataclass(frozen=True)
class _Read:
    """Places of what ``scatter`` has put in order that ``op`` reads in the body of ``user``.

    Of a slice ``op``, whose places are known, ``user`` is ``scatter``; else the place depends on ``loops`` of ``user``.
    """

    scatter: ir.Operation
    op: ir.Operation
    user: ir.Operation
    places: int
    loops: list[int]

    @property
    def is_slice(self) -> bool:
        return self.user == self.scatter


def _reads_of(scatter: ir.Operation) -> list[_Read]:
    """Who reads the elements of a row in order; one of very many places if somebody reads it otherwise."""
    found = []
    for use in scatter.results[0].uses:
        op = use.owner.operation
        if op.name == "tensor.extract_slice" and not list(op.operands)[1:]:
            found.append(_Read(scatter, op, scatter, prod(op.results[0].type.shape), []))
            continue
        user = next((each for each in ops_around(op.parent.operation) if is_structured(each)), None)
        nest = None if user is None else loop_nest(user)
        is_body = user is not None and op.parent.operation == user and user.block == scatter.block
        if op.name != "tensor.extract" or user is None or nest is None or not is_body:
            return [_Read(scatter, op, op, _MOST_PLACES + 1, [])]
        loops = loops_of(op.operands[1], user, nest)
        found.append(_Read(scatter, op, user, prod(nest.extents[loop] for loop in loops), loops))
    return found


def _parts(elements: int, target: Target) -> int:
    """In how many parts elements are sorted: a power of two, one for each worker, of 16 elements or more.

    >>> _parts(1_000_000, Target()), _parts(4096, Target())
    (8192, 256)
    """
    most = min(machine_of(target).workers * target.num_compute_tiles, elements // 16)
    return 1 << most.bit_length() - 1


def _is_worth_it(key: ir.Value, searches: int, places: int, scatter: ir.Operation, target: Target) -> bool:
    """True if parts are sorted and searched in less time than all elements are sorted over tiles."""
    elements, tiles, machine = key.type.shape[1], target.num_compute_tiles, machine_of(target)
    sizes = [element_type(str(each.type.element_type)).bytes for each in (key, scatter.operands[2])]
    plan, parts = plan_sort(elements, (*sizes, 4), tiles, machine), _parts(elements, target)
    rounds = key.type.element_type.width + parts.bit_length()
    own = int(sort_tuples_cycles(-(-parts // tiles), 1, -(-elements // parts), len(sizes) + 1, machine))
    return plan is None or searches * own + rounds * _CYCLES_OF_ROUND * places < plan.cycles


def _replace(key: ir.Value, reads: list[_Read], parts: int) -> None:
    """Find what ``reads`` of one op read, before it."""
    i32, scatter = ir.IntegerType.get_signless(32), reads[0].scatter
    (size,) = scatter.results[0].type.shape
    asked = []
    for read in reads:
        if read.is_slice:
            (first,), (step,) = (list(read.op.attributes[f"static_{name}"]) for name in ("offsets", "strides"))

            def number(at: Values, each: Values, first: int = first, step: int = step) -> ir.Value:
                scaled = arith.MulIOp(at[0], constant_index(step)).result
                return as_i32(arith.AddIOp(scaled, constant_index(first)).result)

            asked.append(made([read.places], i32, [], number))
        else:
            nest = loop_nest(read.user)
            assert nest is not None, "it was asked for"
            asked.append(rows_asked_for(read.user, nest, read.op.operands[1], read.loops, size))
    places = tensor.EmptyOp([sum(read.places for read in reads)], i32).result
    begins = [sum(read.places for read in reads[:number]) for number in range(len(reads))]
    for begin, own in zip(begins, asked, strict=True):
        places = inserted_at(reshaped(own, [prod(own.type.shape)]), places, [begin])
    found = selected(reshaped(key, [size]), scatter.operands[2], places, parts)
    for read, begin, own in zip(reads, begins, asked, strict=True):
        kind = ir.RankedTensorType.get([read.places], found.type.element_type)
        part = tensor.ExtractSliceOp(kind, found, [], [], [], [begin], [read.places], [1]).result
        if read.is_slice:
            value = reshaped(part, list(read.op.results[0].type.shape))
        else:
            part = reshaped(part, list(own.type.shape))
            with ir.InsertionPoint(read.op), read.op.location:
                value = tensor.ExtractOp(part, [loop_index(loop) for loop in read.loops]).result
        read.op.results[0].replace_all_uses_with(value)
        read.op.erase()


def selected(key: ir.Value, values: ir.Value, places: ir.Value, parts: int) -> ir.Value:
    """The elements of ``values`` at ``places`` of their order by ``key``, at the current insertion point."""
    (size,), (count,), kind = key.type.shape, places.type.shape, key.type.element_type
    width = -(-size // parts)
    ordered = in_order([key, places_of(size), values], parts * width, [(parts, 1, 1, 1, 1, width)])
    keys, _, values = (reshaped(each, [parts, width]) for each in ordered)
    best = _searched(
        kind, kind.width, -(1 << (kind.width - 1)), places, lambda tried: _summed(_before(keys, tried, "slt"))
    )
    before = _before(keys, best, "slt")
    left = _together([places, _summed(before)], lambda each: arith.SubIOp(*each).result)
    equal = _together([_before(keys, best, "sle"), before], lambda each: arith.SubIOp(*each).result)

    def equal_in_front(part: ir.Value) -> ir.Value:
        return _summed(equal, part)

    part = _searched(left.type.element_type, parts.bit_length() - 1, 0, left, equal_in_front)
    inside = _together([left, equal_in_front(part)], lambda each: arith.SubIOp(*each).result)

    def at_place(at: Values, each: Values) -> ir.Value:
        own, behind = (arith.IndexCastOp(ir.IndexType.get(), value).result for value in each)
        first = tensor.ExtractOp(before, [own, at[0]]).result
        place = arith.AddIOp(arith.IndexCastOp(ir.IndexType.get(), first).result, behind).result
        return tensor.ExtractOp(values, [own, place]).result

    return made([count], values.type.element_type, [(part, (0,)), (inside, (0,))], at_place)


def _searched(
    kind: ir.Type, bits: int, begin: int, limit: ir.Value, before: Callable[[ir.Value], ir.Value]
) -> ir.Value:
    """The largest numbers of ``bits`` bits more than ``begin`` that have at most ``limit`` elements before them."""
    shape = list(limit.type.shape)
    start = made(shape, kind, [], lambda at, each: arith.ConstantOp(kind, begin).result)
    loop = scf.ForOp(*map(constant_index, (0, bits, 1)), [start])
    with ir.InsertionPoint(loop.body):
        left = arith.SubIOp(constant_index(bits - 1), loop.induction_variable).result
        more = arith.ShLIOp(arith.ConstantOp(kind, 1).result, arith.IndexCastOp(kind, left).result).result
        (now,) = loop.inner_iter_args
        tried = _together([now], lambda each: arith.AddIOp(each[0], more).result)
        fits = [before(tried), limit, tried, now]
        scf.YieldOp([_together(fits, lambda each: either(compared("sle", *each[:2]), *each[2:]), kind)])
    return loop.results[0]


def _before(keys: ir.Value, tried: ir.Value, how: str) -> ir.Value:
    """How many keys of each part come before each number, by a binary search in its order."""
    (parts, width), (count,), i32 = keys.type.shape, tried.type.shape, ir.IntegerType.get_signless(32)

    def found(at: Values, each: Values) -> ir.Value:
        place = constant_index(0)
        for bit in reversed(range(width.bit_length())):
            larger = arith.AddIOp(place, constant_index(1 << bit)).result
            fits = compared("ule", larger, constant_index(width))
            last = arith.SubIOp(either(fits, larger, constant_index(width)), constant_index(1)).result
            is_before = compared(how, tensor.ExtractOp(keys, [at[0], last]).result, each[0])
            place = either(arith.AndIOp(fits, is_before).result, larger, place)
        return as_i32(place)

    return made([parts, count], i32, [(tried, (1,))], found)


def _summed(counts: ir.Value, end: ir.Value | None = None) -> ir.Value:
    """The sums over parts, or over those in front of ``end``."""
    parts, count = counts.type.shape
    none = arith.ConstantOp(counts.type.element_type, 0).result

    def counted(at: Values, each: Values) -> ir.Value:
        return each[0] if end is None else either(compared("slt", as_i32(at[1]), each[1]), each[0], none)

    inputs = [(counts, (1, 0)), *([] if end is None else [(end, (0,))])]
    return reduced([count], [parts], none, inputs, "arith.addi", counted)


def _together(tensors: list[ir.Value], of: Callable[[Values], ir.Value], kind: ir.Type | None = None) -> ir.Value:
    """A tensor of what ``of`` makes of each element of ``tensors``, which have one shape."""
    shape = list(tensors[0].type.shape)
    inputs = [(each, tuple(range(len(shape)))) for each in tensors]
    return made(shape, kind or tensors[0].type.element_type, inputs, lambda at, each: of(each))


def _erase_unread(op: ir.Operation) -> None:
    """Erase ``op`` and the views and casts of its result, which nobody reads."""
    for use in list(op.results[0].uses):
        _erase_unread(use.owner.operation)
    op.erase()
