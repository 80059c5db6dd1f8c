"""``ipu-batch-replicas``: what differs between replicas has an axis for them, and all of them run at once."""

from dataclasses import dataclass
from math import prod

from ipu_mlir.dialects.analysis.buffers import VIEW_OPS, strides_and_offset
from ipu_mlir.dialects.analysis.collectives import collective_of
from ipu_mlir.dialects.analysis.control_flow import blocks_of, control_op, flows, is_terminator, terminator
from ipu_mlir.dialects.analysis.loop_nest import indexing_maps, is_structured, loads_in, loop_nest, num_outputs
from ipu_mlir.dialects.analysis.matchers import defining_op
from ipu_mlir.dialects.analysis.replicas import VARIES, Varying, is_marked, replicas_of
from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.support.bindings import ADVANCE, ir, upstream
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
from ipu_mlir.passes.support.linalg_builders import (
    bodiless_generic,
    fill_with,
    generic,
    identity_map,
    loop_index,
)
from ipu_mlir.passes.support.reduction_marks import COMBINES
from ipu_mlir.passes.support.rewriting import list_ops, list_outside_bodies

arith = upstream("arith")


@dataclass(frozen=True)
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
            names = {ir.FlatSymbolRefAttr(call.attributes["callee"]).value for call in list_ops(module, "func.call")}
            named = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in functions}
            called = {name: named[name] for name in names if name in named}
            batch = _Batch(varying, replicas, called)
            for function in functions:
                batch.function(function)
            if any(COMBINES in op.attributes for op in list_ops(module, "linalg.generic")):
                MergeReductions().run(module)


