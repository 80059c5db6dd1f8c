"""Views whose elements may be overwritten while somebody still reads them.

Bufferization gives a view the memory of its source, and updates that source in place. Where both cannot be, it copies
the view.
"""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.control_flow import control_op, is_branch, is_loop, is_terminator, sources_of
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, is_made_inside, ops_around
from ipu_mlir.dialects.analysis.variables import assigned_arguments
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.tensor_views import VIEW_OPS, view_of


def is_overwritten(view: ir.Operation) -> bool:
    """True if the elements that ``view`` shows may be written before they are read for the last time."""
    found = view_of(view.results[0])
    if found is None or is_kept(found[0]):
        return False
    writers = [op for alias in _aliases(found[0]) for op in _writers(alias)]
    return bool(writers) and any(_may_follow(op, writer, view) for op in _readers(view) for writer in writers)


def is_kept(root: ir.Value) -> bool:
    """True if nothing writes to ``root`` in place: a constant, or an argument that the function does not assign."""
    owner = defining_op(root)
    if owner is not None:
        return owner.name == "arith.constant"
    around = block_of(root).owner.operation
    return around.name == "func.func" and ir.BlockArgument(root).arg_number not in assigned_arguments(around)


def _aliases(value: ir.Value) -> Iterator[ir.Value]:
    """``value`` and what else will be the same memory: its views, and results of branches that leave it."""
    yield value
    for use in value.uses:
        op = use.owner.operation
        if op.name in VIEW_OPS:
            yield from _aliases(op.results[0])
        elif is_terminator(op) and is_branch(op.parent.operation):
            yield from _aliases(op.parent.operation.results[use.operand_number])


def base_of(value: ir.Value) -> ir.Value:
    """The tensor whose memory ``value`` will be if every update happens in place.

    Of branches inside, all blocks leave the same memory or new memory.
    """
    while (op := defining_op(value)) is not None:
        number = ir.OpResult(value).result_number
        if is_structured(op):
            value = op.operands[len(op.operands) - len(op.results) + number]
        elif op.name in VIEW_OPS or op.name == "ipu.place":
            value = op.operands[0]
        elif op.name == "tensor.insert_slice":
            value = op.operands[1]
        elif control_op(op) is not None:
            value = sources_of(value)[0]
            if is_loop(op) and is_made_inside(value, op):  # the condition of a while hands it on
                value = base_of(value)
                if value.owner != op.regions[0].blocks[0]:
                    break
                value = sources_of(value)[0]
        else:
            break
    return value


def _writers(value: ir.Value) -> Iterator[ir.Operation]:
    """Ops that may update the memory of ``value``."""
    for use in value.uses:
        op = use.owner.operation
        is_output = is_structured(op) and use.operand_number >= len(op.operands) - len(op.results)
        is_dest = op.name == "tensor.insert_slice" and use.operand_number == 1
        if is_output or is_dest or is_loop(op):
            yield op


def _readers(view: ir.Operation) -> Iterator[ir.Operation]:
    for use in view.results[0].uses:
        op = use.owner.operation
        if op.name in VIEW_OPS:
            yield from _readers(op)
        else:
            yield op


def _may_follow(reader: ir.Operation, writer: ir.Operation, view: ir.Operation) -> bool:
    """True if ``reader`` may read what ``view`` shows when ``writer`` has run."""
    outer_of_writer = {op.block: op for op in ops_around(writer)}
    for read in ops_around(reader):
        written = outer_of_writer.get(read.block)
        if written is not None:
            break
    else:
        return True
    if read == written or written.is_before_in_block(read):
        return True
    return any(is_loop(op) and op not in ops_around(view) for op in ops_around(read))
