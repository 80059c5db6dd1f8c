"""Contractions as one BLAS call: loops merged where all operands allow it, operands packed where they do not."""

from math import prod

from ipu_mlir.runtime.translator.codegen.emit.emit_elementwise import emit_elementwise
from ipu_mlir.runtime.translator.codegen.packed_pieces import pieces
from ipu_mlir.runtime.translator.codegen.schedule import Axes, Call, Schedule, View, template
from ipu_mlir.runtime.translator.statements.access import Access, is_contiguous, temporary
from ipu_mlir.runtime.translator.statements.contraction import LoopKinds, is_matrix, loop_kinds, merges
from ipu_mlir.runtime.translator.statements.expression import Read
from ipu_mlir.runtime.translator.statements.statements import Dot, Elementwise

_LONGER = 4  # times as long rows are worth a factor that lies the other way round


def emit_contraction(dot: Dot, schedule: Schedule) -> None:
    """Append one product (``dot``, ``matmul`` or ``vecdot``), or one per packed piece, and the copies that it needs."""
    kinds = loop_kinds(dot)
    if not kinds.rows and not kinds.columns:
        _emit_vecdot(dot, kinds, schedule)
        return
    # the result's innermost loop belongs to the columns, so that BLAS writes rows
    inner_row = min((dot.out.strides[loop] for loop in kinds.rows), default=0)
    inner_column = min((dot.out.strides[loop] for loop in kinds.columns), default=0)
    if kinds.rows and (not kinds.columns or inner_row < inner_column):
        dot = Dot(dot.extents, dot.origin, dot.b, dot.a, dot.out)
        kinds = LoopKinds(kinds.batch, kinds.columns, kinds.rows, kinds.summed)
    _Product(dot, kinds, schedule).emit()


