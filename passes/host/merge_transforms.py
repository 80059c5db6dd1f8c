"""``ipu-merge-transforms``: the two halves of a Fourier transform of long rows are one again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, root_of
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import defining_op, terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.memory_writes import MemoryWrites
from ipu_mlir.passes.raising.matrices.split_transforms import SECOND_HALF, swapped_map
from ipu_mlir.passes.support.codelet_calls import codelet_into
from ipu_mlir.passes.support.linalg_builders import identity_map
from ipu_mlir.passes.support.rewriting import list_ops


class MergeTransforms(Pass):
    """Undo how ``ipu-split-transforms`` cut a transform: whole rows are transformed.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``).
    Leaves: no two halves of one transform, unless something else reads what is between them, or writes to the rows.
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
        whole = codelet_into(name, views[:1], views[1:])
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
