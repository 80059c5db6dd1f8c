"""``ipu-raise-extremes``: reductions that say where the largest element stands, as the library codelets for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, loop_nest
from ipu_mlir.dialects.analysis.matchers import constant_of, defining_op, predicate_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.codelets.first_extreme import TAKEN, first_extreme_cycles
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.ranks.sort_orders import (
    EQUAL,
    GREATER,
    LESS,
    UNORDERED,
    of_floats,
    relations_of,
)
from ipu_mlir.passes.support.clone import clone_slice
from ipu_mlir.passes.support.codelet_calls import first_extremes
from ipu_mlir.passes.support.combiners import neutral
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    fill_with,
    generic,
    identity_map,
    loop_index,
)
from ipu_mlir.passes.support.rewriting import list_ops

_EXTREMES = {
    "maximum": (np.greater, "arith.maximumf", "arith.maxsi"),
    "minimum": (np.less, "arith.minimumf", "arith.minsi"),
}
_CASTS = ("arith.index_cast", "arith.extsi")

_STEPS = 30  # syncs that two reductions take as long as, with their partial results

_Outcome = tuple[tuple[Any, Any, int, int], Any, int]
"""The best element so far and the next one, their places; the element and the place that are kept."""


class RaiseExtremes(Pass):
    """Write reductions that say where the largest or the smallest element stands as library codelets.

    An argmax comes as a reduction with two results, the best element so far and its place. Which of the codelets
    ``first_maximum`` and so on it is follows from what its body does with every two elements that can meet, also NaN:
    how it is written does not matter.

    A vertex has all that is searched for one place. Where few places are looked for among many elements, the extreme
    is found first, then the lowest number of an element that equals it: both are reductions that can be split.

    Needs:  linalg on tensors, static shapes, and the target.
    Leaves: no reduction over one dimension that keeps a largest or smallest element and the number of its iteration.
    """

    name = "ipu-raise-extremes"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            target = module_target(module)
            for op in list_ops(module, "linalg.generic"):
                found = _argument_of_extreme(op)
                if found is not None:
                    with ir.InsertionPoint(op), op.location:
                        _raise(op, found, _is_split(op, found, target))


@dataclass(frozen=True)
class _Extreme:
    """The search that a reduction with two results makes.

    Attributes:
        nest: its loops, of which ``loop`` is reduced; ``order`` has the others in the order of the results.
        best: which result is the extreme; the other is its place.
        term: what is compared, as a value of the body.
        number: the place of an element, as a value of the body.
        init: the place that is given where nothing is found.
        name, nan: the codelet is ``first_`` with both.
    """

    nest: LoopNest
    loop: int
    order: tuple[int, ...]
    best: int
    term: ir.Value
    number: ir.Value
    init: int
    name: str
    nan: str


def _is_split(op: ir.Operation, found: _Extreme, target: Target) -> bool:
    """True if two reductions over parts on all tiles take less than a half of what it takes to search it whole."""
    if found.nan != "_or_nan" or list(op.results[found.best].uses):
        return False  # of 0 and -0, which are equal, the first one would not be known
    tiles, machine, dtype = target.num_compute_tiles, machine_of(target), str(found.term.type)
    size = found.nest.extents[found.loop]
    places = prod(found.nest.extents) // size
    whole = first_extreme_cycles(-(-places // tiles), size, dtype, machine)
    parts = first_extreme_cycles(1, -(-places * size // tiles), dtype, machine)
    return bool(whole > 2 * (2 * parts + _STEPS * machine.sync_cycles))


def _argument_of_extreme(op: ir.Operation) -> _Extreme | None:
    if "library_call" in op.attributes or len(op.results) != 2:
        return None
    nest = loop_nest(op)
    if nest is None or nest.parallel.count(False) != 1 or nest.loads or nest.outputs[0] != nest.outputs[1]:
        return None
    loop = nest.parallel.index(False)
    order = tuple(index.plain_loop for index in nest.outputs[0])
    if None in order or len({*order}) != len(nest.extents) - 1 or nest.extents[loop] < 2:
        return None
    step = _step_of(op)
    for best in (0, 1):
        init = _splat(op.operands[nest.num_inputs + 1 - best])
        others = [value for value in step.taken if value.type == step.running[best].type]
        numbers = [value for value in step.taken if _counts(value, loop, nest.extents[loop])]
        if not isinstance(init, int) or len(step.taken) != 2 or len(numbers) != 1:
            continue
        for term in others:
            if term == numbers[0] or step.running[1 - best].type != numbers[0].type:
                continue
            is_integer = isinstance(term.type, ir.IntegerType)
            if (not isinstance(term.type, ir.FloatType) and not is_integer) or str(term.type) == "i1":
                continue
            outcomes = step.outcomes(best, term, numbers[0])
            for name, (_, *combiners) in _EXTREMES.items():
                worst = neutral(combiners[is_integer], term.type)
                if worst is None or _splat(op.operands[nest.num_inputs + best]) != worst.value:
                    continue
                for nan in ("_or_nan", "", "_after_nan"):
                    fits = init == 0 if nan == "_or_nan" else init <= 0 or nan == ""
                    if fits and _are_of(outcomes, name, nan, bool(list(op.results[best].uses))):
                        found = tuple(each for each in order if each is not None)
                        return _Extreme(nest, loop, found, best, term, numbers[0], init, name, nan)
    return None


@dataclass(frozen=True)
class _Step:
    """The step that the body of a reduction takes with its running values in one iteration.

    Attributes:
        running: the block arguments.
        yielded: what they become.
        taken: the values that do not depend on them, and that something which does depend on them uses.
    """

    running: tuple[ir.Value, ...]
    yielded: tuple[ir.Value, ...]
    taken: tuple[ir.Value, ...]

    def outcomes(self, best: int, term: ir.Value, number: ir.Value) -> list[_Outcome]:
        """What is kept of every two elements that compare differently; nothing if the body does more than choose."""
        samples = _samples(term.type)
        cases = [(old, new, *places) for old in samples for new in samples for places in ((3, 5), (4, 4))]
        old, new, first, second = map(np.array, zip(*cases, strict=True))
        known = {self.running[best]: old, self.running[1 - best]: first, term: new, number: second}
        value, place = (_evaluated(self.yielded[which], known) for which in (best, 1 - best))
        if value is None or place is None:
            return []
        yielded = (np.broadcast_to(each, len(cases)).tolist() for each in (value, place))
        return list(zip(cases, *yielded, strict=True))


def _are_of(outcomes: list[_Outcome], name: str, nan: str, exactly: bool) -> bool:
    """True if they are those of the codelet of ``name`` and ``nan``; ``exactly`` tells 0 from -0 in the extreme."""
    better = _EXTREMES[name][0]
    for (old, new, first, second), value, place in outcomes:
        taken = TAKEN[nan](better, old, new)
        wanted = new if taken or (nan == "" and new != new) else old
        same = value == wanted or (value != value and wanted != wanted)
        if not same or place != (second if taken else first):
            return False
        if exactly and nan != "" and np.signbit(value) != np.signbit(wanted) and value == 0:
            return False
    return bool(outcomes)


def _step_of(op: ir.Operation) -> _Step:
    block = op.regions[0].blocks[0]
    *body, terminator = (inner.operation for inner in block.operations)
    running = tuple(block.arguments)[-2:]
    dependent, taken = [*running], []
    for inner in body:
        if any(value in dependent for value in inner.operands):
            dependent.extend(inner.results)
            taken += [value for value in inner.operands if value not in dependent and _constant(value) is None]
    return _Step(running, tuple(terminator.operands), tuple(dict.fromkeys(taken)))


def _samples(kind: ir.Type) -> list[Any]:
    """Numbers that compare with each other in every way that two numbers of the type can."""
    if isinstance(kind, ir.IntegerType):
        return [-(1 << (kind.width - 1)), -1, 0, 2, (1 << (kind.width - 1)) - 1]
    return [-np.inf, -1.0, -0.0, 0.0, 2.0, np.inf, np.nan]


def _evaluated(value: ir.Value, known: Mapping[ir.Value, Any]) -> Any:
    """What ``value`` is, for arrays of cases at once; None if it is made by more than comparisons and choices."""
    if value in known:
        return known[value]
    op, constant = defining_op(value), _constant(value)
    if constant is not None or op is None:
        return constant
    args = [_evaluated(operand, known) for operand in op.operands]
    if any(arg is None for arg in args):
        return None
    match op.name:
        case "arith.select":
            return np.where(*args)
        case "arith.andi" | "arith.ori" | "arith.xori" if str(value.type) == "i1":
            return {"andi": np.logical_and, "ori": np.logical_or, "xori": np.logical_xor}[op.name[6:]](*args)
        case "arith.cmpf":
            return _compared(of_floats(predicate_of(op)), *args)
        case "arith.cmpi" if str(op.operands[0].type) != "i1":
            predicate = predicate_of(op)
            return None if predicate[0] == "u" else _compared(relations_of(predicate), *args)
        case "arith.maximumf" | "arith.minimumf":
            return (np.maximum if "max" in op.name else np.minimum)(*args)
        case "arith.maxsi" | "arith.minsi":
            return (np.maximum if "max" in op.name else np.minimum)(*args)
    return None


def _compared(relations: str, left: Any, right: Any) -> Any:
    cases = {LESS: np.less(left, right), GREATER: np.greater(left, right), EQUAL: np.equal(left, right)}
    cases[UNORDERED] = ~(cases[LESS] | cases[GREATER] | cases[EQUAL])
    return reduce(np.logical_or, (cases[each] for each in relations), np.bool_(False))


def _constant(value: ir.Value) -> Any:
    """The number of an ``arith.constant``; None for any other value."""
    attribute = constant_of(value)
    return attribute.value if isinstance(attribute, ir.IntegerAttr | ir.FloatAttr | ir.BoolAttr) else None


def _splat(tensor: ir.Value) -> Any:
    """The number that every element of ``tensor`` is, if it is filled with a constant."""
    fill, constant = defining_op(tensor, "linalg.fill"), constant_of(tensor)
    if fill is not None:
        return _constant(fill.operands[0])
    is_splat = isinstance(constant, ir.DenseElementsAttr) and constant.is_splat
    return getattr(constant.get_splat_value(), "value", None) if is_splat else None


def _counts(value: ir.Value, loop: int, extent: int) -> bool:
    """True if ``value`` is the number of the iteration of ``loop``, which runs ``extent`` of them, in its own type."""
    while (cast := defining_op(value, *_CASTS)) is not None:
        if isinstance(value.type, ir.IntegerType) and extent > 1 << (value.type.width - 1):
            return False
        value = cast.operands[0]
    index = defining_op(value, "linalg.index")
    return index is not None and ir.IntegerAttr(index.attributes["dim"]).value == loop


def _raise(op: ir.Operation, found: _Extreme, is_split: bool) -> None:
    values, at = _searched(op, found)
    shape = [found.nest.extents[loop] for loop in found.order]
    if is_split:
        place = _first_equal(values, _reduced(op, found, values, at), at)
    else:
        place = first_extremes(values, at, shape, f"first_{found.name}{found.nan}")
    arith = upstream("arith")
    kept = identity_map(len(shape))

    def result(which: int, element: Any) -> ir.Value:
        """The result of ``element`` for a place, or the initial one where there is none."""
        kind = op.results[which].type.element_type

        def body(arguments: list[ir.Value]) -> list[ir.Value]:
            there, old, _ = arguments
            new = element(there)
            if found.nan == "_or_nan":
                return [new]
            is_one = arith.CmpIOp(arith.CmpIPredicate.sge, there, constant_index(0)).result
            return [arith.SelectOp(is_one, new, old).result]

        empty = upstream("tensor").EmptyOp(shape, kind).result
        inits = op.operands[found.nest.num_inputs + which]
        return generic([place, inits], [empty], [kept] * 3, [True] * len(shape), body).results[0]

    def number(there: ir.Value) -> ir.Value:
        made = found.number.owner.operation
        chain = []
        while made.name != "linalg.index":
            chain.append(made.results[0].type)
            made = made.operands[0].owner.operation
        for kind in reversed(chain):
            cast = arith.IndexCastOp if isinstance(there.type, ir.IndexType) else arith.ExtSIOp
            there = cast(kind, there).result
        return there

    def extreme(there: ir.Value) -> ir.Value:
        inside = arith.MaxSIOp(there, constant_index(0)).result
        own = [loop_index(dimension) for dimension in range(len(shape))]
        return upstream("tensor").ExtractOp(values, [*own[:at], inside, *own[at:]]).result

    op.results[1 - found.best].replace_all_uses_with(result(1 - found.best, number))
    if list(op.results[found.best].uses):
        new = result(found.best, extreme) if found.nan else _reduced(op, found, values, at)
        op.results[found.best].replace_all_uses_with(new)
    op.erase()


def _searched(op: ir.Operation, found: _Extreme) -> tuple[ir.Value, int]:
    """The tensor of what is compared, loops of the results in their order, and the dimension that is searched."""
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    nest, rank = found.nest, len(found.nest.extents)
    if found.term in arguments:
        number = arguments.index(found.term)
        loops = [each.plain_loop for each in nest.indices[number]]
        if found.loop in loops and [loop for loop in loops if loop != found.loop] == list(found.order):
            return op.operands[number], loops.index(found.loop)
    loops = [*found.order, found.loop]
    empty = upstream("tensor").EmptyOp([nest.extents[loop] for loop in loops], found.term.type).result
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]][: nest.num_inputs]
    seen = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(loop) for loop in loops])

    def body(new: list[ir.Value]) -> list[ir.Value]:
        known = dict(zip(arguments[: nest.num_inputs], new[:-1], strict=True))
        return [clone_slice(found.term, known, lambda value: value.owner.operation.block == block)]

    inputs = list(op.operands)[: nest.num_inputs]
    return generic(inputs, [empty], [*maps, seen], [True] * rank, body).results[0], len(found.order)


def _reduced(op: ir.Operation, found: _Extreme, values: ir.Value, at: int) -> ir.Value:
    """The extreme by itself, as a reduction."""
    is_integer = isinstance(found.term.type, ir.IntegerType)
    combiner = _EXTREMES[found.name][1 + is_integer]
    rank = len(values.type.shape)
    others = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in range(rank) if d != at])

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        new, old = arguments
        return [ir.Operation.create(combiner, results=[new.type], operands=[old, new]).results[0]]

    init = op.operands[found.nest.num_inputs + found.best]
    parallel = [dimension != at for dimension in range(rank)]
    return generic([values], [init], [identity_map(rank), others], parallel, body).results[0]


def _first_equal(values: ir.Value, best: ir.Value, at: int) -> ir.Value:
    """The places along dimension ``at`` of the first of ``values`` that equal ``best``, or are no number."""
    arith, rank, index = upstream("arith"), values.type.rank, ir.IndexType.get()
    size, is_integer = values.type.shape[at], isinstance(values.type.element_type, ir.IntegerType)
    others = ir.AffineMap.get(rank, 0, [ir.AffineExpr.get_dim(d) for d in range(rank) if d != at])
    number = ir.IntegerType.get_signless(32 if size < 1 << 31 else 64)
    end = arith.ConstantOp(number, ir.IntegerAttr.get(number, size)).result
    shape = best.type.shape
    start = fill_with(end, upstream("tensor").EmptyOp(shape, number).result).results[0]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        value, wanted, so_far = arguments
        if is_integer:
            same = arith.CmpIOp(arith.CmpIPredicate.eq, value, wanted).result
        else:  # the extreme is no number as soon as one of them is none
            is_nan = arith.CmpFOp(arith.CmpFPredicate.UNO, value, value).result
            same = arith.OrIOp(arith.CmpFOp(arith.CmpFPredicate.OEQ, value, wanted).result, is_nan).result
        own = arith.IndexCastOp(number, loop_index(at)).result
        return [arith.MinSIOp(so_far, arith.SelectOp(same, own, end).result).result]

    parallel = [dimension != at for dimension in range(rank)]
    found = generic([values, best], [start], [identity_map(rank), others, others], parallel, body).results[0]
    empty = upstream("tensor").EmptyOp(shape, index).result
    maps = [identity_map(len(shape))] * 2
    return generic(
        [found], [empty], maps, [True] * len(shape), lambda each: [arith.IndexCastOp(index, each[0]).result]
    ).results[0]
