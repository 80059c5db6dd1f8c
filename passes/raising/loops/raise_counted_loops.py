"""``ipu-raise-counted-loops``: a ``while`` that counts is a ``for``."""

from collections.abc import Sequence
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import integer_of, predicate_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.raising.loops.counted_whiles import scalar_op, splat_integer
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import constant_index, index_sum
from ipu_mlir.passes.support.rewriting import list_ops

_INVISIBLE = frozenset(("arith.constant", "tensor.empty", "tensor.extract", "tensor.from_elements", "linalg.generic"))


class RaiseCountedLoops(Pass):
    """Write ``while i < n: ...; i += 1`` as a loop over numbers, as which planner and profile know how often it runs.

    JAX and TensorFlow write every loop with a ``while``. A counter begins at a constant, is compared with constants
    only, and grows by the same constant in every iteration; others that grow or fall by a multiple of it, as the places
    in lists of which a gradient takes one element after the other, are computed from that number.

    Needs:  linalg on tensors; scalars may be wrapped in tensors.
    Leaves: ``scf.while`` only where no constants decide how often it runs.
    """

    name = "ipu-raise-counted-loops"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for loop in list_ops(module, "scf.while"):
                rounds = _rounds(loop)
                if rounds is not None:
                    with ir.InsertionPoint(loop), loop.location:
                        _write(loop, rounds)


@dataclass(frozen=True)
class _Rounds:
    """The numbers that a loop counts, and the values that it carries which are ``times * n + more`` of them."""

    numbers: range
    counters: dict[int, tuple[int, int]]

    def last(self, number: int) -> int:
        """Counter ``number`` after the loop."""
        times, more = self.counters[number]
        return times * (self.numbers.start + len(self.numbers) * self.numbers.step) + more

    def fits(self, number: int, kind: ir.Type) -> bool:
        """True if the type of counter ``number`` has a place for what it is after the loop."""
        width = _integer_width(kind)
        return width is None or -1 << (width - 1) <= self.last(number) < 1 << (width - 1)


