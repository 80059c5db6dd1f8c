"""``ipu-join-updates``: the copy of a buffer that nothing uses any more is the buffer."""

from collections.abc import Iterator
from itertools import compress

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS
from ipu_mlir.dialects.analysis.control_flow import flows, is_branch, is_loop, sources_of
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops


class JoinUpdates(Pass):
    """Go on with a buffer instead of a copy of it, where no later op uses the buffer itself, or not before it is back.

    Needs:  bufferized IR.
    Leaves: no copy of all of an allocation to another one that lies alike, where the one is used only before, and the
            other only after it; whatever loops and branches of the block call them. No copy of a buffer to an
            allocation that is copied back by ``linalg.copy``, where the buffer is not used in between.
    """

    name = "ipu-join-updates"

    def run(self, module: ir.Operation) -> None:
        copies = list_ops(module, "memref.copy", "linalg.copy")
        is_rest = [_is_rest(copy) for copy in copies]  # no join changes this answer for another copy
        others = [copy for copy, rest in zip(copies, is_rest, strict=True) if not rest]
        for copy in compress(copies, is_rest):
            source, dest = copy.operands
            _join(dest, source, copy)
        for back in others:
            if back.name == "linalg.copy" and (out := _way_out(back)) is not None:
                _join(out.operands[1], out.operands[0], out, back)


def _join(copied: ir.Value, buffer: ir.Value, *copies: ir.Operation) -> None:
    """Let ``buffer`` be what ``copied`` is, now without ``copies`` between them."""
    for copy in copies:
        copy.erase()
    copied.replace_all_uses_with(buffer)
    copied.owner.erase()


def _is_rest(copy: ir.Operation) -> bool:
    """True if the source of ``copy`` ends with it, and the destination begins."""
    source, dest = copy.operands
    if source.type != dest.type or defining_op(dest, "memref.alloc") is None:
        return False
    return _is_used(source, copy, before=True) and _is_used(dest, copy, before=False)


def _is_used(buffer: ir.Value, copy: ir.Operation, *, before: bool) -> bool:
    """True if ``buffer`` is allocated in the block of ``copy``, and used in it, but only ``before`` or only after.

    After a branch it may be used as well.
    """
    origins = _origins(buffer)
    if any((made := defining_op(each, "memref.alloc")) is None or made.block != copy.block for each in origins):
        return False
    for user in _users(origins):
        around = around_in(user, copy.block)
        if around is None and (before or not _runs_once(copy)):
            return False
        if around is not None and user != copy and around.is_before_in_block(copy) != before:
            return False
    return True


def _runs_once(op: ir.Operation) -> bool:
    """True if only branches are between ``op`` and its function."""
    around = op.parent.operation
    while is_branch(around):
        around = around.parent.operation
    return not is_loop(around)


def _way_out(back: ir.Operation) -> ir.Operation | None:
    """The copy to an allocation of what ``back`` brings back, if that rests in between; None if it does not."""
    there, home = map(_origin, back.operands)
    if there is None or home is None or there.type != home.type:
        return None
    allocation = defining_op(there, "memref.alloc")
    if allocation is None or allocation.block != back.block:
        return None
    if defining_op(home) is not None and defining_op(home, "memref.alloc") is None:
        return None  # a call or a choice: other names of it are not known
    users = (use.owner.operation for use in there.uses)
    out = next((user for user in users if user.name == "memref.copy" and user.operands[1] == there), None)
    if out is None or out.block != back.block or out.operands[0].type != there.type:
        return None
    taken = _origin(out.operands[0])
    if taken is None or taken != home:
        return None

    def is_between(user: ir.Operation) -> bool:
        around = around_in(user, back.block)
        return around is not None and out.is_before_in_block(around) and around.is_before_in_block(back)

    ends = (allocation, out, back)
    if not all(user in ends or is_between(user) for user in _users([there])):
        return None
    return None if any(user not in ends and is_between(user) for user in _users([home])) else out


def _origin(buffer: ir.Value) -> ir.Value | None:
    """The one buffer that control flow passes on as ``buffer``; None if it may be one of several, or a part of one."""
    origins = _origins(buffer)
    return origins[0] if len(origins) == 1 and origins[0].type == buffer.type else None


def _origins(buffer: ir.Value) -> list[ir.Value]:
    """The buffers that ``buffer`` can be, or be a part of: what neither views nor control flow make."""
    names, found = [buffer], list[ir.Value]()
    for name in names:
        made = defining_op(name)
        sources = [made.operands[0]] if made is not None and made.name in VIEW_OPS else sources_of(name)
        names += [source for source in dict.fromkeys(sources) if source not in names]
        if not sources:
            found.append(name)
    return found


def _users(buffers: list[ir.Value]) -> Iterator[ir.Operation]:
    """Who uses ``buffers``, whatever views, loops and branches call them."""
    names = set(buffers)
    waiting = list(buffers)
    while waiting:
        for use in waiting.pop().uses:
            user = use.owner.operation
            yield user
            others = set(_passed_on(user, use.operand_number)) - names
            names |= others
            waiting += others


def _passed_on(op: ir.Operation, number: int) -> Iterator[ir.Value]:
    """What else ``op`` calls the buffer that is its operand ``number``."""
    yield from op.results if op.name in VIEW_OPS or op.name == "arith.select" else ()
    for flow in (*flows(op), *flows(op.parent.operation)):
        if flow.source == op and 0 <= number - flow.first < len(flow.targets):
            yield flow.targets[number - flow.first]
