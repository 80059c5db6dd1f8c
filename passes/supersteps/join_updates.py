"""``ipu-join-updates``: the copy of a buffer that nothing uses any more is the buffer."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS
from ipu_mlir.dialects.analysis.control_flow import flows, sources_of
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class JoinUpdates(Pass):
    """Go on with a buffer instead of a copy of it, where no later op uses the buffer itself.

    Needs:  bufferized IR.
    Leaves: no copy of all of an allocation to another one that lies alike, where the one is used only before, and the
            other only after it; whatever loops and branches of the block call them.
    """

    name = "ipu-join-updates"

    def run(self, module: ir.Operation) -> None:
        for copy in [copy for copy in list_ops(module, "memref.copy") if _is_rest(copy)]:
            source, dest = copy.operands
            copy.erase()
            dest.replace_all_uses_with(source)
            dest.owner.erase()


def _is_rest(copy: ir.Operation) -> bool:
    """True if the source of ``copy`` ends with it, and the destination begins."""
    source, dest = copy.operands
    if source.type != dest.type or defining_op(dest, "memref.alloc") is None:
        return False
    return _is_used(source, copy, before=True) and _is_used(dest, copy, before=False)


def _is_used(buffer: ir.Value, copy: ir.Operation, *, before: bool) -> bool:
    """True if ``buffer`` is allocated in the block of ``copy``, and used in it, but only ``before`` or only after."""
    names = {buffer}
    waiting = [buffer]
    while waiting:
        name = waiting.pop()
        made = defining_op(name)
        others = [made.operands[0]] if made is not None and made.name in VIEW_OPS else sources_of(name)
        if not others and (made is None or made.name != "memref.alloc" or made.block != copy.block):
            return False
        for use in name.uses:
            user = use.owner.operation
            around = around_in(user, copy.block)
            if around is None or (user != copy and around.is_before_in_block(copy) != before):
                return False
            others += _passed_on(user, use.operand_number)
        waiting += [other for other in others if other not in names]
        names.update(others)
    return True


def _passed_on(op: ir.Operation, number: int) -> Iterator[ir.Value]:
    """What else ``op`` calls the buffer that is its operand ``number``."""
    yield from op.results if op.name in VIEW_OPS or op.name == "arith.select" else ()
    for flow in (*flows(op), *flows(op.parent.operation)):
        if flow.source == op and 0 <= number - flow.first < len(flow.targets):
            yield flow.targets[number - flow.first]
