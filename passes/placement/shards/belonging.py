"""Where the ops of a function belong that nobody gave a shard: with their operands, or with their first user."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from math import prod

from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, is_branch, is_terminator
from ipu_mlir.dialects.analysis.host_calls import TO_HOST
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.shards import TO_SHARD, argument_shards, shard_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS

_FREE = frozenset(("arith.constant", "tensor.empty", "tensor.splat", "linalg.fill"))

FOLLOWERS = VIEW_OPS | {"ipu.place", "tensor.cast"}
"""Ops that are where their operand is, whatever is written on them: a slice moves no data, only what it shows does."""

SINKS = TO_HOST | {"ipu.assign"}
"""Ops behind which nothing says any more where the values were that they take."""


def is_tensor(value: ir.Value) -> bool:
    return isinstance(value.type, ir.RankedTensorType)


def ops_of(function: ir.Operation) -> list[ir.Operation]:
    """The ops of ``function`` and of its loops and branches, each before those inside it."""
    found: list[ir.Operation] = []

    def visit(block: ir.Block) -> None:
        for each in block.operations:
            found.append(each.operation)
            if control_op(each.operation) is not None:
                for inner in blocks_of(each.operation):
                    visit(inner)

    for block in function.regions[0].blocks:
        visit(block)
    return found


def tensors_read(op: ir.Operation) -> Iterator[tuple[ir.Operation, int]]:
    """Where ``op`` reads tensors: itself or an op of its body, and the number of the operand."""
    inside = list_ops(op) if is_structured(op) else [op]
    for each in inside:
        for number, value in enumerate(each.operands):
            if is_tensor(value):
                yield each, number


def is_free(op: ir.Operation | None) -> bool:
    """True if each shard may have ``op`` for itself: it makes a constant, memory, or numbers that only count loops."""
    if op is None or op.name != "linalg.generic":
        return op is not None and op.name in _FREE
    reads = (defining_op(each.operands[number]) for each, number in tensors_read(op))
    return len(op.operands) == len(op.results) and all(map(is_free, reads))


def crossings(op: ir.Operation) -> Iterator[tuple[ir.Operation, int, ir.Value | None]]:
    """Where values may come to ``op`` from another shard: the op that has it as operand, its number, and the value
    that it becomes, None where it does not become one.
    """
    ways = flows(op)
    if ways:
        for flow in ways:
            for number, target in enumerate(flow.targets, start=flow.first):
                if is_tensor(target):
                    yield flow.source, number, target
    elif op.name not in FOLLOWERS and not is_free(op) and (op.name == "func.return" or not is_terminator(op)):
        for each, number in tensors_read(op):
            yield each, number, None


class Belonging:
    """The shards of the ops and values of one function.

    What is written stays. A result without a shard is where most elements of the operands are, an inserted slice where
    the tensor is that it goes into, what a loop carries where its first value is, and its result there too. What has no
    operands, or arguments, is where it is used first.
    """

    def __init__(self, function: ir.Operation) -> None:
        self.ops = ops_of(function)
        self.of_value: dict[ir.Value, int] = {}
        self._becomes_too: dict[ir.Value, list[ir.Value]] = defaultdict(list)
        """What an operand becomes besides a value: as what a loop carries, and as its result after no round at all."""
        for op in self.ops:
            targets: dict[tuple[ir.Operation, int], list[ir.Value]] = defaultdict(list)
            for flow in flows(op):
                for number, target in enumerate(flow.targets, start=flow.first):
                    targets[flow.source, number].append(target)
            for together in targets.values():
                for target in together if len(together) > 1 else ():
                    self._becomes_too[target] += [each for each in together if each != target]
        self._read_written(function)
        if self.of_value:
            while self._forward() or self._backward() or self._forward(later_rounds=True):
                pass

    def of_op(self, op: ir.Operation) -> int | None:
        """The shard of ``op``; None where it is not known, or where ``op`` is on none, as the end of a function."""
        if op.name in FOLLOWERS:
            return self.of_value.get(op.results[0])
        written = shard_of(op)
        if written is not None or op.name in SINKS or op.name in ("func.call", "func.return"):
            return written
        return next((self.of_value[each] for each in op.results if each in self.of_value), None)

    def _read_written(self, function: ir.Operation) -> None:
        arguments = function.regions[0].blocks[0].arguments
        for number, shard in argument_shards(function).items():
            self._set(arguments[number], shard)
        for op in self.ops:
            shard = shard_of(op)
            if shard is not None and op.name not in FOLLOWERS:
                carried = (target for flow in flows(op) for target in flow.targets)
                for value in (*op.results, *carried):
                    self._set(value, shard)

    def _set(self, value: ir.Value, shard: int | None) -> bool:
        if shard is None or value in self.of_value or not is_tensor(value):
            return False
        self.of_value[value] = shard
        for other in self._becomes_too.get(value, ()):
            self._set(other, shard)
        return True

    def _forward(self, later_rounds: bool = False) -> bool:
        """Let values go where what they are made of is; answers whether any did.

        Args:
            later_rounds: whether what a loop carries may also be where a round leaves it, not only where it begins.
        """
        changed = False
        for op in self.ops:
            if flows(op):
                begun: set[ir.Value] = set()
                for flow in flows(op):
                    for value, target in zip(flow.values(), flow.targets, strict=True):
                        if later_rounds or is_branch(op) or target not in begun:
                            changed |= self._set(target, self.of_value.get(value))
                        begun.add(target)
            elif op.name != "func.call" and any(is_tensor(each) for each in op.results):
                shard = self._of_operands(op)
                for result in op.results:
                    changed |= self._set(result, shard)
        return changed

    def _of_operands(self, op: ir.Operation) -> int | None:
        if op.name == "tensor.insert_slice" and op.operands[1] in self.of_value:
            return self.of_value[op.operands[1]]
        weights: Counter[int] = Counter()
        for each, number in tensors_read(op):
            value = each.operands[number]
            if value in self.of_value:
                weights[self.of_value[value]] += prod(max(size, 1) for size in value.type.shape)
        return weights.most_common(1)[0][0] if weights else None

    def _backward(self) -> bool:
        """Let values go where they are used first; answers whether any did."""
        wanted: dict[ir.Value, int] = {}

        def known(value: ir.Value) -> int | None:
            return self.of_value.get(value, wanted.get(value))

        for op in reversed(self.ops):
            pairs = [
                (value, known(target))
                for flow in flows(op)
                for value, target in zip(flow.values(), flow.targets, strict=True)
            ]
            if not pairs:
                shard = self.of_op(op)
                if shard is None:
                    shard = next((found for each in op.results if (found := known(each)) is not None), None)
                pairs = [(each.operands[number], shard) for each, number in tensors_read(op)]
            wanted.update({value: shard for value, shard in pairs if shard is not None})
        return sum(self._set(value, shard) for value, shard in wanted.items()) > 0


def is_sharded(function: ir.Operation) -> bool:
    """True if a shard is written anywhere in ``function``."""
    if argument_shards(function):
        return True
    return any(op.name == TO_SHARD or shard_of(op) is not None for op in ops_of(function))
