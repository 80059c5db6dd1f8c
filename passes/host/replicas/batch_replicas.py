"""``ipu-batch-replicas``: what differs between replicas has an axis for them, and all of them run at once."""

from collections.abc import Set
from math import prod
from typing import Protocol

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, strides_and_offset
from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, is_terminator, terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.analysis.matchers import defining_op, symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.analysis.remote import MOVES
from ipu_mlir.dialects.analysis.replicas import VARIES, Varying, is_marked, replicas_of
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.host.merge_reductions import MergeReductions
from ipu_mlir.passes.host.replicas.axis import (
    allocated,
    batched_type,
    broadcast,
    computed,
    copied,
    is_plain,
    row_of,
    view,
    view_as,
)
from ipu_mlir.passes.host.replicas.batch_codelets import batch_codelet
from ipu_mlir.passes.host.replicas.batch_collectives import expand_collective
from ipu_mlir.passes.host.replicas.batch_remote import batch_move
from ipu_mlir.passes.host.replicas.batch_scalars import batch_scalar
from ipu_mlir.passes.host.replicas.batch_structured import batch_copy, batch_structured, generalize
from ipu_mlir.passes.support.linalg_builders import (
    loop_index,
)
from ipu_mlir.passes.support.reduction_marks import COMBINES
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies
from ipu_mlir.passes.support.value_attributes import set_function_type

arith = upstream("arith")


class BatchReplicas(Pass):
    """Run all replicas at once: buffers that differ get a first dimension for replicas, ops that touch them a loop.

    What is one for all stays as it is. Collectives become reductions and copies along that dimension; a sum over
    replicas of what each of them adds up becomes one sum.

    Needs:  linalg on buffers without mappings (``ipu-drop-placement``), where ``ipu-mark-replicas`` has said which
            variables, arguments and results differ, and has let no control flow depend on that.
    Leaves: linalg on buffers, as for one replica; no collective and no ``ipu.number_replica``. Arguments, variables and
            results with ``ipu.varies`` have the dimension for replicas.
    """

    name = "ipu-batch-replicas"

    def run(self, module: ir.Operation) -> None:
        replicas = replicas_of(module)
        if replicas == 1:
            return
        with module.context, ir.Location.unknown():
            varying = Varying(module, replicas)
            functions = [op for op in list_ops(module, "func.func") if len(op.regions[0].blocks)]
            names = {callee_of(call) for call in list_ops(module, "func.call")}
            named = {symbol_of(op): op for op in functions}
            called = {name: named[name] for name in names if name in named}
            batch = Batch(varying, replicas, called)
            for function in functions:
                batch.function(function)
            if any(COMBINES in op.attributes for op in list_ops(module, "linalg.generic")):
                MergeReductions().run(module)


class Differing(Protocol):
    """The values, and the remote buffers by their names, of which each replica has its own."""

    @property
    def buffers(self) -> Set[str]: ...

    def __contains__(self, value: ir.Value, /) -> bool: ...

    def forget(self, value: ir.Value) -> None:
        """``value`` goes away."""
        ...


