"""``ipu-write-in-place``: the new value of a variable is written where the old one lies."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.control_flow import flows, is_loop, sources_of, terminator
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, num_outputs, reads_operand
from ipu_mlir.dialects.analysis.variables import variable_arguments, variable_results
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.tensor_views import VIEW_OPS


@dataclass(frozen=True)
class WriteInPlace(Pass):
    """Let the op that computes the next value of a variable write over the old value, in loops that carry it as well.

    Only where that is the last use of the old value in its block: bufferization then needs no memory of its own for the
    new one, and no copy. What else loops carry stays in two places: then a superstep may read the old value while
    another makes the new one.

    Needs:  placed tensors, without casts between mappings (``ipu-materialize-casts``).
    Leaves: such ops with the argument of the function or of the loop as ``outs``.
    """

    name = "ipu-write-in-place"

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module):
            if op.name == "func.func" and len(op.regions[0].blocks) == 1:
                pairs = _of_variables(op)
            elif is_loop(op):
                pairs = _of_loop(op)
            else:
                continue
            for old, new in list(pairs):
                if _is_variable(old):
                    _write_over(old, new)


def _of_variables(function: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """The variables that ``function`` changes, with their new values."""
    block = function.regions[0].blocks[0]
    places = {name: number for number, name in variable_arguments(function).items()}
    for number, name in variable_results(function).items():
        yield block.arguments[places[name]], terminator(block).operands[number]


def _of_loop(loop: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
    """What ``loop`` carries, as the block sees it that computes the next value, with that value."""
    for flow in flows(loop):
        for new, carried in zip(flow.values(), flow.targets, strict=True):
            if flow.source == loop or not isinstance(carried.owner, ir.Block):
                continue
            if carried.owner == flow.source.block:
                yield carried, new
            else:  # the condition of a ``while``, if it hands on what it was given
                handed_on = [inner for inner in flow.source.block.arguments if sources_of(inner) == [carried]]
                yield from ((inner, new) for inner in handed_on[:1])


def _is_variable(value: ir.Value) -> bool:
    """Whether ``value`` is a variable as a function takes it, or as loops around it have changed it."""
    while sources := sources_of(value):
        value = sources[0]  # what a loop begins with
    if not isinstance(value.owner, ir.Block) or value.owner.owner.operation.name != "func.func":
        return False
    return ir.BlockArgument(value).arg_number in variable_arguments(value.owner.owner.operation)


def _write_over(old: ir.Value, new: ir.Value) -> None:
    """Let ``new`` be written over ``old``, if nothing reads ``old`` after what makes ``new`` began to write."""
    if isinstance(new.owner, ir.Block) or not is_structured(new.owner) or new.owner.operation.block != old.owner:
        return
    op = new.owner.operation
    number = len(op.operands) - num_outputs(op) + new.result_number
    if new.type != old.type or any(value == old for value in list(op.operands)[-num_outputs(op) :]):
        return
    last = op
    if reads_operand(op, number):
        begun = op.operands[number].owner
        if isinstance(begun, ir.Block) or begun.name != "linalg.fill" or begun.operation.block != op.block:
            return
        if sum(1 for _ in begun.results[0].uses) != 1:
            return
        last, number = begun.operation, 1
    before = set(_ops_before(last))
    readers = [_in_block(reader, op.block) for reader in _readers(old)]
    if all(reader in before or (reader == last and _reads_in_order(last, old, number)) for reader in readers):
        last.operands[number] = old


def _readers(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use ``value`` or a view of it."""
    for use in value.uses:
        op = use.owner.operation
        yield op
        if op.name in VIEW_OPS:
            yield from _readers(op.results[0])


def _reads_in_order(op: ir.Operation, value: ir.Value, number: int) -> bool:
    """Whether ``op`` reads each element of ``value`` only to compute the same one of its operand ``number``."""
    maps = indexing_maps(op)
    assert maps is not None, "a structured op has indexing maps"
    found = [place for place, operand in enumerate(op.operands) if operand == value]
    uses = sum(_in_block(reader, op.block) == op for reader in _readers(value))
    if uses > len(found) or "library_call" in op.attributes:  # views, its body, and codelets read what they like
        return False
    return all(maps[place] == maps[number] for place in found)


def _ops_before(last: ir.Operation) -> Iterator[ir.Operation]:
    """The ops of a block before ``last``, which is one of them."""
    for op in last.block.operations:
        if op.operation == last:
            return
        yield op.operation


def _in_block(op: ir.Operation, block: ir.Block) -> ir.Operation:
    """The op of ``block`` that ``op`` is, or that it stands in."""
    while op.block != block:
        op = op.parent.operation
    return op