class _Product:
    """Decides how one product is laid out, then emits it."""

    def __init__(self, dot: Dot, kinds: LoopKinds, schedule: Schedule) -> None:
        self.dot, self.schedule, self.extents, self.origin = dot, schedule, dot.extents, dot.origin
        self.a, self.b, self.out, self.kinds = dot.a, dot.b, dot.out, kinds
        self.batch, self.rows, self.columns = kinds.batch, kinds.rows, kinds.columns
        self.summed = self._sum_order(kinds.summed)

    def _count(self, loops: tuple[int, ...]) -> int:
        return prod(self.extents[loop] for loop in loops)

    def _merges(self, loops: tuple[int, ...], *accesses: Access) -> bool:
        """True if ``loops`` act as one; a block loop is never joined to a loop outside of it."""
        return self.schedule.block_loop not in loops[1:] and merges(loops, self.extents, *accesses)

    def _sum_order(self, loops: tuple[int, ...]) -> tuple[int, ...]:
        """The order of the summed loops in which most operands can stay as they are."""
        by_a = tuple(sorted(loops, key=lambda loop: -self.dot.a.strides[loop]))
        by_b = tuple(sorted(loops, key=lambda loop: -self.dot.b.strides[loop]))
        both = [order for order in (by_b, by_a) if merges(order, self.extents, self.dot.a, self.dot.b)]
        if both:
            return both[0]
        # pack the smaller factor if either can stay; b's order keeps b, a's order keeps a
        size_a = self._count(tuple(loop for loop, s in enumerate(self.dot.a.strides) if s))
        size_b = self._count(tuple(loop for loop, s in enumerate(self.dot.b.strides) if s))
        keeps_a, keeps_b = merges(by_a, self.extents, self.dot.a), merges(by_b, self.extents, self.dot.b)
        return by_b if keeps_b and (size_a <= size_b or not keeps_a) else by_a

    def emit(self) -> None:
        """Append the packing copies and the product."""
        # a factor whose sum does not merge is packed whatever the rest does, so only the result limits its loops then
        packs_a = not self._merges(self.summed, self.a)
        packs_b = not self._merges(self.summed, self.b)
        if packs_a and not packs_b:
            parts = pieces(self.dot, self.rows, self.schedule)
            if len(parts) > 1:
                for part in parts:
                    _Product(part, self.kinds, self.schedule).emit()
                return
        self.rows = self._kept_together(self.rows, () if packs_a else (self.a,))
        self.columns = self._kept_together(self.columns, () if packs_b else (self.b,))
        if packs_a or not self._fits(self.a, self.rows, self.summed):
            self.a = self._packed(self.a, self.rows, self.summed)
        if packs_b or not self._fits(self.b, self.summed, self.columns):
            self.b = self._packed(self.b, self.summed, self.columns)
        target = self.out
        if not self._fits(target, self.rows, self.columns):
            name, loops = f"{target.buffer.name}_dense", [*self.batch, *self.rows, *self.columns]
            target = temporary(name, target.buffer.dtype, self.extents, loops)
        groups = self._batch_groups(target)
        a = self._view(self.a, groups, self.rows, self.summed)
        b = self._view(self.b, groups, self.summed, self.columns)
        out = self._view(target, groups, self.rows, self.columns)
        if not self.rows and not groups:
            a, out = _without_axis(a, 0), _without_axis(out, 0)
        self._call(a, b, out)
        if target is not self.out:
            extents = tuple(n if s else 1 for n, s in zip(self.extents, self.out.strides, strict=True))
            read = Read(target.buffer.dtype, target)
            emit_elementwise(Elementwise(extents, self.origin, (self.out,), (read,)), self.schedule)

    def _call(self, a: View, b: View, out: View) -> None:
        """Append the product of matrices: of a kernel, or else of BLAS."""
        schedule, call = self.schedule, None
        if schedule.product and not any(schedule.same_place(each.buffer, out.buffer) for each in (a, b)):
            call = schedule.product(a, b, out, self.origin)
        schedule.steps.append(call or Call(template(_function(a, b, out), 2), (a, b), out, self.origin))

    def _kept_together(self, loops: tuple[int, ...], factors: tuple[Access, ...]) -> tuple[int, ...]:
        """The loops that form the rows (or columns) of one matrix; those before them join the batch.

        Loops that do not merge become a batch if enough rows stay together; else the factor will be packed.
        """
        if self._merges(loops, self.out, *factors):
            return loops
        start = self._merging_tail(loops, factors)
        enough = self._count(loops[start:]) >= self.schedule.options.merge_min_rows
        if not enough and self._merges(loops, self.out):
            return loops
        self.batch += loops[:start]
        return loops[start:]

    def _merging_tail(self, loops: tuple[int, ...], factors: tuple[Access, ...]) -> int:
        """Where the longest run of last loops begins that acts as one loop."""
        start = len(loops) - 1
        while start > 0 and self._merges(loops[start - 1 :], self.out, *factors):
            start -= 1
        return start

    def _fits(self, access: Access, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """True if ``access`` is a matrix of ``first`` by ``second`` that BLAS takes as it lies."""
        if any(stride < 0 for stride in access.strides):
            return False
        if not self._merges(first, access) or not self._merges(second, access):
            return False
        row_stride = access.strides[first[-1]] if first else 0
        column_stride = access.strides[second[-1]] if second else 0
        return is_matrix(self._count(first), self._count(second), row_stride, column_stride)

    def _packed(self, access: Access, first: tuple[int, ...], second: tuple[int, ...]) -> Access:
        """A contiguous copy, with the loops of ``first`` outside; inside if that copies far longer rows at a time."""
        is_cut = self.schedule.block_loop is not None and access.strides[self.schedule.block_loop] != 0
        if not is_cut and _LONGER * self._row(access, second) <= self._row(access, first):
            first, second = second, first
        moving = [loop for loop in (*self.batch, *first, *second) if access.strides[loop]]
        packed = temporary(f"{access.buffer.name}_packed", access.buffer.dtype, self.extents, moving)
        extents = tuple(n if s else 1 for n, s in zip(self.extents, access.strides, strict=True))
        read = Read(access.buffer.dtype, access)
        emit_elementwise(Elementwise(extents, self.origin, (packed,), (read,)), self.schedule)
        return packed

    def _row(self, access: Access, loops: tuple[int, ...]) -> int:
        """The points of the last of ``loops`` that act as one in ``access``."""
        moving = tuple(loop for loop in loops if access.strides[loop])
        start = next((n for n in range(len(moving)) if merges(moving[n:], self.extents, access)), len(moving))
        return self._count(moving[start:])

    def _batch_groups(self, target: Access) -> list[tuple[int, ...]]:
        """Batch loops in the order of the result, merged where all three agree."""
        groups: list[tuple[int, ...]] = []
        for loop in sorted(self.batch, key=lambda loop: -target.strides[loop]):
            if (
                groups
                and loop != self.schedule.block_loop
                and merges((groups[-1][-1], loop), self.extents, self.a, self.b, target)
            ):
                groups[-1] = (*groups[-1], loop)
            else:
                groups.append((loop,))
        return groups

    def _view(
        self, access: Access, groups: list[tuple[int, ...]], first: tuple[int, ...], second: tuple[int, ...]
    ) -> View:
        """``access`` as a stack of matrices; batch axes that it does not move with have extent 1."""
        shape = [self._count(g) if access.strides[g[-1]] else 1 for g in groups]
        strides = [access.strides[g[-1]] for g in groups]
        for loops in (first, second):
            shape.append(self._count(loops))
            strides.append(access.strides[loops[-1]] if loops else 0)
        # BLAS wants a stride that spans even an axis of extent 1
        if not second:
            strides[-1] = 1
        if not first:
            strides[-2] = shape[-1] * max(strides[-1], 1)
        view_groups = (*groups, first, second)
        axis, step = self._block(access, view_groups)
        leading = 0
        while leading < len(groups) and shape[leading] == 1:
            leading += 1
        if axis is not None:
            leading = min(leading, axis)
            axis -= leading
        return View(
            access.buffer,
            access.buffer.dtype,
            access.offset,
            tuple(shape[leading:]),
            tuple(strides[leading:]),
            axis,
            step,
        )

    def _block(self, access: Access, groups: tuple[tuple[int, ...], ...]) -> tuple[int | None, int]:
        loop = self.schedule.block_loop
        if loop is None or not access.strides[loop]:
            return None, 1
        axes = Axes(self.extents, tuple(g or () for g in groups), loop, self.schedule.block_units)
        for position, group in enumerate(groups):
            if loop in group:
                assert group[0] == loop, "a block loop is the outermost of its axis"
                return position, axes.shape[position] // self.schedule.block_units
        return None, 1


def _function(a: View, b: View, out: View) -> str:
    """``dot`` calls BLAS as ``matmul`` does, 0.4 us sooner, but has no batch and wants a contiguous result."""
    is_plain = len(a.shape) <= 2 and len(b.shape) == 2 and out.dtype.kind == "f" and out.dtype.itemsize >= 4
    is_contiguous_block = is_contiguous(out.shape, out.strides) and out.block_axis in (None, 0)
    return "dot" if is_plain and is_contiguous_block else "matmul"


def _without_axis(view: View, axis: int) -> View:
    shape, strides = list(view.shape), list(view.strides)
    del shape[axis], strides[axis]
    block = view.block_axis
    if block is not None and block > axis:
        block -= 1
    return View(view.buffer, view.dtype, view.offset, tuple(shape), tuple(strides), block, view.block_step)


def _emit_vecdot(dot: Dot, kinds: LoopKinds, schedule: Schedule) -> None:
    """A sum of products without rows or columns of its own: one dot product per batch entry."""
    order = tuple(sorted(kinds.summed, key=lambda loop: -dot.a.strides[loop]))
    a, b = dot.a, dot.b
    if not merges(order, dot.extents, a, b):
        a = _dense(a, dot, kinds.batch, order, schedule)
        b = a if dot.a == dot.b else _dense(b, dot, kinds.batch, order, schedule)
    product = _Product(Dot(dot.extents, dot.origin, a, b, dot.out), LoopKinds(kinds.batch, (), (), order), schedule)
    groups = product._batch_groups(dot.out)
    views = [_without_axis(product._view(access, groups, (), order), len(groups)) for access in (a, b)]
    shape = tuple(product._count(g) for g in groups)
    strides = tuple(dot.out.strides[g[-1]] for g in groups)
    axis, step = product._block(dot.out, tuple(groups))
    out = View(dot.out.buffer, dot.out.buffer.dtype, dot.out.offset, shape, strides, axis, step)
    schedule.call(template("vecdot", 2), tuple(views), out, dot.origin)


def _dense(access: Access, dot: Dot, batch: tuple[int, ...], summed: tuple[int, ...], schedule: Schedule) -> Access:
    packed = temporary(f"{access.buffer.name}_packed", access.buffer.dtype, dot.extents, [*batch, *summed])
    read = Read(access.buffer.dtype, access)
    emit_elementwise(Elementwise(dot.extents, dot.origin, (packed,), (read,)), schedule)
    return packed