def _rounds(loop: ir.Operation) -> _Rounds | None:
    """The counters of ``loop``, if nothing else decides how often it runs and its condition does nothing else."""
    before, after = (region.blocks[0] for region in loop.regions)
    condition, yielded = terminator(before), terminator(after)
    arguments = list(before.arguments)
    *ops, _ = (op.operation for op in before.operations)
    if list(condition.operands)[1:] != arguments or any(
        op.name not in _INVISIBLE and not op.name.startswith("arith.") for op in ops
    ):
        return None
    limits = _limits(condition.operands[0], arguments)
    if not limits:
        return None
    growth = {number: _growth(loop, number, yielded) for number in range(len(arguments))}
    lead = growth[next(iter(limits))]
    if lead is None or lead[1] <= 0 or any(growth[number] != lead for number in limits):
        return None
    first, step = lead
    numbers = range(first, min(limits.values()), step)
    multiples = {number: each for number, each in growth.items() if each is not None and each[1] % step == 0}
    terms = {number: (by // step, begin - by // step * first) for number, (begin, by) in multiples.items()}
    every = _Rounds(numbers, terms)
    fitting = {number: each for number, each in terms.items() if every.fits(number, arguments[number].type)}
    return _Rounds(numbers, fitting) if limits.keys() <= fitting.keys() else None


def _limits(condition: ir.Value, arguments: Sequence[ir.Value]) -> dict[int, int] | None:
    """Bounds of compared arguments, by their numbers, while ``condition`` holds; None if that is not all."""
    found = scalar_op(condition)
    if found is None:
        return None
    op, operands = found
    if op.name == "arith.andi":
        both = [_limits(operand, arguments) for operand in operands]
        if both[0] is None or both[1] is None:
            return None
        return {
            number: min(limits[number] for limits in both if limits is not None and number in limits)
            for number in both[0] | both[1]
        }
    if op.name != "arith.cmpi":
        return None
    predicate, (number, limit) = predicate_of(op), operands
    if predicate in ("sgt", "sge"):
        predicate, number, limit = {"sgt": "slt", "sge": "sle"}[predicate], limit, number
    end = integer_of(limit) if integer_of(limit) is not None else splat_integer(limit)
    if predicate not in ("slt", "sle") or number not in arguments or end is None:
        return None
    return {list(arguments).index(number): end + (predicate == "sle")}


def _growth(loop: ir.Operation, number: int, yielded: ir.Operation) -> tuple[int, int] | None:
    """The constants at which value ``number`` begins and by which it grows or falls; None if it is no counter."""
    init = loop.operands[number]
    first = splat_integer(init) if splat_integer(init) is not None else integer_of(init)
    made = scalar_op(yielded.operands[number])
    if first is None or made is None or made[0].name not in ("arith.addi", "arith.subi"):
        return None
    argument, falls = loop.regions[1].blocks[0].arguments[number], made[0].name == "arith.subi"
    for value, step in (made[1],) if falls else (made[1], made[1][::-1]):
        by = integer_of(step) if integer_of(step) is not None else splat_integer(step)
        if value == argument and by:
            return first, -by if falls else by
    return None


def _integer_width(kind: ir.Type) -> int | None:
    element = kind.element_type if isinstance(kind, ir.ShapedType) else kind
    return element.width if isinstance(element, ir.IntegerType) else None


def _write(loop: ir.Operation, rounds: _Rounds) -> None:
    """Put the ``scf.for`` before ``loop`` and erase that."""
    scf = upstream("scf")
    numbers = rounds.numbers
    bounds = [constant_index(n) for n in (numbers.start, numbers.stop, numbers.step)]
    carried = [number for number in range(len(loop.operands)) if number not in rounds.counters]
    made = scf.ForOp(*bounds, [loop.operands[number] for number in carried])
    old = loop.regions[1].blocks[0]
    known: Known = dict(zip((old.arguments[n] for n in carried), made.inner_iter_args, strict=True))
    with ir.InsertionPoint(made.body):
        for number, (times, more) in rounds.counters.items():
            known[old.arguments[number]] = _as(made.induction_variable, times, more, old.arguments[number].type)
        *body, end = (op.operation for op in old.operations)
        for op in body:
            clone_into(op, known)
        scf.YieldOp([known.get(end.operands[n], end.operands[n]) for n in carried])
    for number, result in enumerate(loop.results):
        if number in rounds.counters:
            result.replace_all_uses_with(_constant(rounds.last(number), result.type))
        else:
            result.replace_all_uses_with(made.results[carried.index(number)])
    loop.erase()


def _constant(number: int, kind: ir.Type) -> ir.Value:
    """``number`` as an integer, or as a tensor of one that has no dimensions."""
    is_wrapped = isinstance(kind, ir.ShapedType)
    attribute = ir.IntegerAttr.get(kind.element_type if is_wrapped else kind, number)
    held = ir.DenseElementsAttr.get_splat(kind, attribute) if is_wrapped else attribute
    return upstream("arith").ConstantOp(kind, held).result


def _as(index: ir.Value, times: int, more: int, kind: ir.Type) -> ir.Value:
    """``times * index + more`` as an integer, or as a tensor of one that has no dimensions."""
    arith, tensor = upstream("arith"), upstream("tensor")
    if times == -1:
        index = arith.SubIOp(constant_index(more), index).result
    else:
        index = index if times == 1 else arith.MulIOp(index, constant_index(times)).result
        index = index_sum(index, constant_index(more) if more else None)
    element = kind.element_type if isinstance(kind, ir.ShapedType) else kind
    number = index if element == index.type else arith.IndexCastOp(element, index).result
    return tensor.FromElementsOp(kind, [number]).result if isinstance(kind, ir.ShapedType) else number