class _Batch:
    """Goes over functions in the order of their text: when it comes to an op, what that uses has its axis."""

    def __init__(self, varying: Varying, replicas: int, called: dict[str, ir.Operation]) -> None:
        self._varying = varying
        self._called = called
        self._replicas = replicas
        self._batched: set[ir.Value] = set()
        """Values, new ones among them, that have the axis."""

    def function(self, function: ir.Operation) -> None:
        block = function.regions[0].blocks[0]
        for op in list_outside_bodies(function):
            if is_structured(op) and any(value in self._varying for value in op.operands):
                _generalize(op)  # while its operands are those that it was made for
        ops = [op.operation for op in block.operations]
        put_back = self._arguments(function, block)
        self._ops(ops)
        end = terminator(block)
        with ir.InsertionPoint(end), end.location:
            for batched, variable in put_back:
                copied(row_of(batched), variable)
            entries, is_called = function.attributes.get("res_attrs", ()), function in self._called.values()
            for number, value in enumerate(end.operands):
                has_mark = len(entries) > number and VARIES in entries[number] and not is_called
                varies = is_marked(entries[number]) if has_mark else value in self._batched
                if varies != (value in self._batched):
                    end.operands[number] = self._with_axis(value) if varies else self._without_axis(value)
        kind = ir.FunctionType.get([each.type for each in block.arguments], [each.type for each in end.operands])
        function.attributes["function_type"] = ir.TypeAttr.get(kind)

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
            self._replace_uses(argument, copy, but=copy)
            if number in variables:
                put_back.append((copy, argument))
        return put_back

    def _ops(self, ops: list[ir.Operation]) -> None:
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
                self._replace_uses(op.results[0], copy, but=copy)
        elif name in VIEW_OPS or name == "memref.transpose":
            if op.operands[0] in self._batched:
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
        elif is_structured(op):
            if "library_call" in op.attributes:
                if any(value in self._batched for value in op.operands):
                    batch_codelet(op, self._batched, self._replicas)
                    self._erase(op)
            else:
                self._structured(op)
        elif name == "memref.copy":
            source, dest = op.operands
            if dest in self._batched and source not in self._batched:
                self._copy(source, dest)
                self._erase(op)
        elif any(value in self._batched for value in op.operands) and not is_terminator(op):
            self._scalar(op)

    def _erase(self, op: ir.Operation) -> None:
        """Forget what is gone: MLIR may make something new in its place."""
        for value in op.results:
            self._batched.discard(value)
            self._varying.forget(value)
        op.erase()

    def _retype(self, value: ir.Value, kind: ir.Type) -> None:
        value.set_type(kind)
        self._batched.add(value)

    def _replace_uses(self, old: ir.Value, new: ir.Value, but: ir.Value | None = None) -> None:
        """Let ``new``, which has the axis, stand for ``old`` everywhere but in the op that fills ``but``."""
        self._batched.add(new)
        for use in list(old.uses):
            user = use.owner.operation
            if but is None or but not in list(user.operands):
                user.operands[use.operand_number] = new

    def _with_axis(self, value: ir.Value) -> ir.Value:
        if value in self._batched:
            return value
        made = broadcast(value, self._replicas)
        self._batched.add(made)
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
        self._replace_uses(op.results[0], view(source, [self._replicas, *shown.shape], [step, *strides], offset))
        self._erase(op)

    def _collective(self, op: ir.Operation) -> None:
        collective, (source, dest) = collective_of(op), op.operands
        assert collective is not None, "asked before"
        source = self._with_axis(source)
        found = dest
        if collective.makes_equal(self._replicas):
            if dest in self._batched:
                found = allocated(list(dest.type.shape)[1:], dest.type.element_type)
            if collective.kind == "all_reduce" and is_plain(found) and (whole := self._without_views(source, op)):
                source, found = whole, view_as(found, list(whole.type.shape)[1:])
        expand_collective(collective, source, found, self._replicas)
        if dest in self._batched and collective.makes_equal(self._replicas):
            broadcast(view_as(found, list(dest.type.shape)[1:]), self._replicas, dest)
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
        """What comes in and goes out of blocks has one type wherever it comes from."""
        row = control_op(op)
        assert row is not None, "asked before"
        for value in row.decided_by(op):
            self._decide(op, value)
        self._flow(op, op)
        for block in blocks_of(op):
            self._ops([inner.operation for inner in block.operations])
            end = terminator(block)
            with ir.InsertionPoint(end), end.location:
                for value in row.decided_by(op):
                    self._decide(end, value)
                self._flow(op, end)

    def _decide(self, op: ir.Operation, value: ir.Value) -> None:
        """What control flow depends on is one number for all replicas."""
        for number, operand in enumerate(op.operands):
            if operand == value and operand in self._batched:
                op.operands[number] = upstream("memref").LoadOp(row_of(operand), []).result

    def _flow(self, op: ir.Operation, source: ir.Operation) -> None:
        for flow in flows(op):
            if flow.source != source:
                continue
            for number, target in enumerate(flow.targets, start=flow.first):
                if target not in self._varying:
                    continue
                value = self._with_axis(source.operands[number])
                if target not in self._batched:
                    self._retype(target, value.type)
                assert value.type == target.type, "loops carry buffers of one layout"
                source.operands[number] = value

    def _structured(self, op: ir.Operation) -> None:
        captured = [value for value in _captured_scalars(op) if value in self._batched]
        loads = [load for load in loads_in(op) if load.operands[0] in self._batched]
        operands = list(op.operands)
        if not captured and not loads and not any(value in self._batched for value in operands):
            return
        count = len(operands) - num_outputs(op)
        if op.name == "linalg.fill":
            self._fill(*operands)
        elif op.name == "linalg.copy":
            self._copy(*operands)
        else:
            maps = [each.value for each in op.attributes["indexing_maps"]]
            loops = maps[0].n_dims + 1
            later = ir.AffineMap.get(loops, 0, [ir.AffineExpr.get_dim(d) for d in range(1, loops)])
            axis = [ir.AffineExpr.get_dim(0)]
            shifted = [
                ir.AffineMap.get(
                    loops, 0, [*(axis if value in self._batched else []), *(x.compose(later) for x in each.results)]
                )
                for value, each in zip(operands, maps, strict=True)
            ]
            own = [ir.AffineMap.get(loops, 0, axis)] * len(captured)
            new = bodiless_generic(
                [*operands[:count], *captured],
                operands[count:],
                [*shifted[:count], *own, *shifted[count:]],
                [True, *("parallel" in str(kind) for kind in op.attributes["iterator_types"])],
            )
            self._move_body(op, new, count, captured)
        self._erase(op)

    def _fill(self, value: ir.Value, out: ir.Value) -> None:
        if value in self._batched:
            computed([(value, [0])], out, range(len(out.type.shape)), lambda x: [x[0]])
        else:
            fill_with(value, out)

    def _copy(self, source: ir.Value, out: ir.Value) -> None:
        if source in self._batched:
            copied(source, out)
        else:
            broadcast(source, self._replicas, out)

    def _move_body(self, op: ir.Operation, new: ir.Operation, inputs: int, captured: list[ir.Value]) -> None:
        """The body of ``op`` for one replica, with one more loop around it and ``captured`` among its elements."""
        old = op.regions[0].blocks[0]
        types = [argument.type for argument in old.arguments]
        types[inputs:inputs] = [value.type.element_type for value in captured]
        block = ir.Block.create_at_start(new.regions[0], types, [op.location] * len(types))
        for number, argument in enumerate(old.arguments):
            argument.replace_all_uses_with(block.arguments[number + (len(captured) if number >= inputs else 0)])
        for inner in list(old.operations):
            block.append(inner)
        elements = dict(zip(captured, list(block.arguments)[inputs:], strict=False))
        loads: list[ir.Operation] = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if inner.name == "linalg.index":
                loop = ir.IntegerAttr(inner.attributes["dim"])
                inner.attributes["dim"] = ir.IntegerAttr.get(loop.type, loop.value + 1)
            for number, value in enumerate(inner.operands):
                if value in elements and not _is_loaded_from(inner, number):
                    inner.operands[number] = elements[value]
            if inner.name == "memref.load" and inner.operands[0] in self._batched:
                loads.append(inner)
            return ADVANCE

        for inner in block.operations:
            inner.operation.walk(visit)
        if loads:
            with ir.InsertionPoint.at_block_begin(block), op.location:
                replica = loop_index(0)
        for load in loads:
            with ir.InsertionPoint(load), load.location:
                found = upstream("memref").LoadOp(load.operands[0], [replica, *list(load.operands)[1:]]).result
            load.results[0].replace_all_uses_with(found)
            load.erase()

    def _scalar(self, op: ir.Operation) -> None:
        """Numbers outside of linalg, of which there is one for each replica."""
        name = op.name
        if name == "memref.load":
            self._load(op)
        elif name == "cf.assert":
            self._assert(op)
        elif name == "arith.select" and isinstance(op.results[0].type, ir.MemRefType):
            self._select(op)
        elif not name.startswith("ipu."):  # transfers take what there is of each replica
            self._each(op, list(op.operands))

    def _each(self, op: ir.Operation, operands: list[ir.Value]) -> None:
        """``op`` on scalars, for each replica."""
        inputs = [value for value in dict.fromkeys(operands) if value in self._batched]
        outs = [allocated([self._replicas], result.type) for result in op.results]
        maps = [identity_map(1)] * (len(inputs) + len(outs))

        def body(elements: list[ir.Value]) -> list[ir.Value]:
            copy = op.clone()
            own = dict(zip(inputs, elements, strict=False))
            for number, value in enumerate(operands):
                if value in own:
                    copy.operands[number] = own[value]
            return list(copy.results)

        generic(inputs, outs, maps, [True], body)
        for result, out in zip(op.results, outs, strict=True):
            self._replace_uses(result, out)
        self._erase(op)

    def _load(self, op: ir.Operation) -> None:
        source, *indices = op.operands
        out = allocated([self._replicas], op.results[0].type)
        varying = [value for value in dict.fromkeys(indices) if value in self._batched]

        def body(elements: list[ir.Value]) -> list[ir.Value]:
            own = dict(zip(varying, elements, strict=False))
            axis = [loop_index(0)] if source in self._batched else []
            return [upstream("memref").LoadOp(source, [*axis, *(own.get(each, each) for each in indices)]).result]

        if indices:
            generic(varying, [out], [identity_map(1)] * (len(varying) + 1), [True], body)
        else:
            copied(source, out)
        self._replace_uses(op.results[0], out)
        self._erase(op)

    def _assert(self, op: ir.Operation) -> None:
        """It holds if it does on every replica."""
        bit = ir.IntegerType.get_signless(1)
        all_hold = allocated([], bit)
        fill_with(arith.ConstantOp(bit, ir.IntegerAttr.get(bit, -1)).result, all_hold)
        computed([(op.operands[0], [0])], all_hold, [], lambda x: [arith.AndIOp(x[1], x[0]).result])
        op.operands[0] = upstream("memref").LoadOp(all_hold, []).result

    def _select(self, op: ir.Operation) -> None:
        """One of two buffers: the same for all replicas, or element by element a new one."""
        condition, *chosen = op.operands
        both = [self._with_axis(value) for value in chosen]
        if condition not in self._batched and both[0].type == both[1].type:
            op.operands[1], op.operands[2] = both
            self._retype(op.results[0], both[0].type)
            return
        shape = list(both[0].type.shape)
        out = allocated(shape, both[0].type.element_type)
        dims = range(len(shape))
        loops = [0] if condition in self._batched else []
        inputs = [(condition, loops), (both[0], dims), (both[1], dims)]
        computed(inputs, out, dims, lambda x: [arith.SelectOp(*x[:3]).result])
        self._replace_uses(op.results[0], out)
        self._erase(op)

    def _call(self, op: ir.Operation) -> None:
        """What a function takes and gives has the axis if it differs in any of its calls."""
        callee = self._called[ir.FlatSymbolRefAttr(op.attributes["callee"]).value]
        for number, argument in enumerate(callee.regions[0].blocks[0].arguments):
            if argument in self._varying or argument in self._batched:
                op.operands[number] = self._with_axis(op.operands[number])
        for result in op.results:
            if result in self._varying:
                self._retype(result, batched_type(result.type, self._replicas))


