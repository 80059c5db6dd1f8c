"""A block of ops for one example, written again for a batch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import NamedTuple

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.effects import effects_of
from ipu_mlir.dialects.analysis.matchers import module_around, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.shards import shard_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.clone import operands_from_outside
from ipu_mlir.passes.support.linalg_builders import fill_with
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.shards import appended_on

arith, tensor = upstream("arith"), upstream("tensor")

Body = Callable[..., ir.Value]


class New(NamedTuple):
    """What stands for a value: the same for all examples, or ``batched``, with one more first dimension for them.

    What is batched and a number for one example is a tensor of one dimension.
    """

    value: ir.Value
    batched: bool


class Batcher:
    """Copies ops to the current insertion point; those that read batched values compute whole batches.

    Args:
        size: of the batch.
        rules: how an op is written for a batch, by its name. A rule notes what stands for the op's results.
        otherwise: the rule of all other ops that are made of numbers alone.

    Attributes:
        taking_part: the examples that come by the ops being copied, as a mask; None while all of them do.
    """

    def __init__(self, size: int, rules: "dict[str, Rule]", otherwise: "Rule") -> None:
        self.size = size
        self.taking_part: New | None = None
        self._rules, self._otherwise = rules, otherwise
        self._new: dict[ir.Value, New] = {}

    def new(self, value: ir.Value) -> New:
        """The value that stands for ``value``; values from outside of what is copied stand for themselves."""
        return self._new.get(value, New(value, False))

    def is_batched(self, *values: ir.Value) -> bool:
        """True if one of ``values`` differs from example to example."""
        return any(self.new(value).batched for value in values)

    def is_batched_inside(self, op: ir.Operation) -> bool:
        """True if ``op``, or an op inside it, reads a value that differs from example to example."""
        return self.is_batched(*operands_from_outside(op))

    def note(self, old: ir.Value, value: ir.Value, batched: bool) -> None:
        """``value`` stands for ``old``."""
        self._new[old] = New(value, batched)

    def block(self, block: ir.Block) -> list[New]:
        """Copy all ops of ``block`` but its terminator; gives what stands for the operands of that."""
        *ops, last = list(block.operations)
        for op in ops:
            with op.operation.location:
                self.op(op.operation)
        return [self.new(value) for value in last.operation.operands]

    def op(self, op: ir.Operation) -> None:
        """Copy ``op``, to the shard that it belongs to."""
        shard = shard_of(op)
        with nullcontext() if shard is None else appended_on(ir.InsertionPoint.current.block, shard):
            is_for_some = self.taking_part is not None and acts(op)
            if not (self.is_batched_inside(op) or is_for_some):
                self.copy(op)
            else:
                self._rules.get(op.name, self._otherwise)(self, op)

    @contextmanager
    def only(self, mask: New) -> Iterator[None]:
        """Of the examples that take part, those of ``mask`` alone come by what is copied inside."""
        before = self.taking_part
        if before is not None:
            inputs: list[tuple[New, int | None]] = [(before, None), (mask, None)]
            both = self.every(inputs, mask.value.type, lambda one, other, _: arith.andi(one, other))
            mask = New(both, True)
        self.taking_part = mask
        try:
            yield
        finally:
            self.taking_part = before

    def copy(self, op: ir.Operation) -> None:
        """Copy ``op``, which is the same for all examples."""
        copied = op.clone()
        self._patch(op, copied)
        for old, value in zip(op.results, copied.results, strict=True):
            self.note(old, value, False)

    def _patch(self, op: ir.Operation, copied: ir.Operation) -> None:
        """Give ``copied``, and everything inside it, what stands for the operands of ``op``."""
        for number, value in enumerate(op.operands):
            if value in self._new:
                copied.operands[number] = self._new[value].value
        for region, copied_region in zip(op.regions, copied.regions, strict=True):
            for block, copied_block in zip(region.blocks, copied_region.blocks, strict=True):
                for inner, other in zip(block.operations, copied_block.operations, strict=True):
                    self._patch(inner.operation, other.operation)

    def for_all(self, value: ir.Value) -> ir.Value:
        """The value that stands for ``value``, repeated for every example if it is the same for all."""
        return self.repeated(self.new(value))

    def repeated(self, new: New) -> ir.Value:
        """``new``, repeated for every example if it is the same for all."""
        if new.batched:
            return new.value
        type_ = self.type(new.value.type)
        if not isinstance(new.value.type, ir.RankedTensorType):
            return fill_with(new.value, empty(type_)).results[0]
        owner = new.value.owner
        if not isinstance(owner, ir.Block) and owner.name == "tensor.empty":
            return empty(type_)
        if not isinstance(owner, ir.Block) and owner.name == "linalg.fill":
            return fill_with(owner.operands[0], empty(type_)).results[0]
        return self.every([(new, None)], type_, lambda element, _: element)

    def type(self, type_: ir.Type) -> ir.RankedTensorType:
        """The type of what stands for a value of ``type_`` that differs from example to example."""
        if isinstance(type_, ir.RankedTensorType):
            return ir.RankedTensorType.get([self.size, *type_.shape], type_.element_type)
        return ir.RankedTensorType.get([self.size], type_)

    def every(self, inputs: Sequence[tuple[New, int | None]], type_: ir.RankedTensorType, body: Body) -> ir.Value:
        """A tensor of ``type_``, the batch first, element by element.

        Args:
            inputs: tensors of the same dimensions, with the batch or without; or those of their first dimensions, with
                how many they are.
            body: takes an element of each input and one of the result; gives the new one.
        """
        rank = type_.rank
        maps = []
        for new, dimensions in inputs:
            own = range(1, rank if dimensions is None else 1 + dimensions)
            maps.append(_dims(rank, [*([0] if new.batched else []), *own]))
        maps.append(_dims(rank, range(rank)))
        return generic([new.value for new, _ in inputs], maps, ["parallel"] * rank, empty(type_), body)

    def number(self, new: New, example: ir.Value) -> ir.Value:
        """The number of one example, at the current insertion point."""
        return tensor.ExtractOp(new.value, [example]).result if new.batched else new.value

    def chosen(self, condition: New, yes: New, no: New) -> ir.Value:
        """``yes`` for the examples for which ``condition`` holds, ``no`` for the others."""
        assert condition.batched, "one condition for all is a branch"
        yes, no = (New(self.repeated(each), True) for each in (yes, no))
        inputs: list[tuple[New, int | None]] = [(condition, 0), (yes, None), (no, None)]
        return self.every(inputs, yes.value.type, lambda flag, a, b, _: arith.select(flag, a, b))


Rule = Callable[[Batcher, ir.Operation], None]


def acts(op: ir.Operation) -> bool:
    """True if ``op``, or an op inside it or in what it calls, does more than to give results, as a check does."""
    effects = effects_of(op)
    if effects is not None and (effects.host or effects.ordered):
        return True
    if op.name == "func.call":
        name = callee_of(op)
        functions = (each.operation for each in module_around(op).regions[0].blocks[0].operations)
        return any(acts(each) for each in functions if each.name == "func.func" and symbol_of(each) == name)
    return any(acts(view.operation) for region in op.regions for block in region.blocks for view in block.operations)


def empty(type_: ir.RankedTensorType) -> ir.Value:
    """A tensor without values, at the current insertion point."""
    return tensor.EmptyOp(list(type_.shape), type_.element_type).result


def generic(
    inputs: Sequence[ir.Value], maps: Sequence[ir.AffineMap], iterators: Sequence[str], init: ir.Value, body: Body
) -> ir.Value:
    """The result of a ``linalg.generic`` at the current insertion point."""
    op = linalg.GenericOp(
        [init.type],
        list(inputs),
        [init],
        ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{each}>") for each in iterators]),
    )
    scalars = [value.type.element_type for value in (*inputs, init)]
    block = op.regions[0].blocks.append(*scalars, arg_locs=[op.location] * len(scalars))
    with ir.InsertionPoint(block):
        linalg.YieldOp([body(*block.arguments)])
    return op.results[0]


def _dims(count: int, results: Sequence[int]) -> ir.AffineMap:
    return ir.AffineMap.get(count, 0, [ir.AffineDimExpr.get(each) for each in results])


def clamped(index: ir.Value, last: int) -> ir.Value:
    """``index``, at least 0 and at most ``last``."""
    return arith.minsi(arith.maxsi(index, index_constant(0)), index_constant(last))
