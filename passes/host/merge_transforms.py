"""``ipu-merge-transforms``: the two halves of a Fourier transform of long rows are one again."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import defining_op, float_of, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.raising.matrices.split_transforms import SECOND_HALF, swapped_map
from ipu_mlir.passes.support.codelet_calls import codelet_into
from ipu_mlir.passes.support.linalg_builders import generic, identity_map, loop_index
from ipu_mlir.passes.support.rewriting import list_ops


class MergeTransforms(Pass):
    """Undo how ``ipu-split-transforms`` cut a transform: whole rows are transformed.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``).
    Leaves: no two halves of one transform, unless something else reads what is between them, or writes to the rows;
            none of real rows, or to real rows, on pairs that are made for it alone.
    """

    name = "ipu-merge-transforms"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for function in list_ops(module, "func.func"):
                halves = [op for op in list_ops(function, "linalg.generic") if SECOND_HALF in op.attributes]
                writes = MemoryWrites(function) if halves else None
                for half in halves:
                    steps = _Steps(half)
                    if writes is not None and steps.are_alone():
                        _merge(steps, writes)
                for op in [op for op in list_ops(function, "linalg.generic") if _called(op) in ("rfft", "ifft")]:
                    if (made := _filled(op)) is not None:
                        simplify = _read_reals if _called(op) == "rfft" else _give_reals
                        simplify(op, *made, MemoryWrites(function))


@dataclass
class _Steps:
    """What makes the columns that ``half`` transforms, back to where they are turned, and what turns its rows.

    Attributes:
        ops: all of them but the last one, ``half`` first.
        homes: the memory between them.
        views: how they see it.
    """

    half: ir.Operation
    ops: list[ir.Operation] = field(default_factory=list)
    homes: list[ir.Value] = field(default_factory=list)
    views: list[ir.Operation] = field(default_factory=list)
    first: ir.Operation | None = None
    last: ir.Operation | None = None

    def are_alone(self) -> bool:
        """True if this is all that uses the memory between them."""
        self.ops.append(self.half)
        found = self.half.operands[1]
        users = [user for user in self._users(found) if user != self.half]
        if defining_op(found, "memref.alloc") is None or len(users) != 1 or not _is_turn(users[0]):
            return False
        self.homes.append(found)
        last = self.last = users[0]
        users = []
        waiting = [self.half.operands[0]]
        while waiting:
            home = root_of(waiting.pop())
            if home in self.homes or defining_op(home, "memref.get_global") is not None:
                continue
            if defining_op(home, "memref.alloc") is None:
                return False
            self.homes.append(home)
            users += self._users(home)
            for maker in [user for user in users if home in map(root_of, _written(user)) and user not in self.ops]:
                self.ops.append(maker)
                if _is_turn(maker):
                    self.first = maker
                else:
                    waiting += list(maker.operands)[: len(maker.operands) - len(_written(maker))]
        written = [root_of(value) for op in self.ops for value in _written(op)]
        is_known = all(op.block == self.half.block and _written(op) for op in (*self.ops, last))
        is_all = all(user in self.ops for user in users) and {*written} <= {*self.homes}
        return self.first is not None and is_known and is_all

    def _users(self, value: ir.Value) -> list[ir.Operation]:
        """The ops that read or write ``value`` or a view of it."""
        found = []
        for use in value.uses:
            user = use.owner.operation
            if user.name in VIEW_OPS:
                self.views.append(user)
                found += self._users(user.results[0])
            else:
                found.append(user)
        return found


def _written(op: ir.Operation) -> list[ir.Value]:
    """The buffers that ``op`` fills; none of an op that is no step."""
    if op.name == "memref.copy":
        return [op.operands[1]]
    return list(op.operands)[len(op.operands) - num_outputs(op) :] if is_structured(op) else []


def _is_turn(op: ir.Operation) -> bool:
    """True if ``op`` makes the rows of matrices of pairs columns."""
    if op.name != "linalg.generic" or len(op.operands) != 2 or "library_call" in op.attributes:
        return False
    body = op.regions[0].blocks[0]
    is_copy = terminator(body).operands[0] == body.arguments[0]
    return is_copy and indexing_maps(op) == [swapped_map(), identity_map(4)]


def _merge(steps: _Steps, writes: MemoryWrites) -> None:
    first, last = steps.first, steps.last
    assert first is not None and last is not None, "asked before"
    rows, out = first.operands[0], last.operands[1]
    is_plain = all(value.type == ir.MemRefType.get(value.type.shape, value.type.element_type) for value in (rows, out))
    if not is_plain or first.block != last.block or writes.between(rows, first, last):
        return
    name = ir.StringAttr(steps.half.attributes[SECOND_HALF]).value
    with ir.InsertionPoint(last), steps.half.location:
        views = [_as_rows(value) for value in (rows, out)]
        if name == "rfft":  # nobody reads the other half of its results
            stack, size, _ = views[0].type.shape
            views = [_part(views[0], [stack, size]), _part(views[1], [stack, size // 2 + 1, 2])]
        whole = codelet_into("ifft" if name == "irfft" else name, views[:1], views[1:])
        if name == "irfft":
            whole.attributes[SECOND_HALF] = steps.half.attributes[SECOND_HALF]
    for view in _made_on_the_way(whole):
        writes.add_view(view, view.owner.operands[0])
    writes.replace_writer(out, last, [whole])
    for view in steps.views:
        writes.forget(view.results[0])  # a new value may have its place
    for op in (last, *steps.ops, *reversed(steps.views)):
        op.erase()
    for home in steps.homes:
        writes.forget(home)
        home.owner.operation.erase()


def _made_on_the_way(whole: ir.Operation) -> Iterator[ir.Value]:
    for value in whole.operands:
        while defining_op(value, *VIEW_OPS) is not None:
            yield value
            value = value.owner.operands[0]


def _as_rows(matrices: ir.Value) -> ir.Value:
    """Matrices of pairs, one behind the other, as rows of pairs."""
    stack, rows, columns, pair = matrices.type.shape
    kind = ir.MemRefType.get([stack, rows * columns, pair], matrices.type.element_type)
    return upstream("memref").CollapseShapeOp(kind, matrices, [[0], [1, 2], [3]]).result


def _part(pairs: ir.Value, shape: list[int]) -> ir.Value:
    """The first elements of ``pairs``; the real parts alone if ``shape`` has no dimension for both."""
    strides, _ = pairs.type.get_strides_and_offset()
    layout = ir.StridedLayoutAttr.get(0, strides[: len(shape)])
    kind = ir.MemRefType.get(shape, pairs.type.element_type, layout)
    sizes = [*shape, 1][: len(strides)]
    return upstream("memref").SubViewOp(kind, pairs, [], [], [], [0] * 3, sizes, [1] * 3).result


def _called(op: ir.Operation) -> str:
    return ir.StringAttr(op.attributes["library_call"]).value if "library_call" in op.attributes else ""


def _users(value: ir.Value) -> list[tuple[ir.Operation, ir.Value]]:
    """The ops that use ``value`` or a view of it, and what they use."""
    found = []
    for use in value.uses:
        user = use.owner.operation
        found += _users(user.results[0]) if user.name in VIEW_OPS else [(user, value)]
    return found


def _filled(op: ir.Operation) -> tuple[ir.Operation, ir.Operation] | None:
    """The zeros, and the copy into some of them, that make what the transform ``op`` reads, if nothing else uses it."""
    home = root_of(op.operands[0])
    makers = [user for user, _ in _users(home) if user != op] if defining_op(home, "memref.alloc") else []
    if [maker.name for maker in makers] != ["linalg.fill", "memref.copy"]:
        makers.reverse()
    in_order = [maker.name for maker in makers] == ["linalg.fill", "memref.copy"] and all(
        one.block == op.block and one.is_before_in_block(other) for one, other in pairwise((*makers, op))
    )
    if not in_order or float_of(makers[0].operands[0]) != 0 or makers[1].operands[1] == home:
        return None
    return makers[0], makers[1]


def _rows_of(value: ir.Value, kept: int) -> ir.Value | None:
    """The contiguous ``value`` with all but its last ``kept`` dimensions as one; None if it is not contiguous."""
    shape, element, memref = list(value.type.shape), value.type.element_type, upstream("memref")
    if value.type != ir.MemRefType.get(shape, element):
        return None
    stack = len(shape) - kept
    kind = ir.MemRefType.get([prod(shape[:stack]), *shape[stack:]], element)
    if stack == 0:
        return memref.ExpandShapeOp(kind, value, [[0, 1], *([n + 1] for n in range(1, kept))], [], kind.shape).result
    return memref.CollapseShapeOp(kind, value, [[*range(stack)], *([stack + n] for n in range(kept))]).result


def _steps_of(value: ir.Value) -> tuple[int, list[int]]:
    strides, offset = value.type.get_strides_and_offset()
    return offset, strides


def _read_reals(op: ir.Operation, fill: ir.Operation, copy: ir.Operation, writes: MemoryWrites) -> None:
    """Let ``op`` read the real numbers that ``copy`` puts beside zeros."""
    source, dest = copy.operands
    offset, strides = _steps_of(dest)
    of_rows = op.operands[0].type.rank == 2
    is_all = of_rows and prod(source.type.shape) == prod(op.operands[0].type.shape) and (offset, strides[-1]) == (0, 2)
    if not is_all or writes.between(source, copy, op):
        return
    with ir.InsertionPoint(op), op.location:
        rows = _rows_of(source, 1)
    if rows is not None:
        op.operands[0] = rows
        _erase_home(dest, fill, copy)


def _give_reals(op: ir.Operation, fill: ir.Operation, copy: ir.Operation, writes: MemoryWrites) -> None:
    """Let ``op``, of which only real parts are read, read the first half of its rows, without zeros for the others."""
    source, dest = copy.operands
    size = op.operands[0].type.shape[-2]
    results = [(user, seen) for user, seen in _users(root_of(op.operands[1])) if user != op]
    is_half = list(source.type.shape)[-2:] == [size // 2 + 1, 2] and _steps_of(dest)[0] == 0
    if SECOND_HALF not in op.attributes or not results or not is_half or writes.between(source, copy, op):
        return
    if any(_steps_of(seen)[1][-1] != 2 or _steps_of(seen)[0] % 2 for _, seen in results):
        return
    memref, arith = upstream("memref"), upstream("arith")
    with ir.InsertionPoint(op), op.location:
        rows = _rows_of(source, 2)
        if rows is None:
            return
        halves = memref.AllocOp(rows.type, [], []).result
        ends = [0] if size % 2 else [0, size // 2]

        def once(arguments: list[ir.Value]) -> list[ir.Value]:
            """All but those that stand for themselves were doubled."""
            place, factor = loop_index(1), arith.ConstantOp(arguments[0].type, 0.5).result
            for end in ends:
                is_end = arith.CmpIOp(arith.CmpIPredicate.eq, place, arith.ConstantOp(place.type, end).result)
                one = arith.ConstantOp(arguments[0].type, 1.0).result
                factor = arith.SelectOp(is_end, one, factor).result
            return [arith.MulFOp(arguments[0], factor).result]

        generic([rows], [halves], [identity_map(3)] * 2, [True] * 3, once)
    name, pairs, last = "irfft_odd" if size % 2 else "irfft", op.operands[1], results[0][0]
    is_copied = len(results) == 1 and last.name == "memref.copy" and last.block == op.block
    with ir.InsertionPoint(last if is_copied else op), op.location:
        reals = _rows_of(last.operands[1], 1) if is_copied else None
        is_copied = reals is not None and list(reals.type.shape) == list(pairs.type.shape)[:2]
        codelet_into(name, [halves], [reals if is_copied else _part(pairs, list(pairs.type.shape)[:2])])
    if is_copied:
        _erase_home(pairs, op, last)
    else:
        op.erase()
    _erase_home(dest, fill, copy)


def _erase_home(view: ir.Value, *users: ir.Operation) -> None:
    """Erase ``users``, which are all that is left of those of the memory of ``view``, and the memory."""
    home = root_of(view)
    for user in users:
        user.erase()

    def erase_views(value: ir.Value) -> None:
        for use in list(value.uses):
            erase_views(use.owner.results[0])
        value.owner.operation.erase()

    erase_views(home)