def _captured_scalars(op: ir.Operation) -> list[ir.Value]:
    """Numbers from outside that the body of ``op`` uses."""
    made: set[ir.Value] = set()
    used: dict[ir.Value, None] = {}

    def visit(inner: ir.Operation) -> ir.WalkResult:
        if inner != op:
            made.update(inner.results)
            used.update({v: None for n, v in enumerate(inner.operands) if not _is_loaded_from(inner, n)})
        for block in blocks_of(inner):
            made.update(block.arguments)
        return ADVANCE

    op.walk(visit, ir.WalkOrder.PRE_ORDER)
    return [value for value in used if value not in made]


def _is_loaded_from(op: ir.Operation, number: int) -> bool:
    return op.name == "memref.load" and number == 0


def _generalize(op: ir.Operation) -> None:
    """Write a named op as ``linalg.generic``, but for fills and copies."""
    maps, nest = indexing_maps(op), loop_nest(op)
    if op.name in ("linalg.generic", "linalg.fill", "linalg.copy") or maps is None or nest is None:
        return
    operands = list(op.operands)
    with ir.InsertionPoint(op), op.location:
        new = bodiless_generic(operands[: nest.num_inputs], operands[nest.num_inputs :], maps, nest.parallel)
    op.regions[0].blocks[0].append_to(new.regions[0])
    op.erase()