class Batch:
    """Goes over functions in the order of their text: when it comes to an op, what that uses has its axis."""

    def __init__(self, varying: Differing, replicas: int, called: dict[str, ir.Operation]) -> None:
        self._varying = varying
        self._called = called
        self._replicas = replicas
        self.batched: set[ir.Value] = set()
        """Values, new ones among them, that have the axis."""

    def function(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        for op in list_outside_bodies(function):
            if is_structured(op) and any(value in self._varying for value in op.operands):
                generalize(op)  # while its operands are those that it was made for
        ops = [op.operation for op in block.operations]
        put_back = self._arguments(function, block)
        self.ops(ops)
        end = terminator(block)
        with ir.InsertionPoint(end), end.location:
            for batched, variable in put_back:
                copied(row_of(batched), variable)
            entries, is_called = function.attributes.get("res_attrs", ()), function in self._called.values()
            for number, value in enumerate(end.operands):
                has_mark = len(entries) > number and VARIES in entries[number] and not is_called
                varies = is_marked(entries[number]) if has_mark else value in self.batched
                if varies != (value in self.batched):
                    end.operands[number] = self._with_axis(value) if varies else self._without_axis(value)
        set_function_type(function)

    def _arguments(self, function: ir.Operation, block: ir.Block) -> list[tuple[ir.Value, ir.Value]]:
        """Give arguments the axis; gives copies, with it, of variables that are one value before and after."""
        put_back = []
        is_called = function in self._called.values()
        entries, variables = function.attributes.get("arg_attrs", ()), variable_arguments(function)
        for number, argument in enumerate(block.arguments):
            if argument not in self._varying:
                continue
            if is_called or (len(entries) > number and is_marked(entries[number])):
                self._retype(argument, batched_type(argument.type, self._replicas))
                continue
            with ir.InsertionPoint.at_block_begin(block):
                copy = broadcast(argument, self._replicas)
            self.replace_uses(argument, copy, but=copy)
            if number in variables:
                put_back.append((copy, argument))
        return put_back

    def ops(self, ops: list[ir.Operation]) -> None:
        for op in ops:
            with ir.InsertionPoint(op), op.location:
                self._op(op)

    def _op(self, op: ir.Operation) -> None:
        name = op.name
        if name == "memref.alloc":
            if op.results[0] in self._varying:
                self._retype(op.results[0], batched_type(op.results[0].type, self._replicas))
        elif name == "memref.get_global":
            if op.results[0] in self._varying:
                with ir.InsertionPoint.after(op):
                    copy = broadcast(op.results[0], self._replicas)
                self.replace_uses(op.results[0], copy, but=copy)
        elif name in VIEW_OPS or name == "memref.transpose":
            if op.operands[0] in self.batched:
                self._view(op)
        elif control_op(op) is not None:
            self._control(op)
        elif name == "func.call":
            self._call(op)
        elif name == "ipu.number_replica":
            computed([], op.operands[0], [0], lambda x: [arith.IndexCastOp(x[0].type, loop_index(0)).result])
            self._erase(op)
        elif collective_of(op) is not None:
            self._collective(op)
        elif name in MOVES:
            batch_move(op, self._varying.buffers, self.batched, self._with_axis)
        elif is_structured(op):
            if "library_call" in op.attributes:
                if any(value in self.batched for value in op.operands):
                    batch_codelet(op, self.batched, self._replicas)
                    self._erase(op)
            elif batch_structured(op, self.batched, self._replicas):
                self._erase(op)
        elif name == "memref.copy":
            source, dest = op.operands
            if dest in self.batched and source not in self.batched:
                batch_copy(source, dest, self.batched, self._replicas)
                self._erase(op)
        elif any(value in self.batched for value in op.operands) and not is_terminator(op):
            found = batch_scalar(op, self.batched, self._replicas)
            if found is not None:
                for result, value in zip(op.results, found, strict=True):
                    self.replace_uses(result, value)
                self._erase(op)

    def _erase(self, op: ir.Operation) -> None:
        """Forget what is gone: MLIR may make something new in its place."""
        for value in op.results:
            self.batched.discard(value)
            self._varying.forget(value)
        op.erase()

    def _retype(self, value: ir.Value, kind: ir.Type) -> None:
        value.set_type(kind)
        self.batched.add(value)

    def replace_uses(self, old: ir.Value, new: ir.Value, but: ir.Value | None = None) -> None:
        """Let ``new``, which has the axis, stand for ``old`` everywhere but in the op that fills ``but``."""
        self.batched.add(new)
        for use in list(old.uses):
            user = use.owner.operation
            if but is None or but not in list(user.operands):
                user.operands[use.operand_number] = new

    def _with_axis(self, value: ir.Value) -> ir.Value:
        if value in self.batched:
            return value
        made = broadcast(value, self._replicas)
        self.batched.add(made)
        return made

    def _without_axis(self, value: ir.Value) -> ir.Value:
        """The value of the first replica, for one that is known to be the same on all."""
        row = row_of(value)
        made = allocated(list(row.type.shape), row.type.element_type)
        copied(row, made)
        return made

    def _view(self, op: ir.Operation) -> None:
        source, shown = op.operands[0], op.results[0].type
        (step, *_), _ = strides_and_offset(source.type)
        strides, offset = strides_and_offset(shown)
        self.replace_uses(op.results[0], view(source, [self._replicas, *shown.shape], [step, *strides], offset))
        self._erase(op)

    def _collective(self, op: ir.Operation) -> None:
        collective, (source, dest) = collective_of(op), op.operands
        assert collective is not None, "asked before"
        source = self._with_axis(source)
        found = dest
        if collective.makes_equal(self._replicas):
            if dest in self.batched:
                found = allocated(list(dest.type.shape)[1:], dest.type.element_type)
            if collective.kind == "all_reduce" and is_plain(found) and (whole := self._without_views(source, op)):
                source, found = whole, view_as(found, list(whole.type.shape)[1:])
        elif dest not in self.batched:  # groups of one size that begin with one value end with one
            found = allocated([self._replicas, *dest.type.shape], dest.type.element_type)
        expand_collective(collective, source, found, self._replicas)
        if dest in self.batched and collective.makes_equal(self._replicas):
            broadcast(view_as(found, list(dest.type.shape)[1:]), self._replicas, dest)
        elif dest not in self.batched and not collective.makes_equal(self._replicas):
            copied(row_of(found), dest)
        self._erase(op)

    def _without_views(self, value: ir.Value, reader: ir.Operation) -> ir.Value | None:
        """The allocation that ``value`` shows in another shape for ``reader`` alone; what shows it goes away."""
        shown = []
        while (op := defining_op(value, *VIEW_OPS)) is not None:
            if not is_plain(value) or any(use.owner.operation != reader for use in value.uses):
                return None
            shown.append(op)
            value, reader = op.operands[0], op
        if not shown or not is_plain(value) or prod(value.type.shape) != prod(shown[0].results[0].type.shape):
            return None
        collective = next(iter(shown[0].results[0].uses)).owner.operation
        collective.operands[0] = value
        for op in shown:
            self._erase(op)
        return value

    def _control(self, op: ir.Operation) -> None:
        """Give what comes into blocks and goes out of them one type wherever it comes from."""
        row = control_op(op)
        assert row is not None, "asked before"
        for value in row.decided_by(op):
            self._decide(op, value)
        self._flow(op, op)
        for block in blocks_of(op):
            self.ops([inner.operation for inner in block.operations])
            end = terminator(block)
            with ir.InsertionPoint(end), end.location:
                for value in row.decided_by(op):
                    self._decide(end, value)
                self._flow(op, end)

    def _decide(self, op: ir.Operation, value: ir.Value) -> None:
        """Let control flow depend on one number for all replicas."""
        for number, operand in enumerate(op.operands):
            if operand == value and operand in self.batched:
                op.operands[number] = upstream("memref").LoadOp(row_of(operand), []).result

    def _flow(self, op: ir.Operation, source: ir.Operation) -> None:
        for flow in flows(op):
            if flow.source != source:
                continue
            for number, target in enumerate(flow.targets, start=flow.first):
                if target not in self._varying:
                    continue
                value = self._with_axis(source.operands[number])
                if target not in self.batched:
                    self._retype(target, value.type)
                assert value.type == target.type, "loops carry buffers of one layout"
                source.operands[number] = value

    def _call(self, op: ir.Operation) -> None:
        """Give the axis to what a function takes and gives if it differs in any of its calls."""
        callee = self._called[callee_of(op)]
        for number, argument in enumerate(callee.regions[0].blocks[0].arguments):
            if argument in self._varying or argument in self.batched:
                op.operands[number] = self._with_axis(op.operands[number])
        for result in op.results:
            if result in self._varying:
                self._retype(result, batched_type(result.type, self._replicas))
