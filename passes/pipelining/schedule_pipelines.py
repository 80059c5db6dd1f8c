"""``ipu-schedule-pipelines``: a pipeline becomes a loop over time slots."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, Pipeline, pipeline_of
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.ipu import FifoOp, ToShardOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.pipelining.differentiate_stages import differentiated, gradient_name, stage_type
from ipu_mlir.passes.support.calls import inline_call
from ipu_mlir.passes.support.linalg_builders import (
    constant_index,
    fill_with,
    generic,
    identity_map,
    zero,
)
from ipu_mlir.passes.support.rewriting import list_ops

arith, func, scf, tensor = upstream("arith"), upstream("func"), upstream("scf"), upstream("tensor")


class SchedulePipelines(Pass):
    """Give the functions that run pipelines their code.

    It is a loop over time slots (of the schedule sequential: over micro-batches). In each slot every stage that has a
    micro-batch works on it, one after the other in the text and at the same time on its IPU; behind them the results
    move to the IPUs of the next stages, for the next slot. What a forward stage stores for its backward stage waits in
    a ring that the loop carries, or with ``offload`` in an ``ipu.fifo`` in remote memory. Each stage is one outlined
    function, which the loop calls once, whatever the number of micro-batches. Gradients are added up as the loop goes
    on.

    Needs:  stages that train are split (``ipu-split-stages``).
    Leaves: no ``ipu.pipeline``; ``ipu.shard`` on the calls of stages; the loop in the place of calls of its function.
    """

    name = "ipu-schedule-pipelines"

    def run(self, module: ir.Operation) -> None:
        pipelines = {symbol_of(op): op for op in list_ops(module, PIPELINE)}
        functions = {symbol_of(op): op for op in list_ops(module, "func.func")}
        running = {name for name, op in functions.items() if PIPELINE in op.attributes}
        with module.context, Refusals() as refuse:
            for function in functions.values():
                if PIPELINE not in function.attributes:
                    continue
                op = pipelines.get(ir.FlatSymbolRefAttr(function.attributes[PIPELINE]).value)
                if op is None:
                    refuse(function, f"runs {function.attributes[PIPELINE]}, and there is no such ipu.pipeline")
                    continue
                pipeline = pipeline_of(op)
                positions = _positions(pipeline, functions)
                wanted = _type_of(pipeline, functions)
                found = ir.TypeAttr(function.attributes["function_type"]).value
                if found != wanted:
                    refuse(function, f"has the type {found}, and runs a pipeline of type {wanted}")
                    continue
                with function.location:
                    _Run(pipeline, positions, function).fill()
            if refuse.diagnostics:
                return
            for op in pipelines.values():
                op.erase()
            for call in list_ops(module, "func.call"):  # upstream's inliner leaves fifos alone
                if callee_of(call) in running:
                    inline_call(call, functions[callee_of(call)])


def _type_of(pipeline: Pipeline, functions: dict[str, ir.Operation]) -> ir.FunctionType:
    """The type of a function that runs ``pipeline``."""
    stages = range(len(pipeline.stages))
    kinds = [stage_type(pipeline, stage, functions) for stage in stages]
    parameters = [each for s in stages for each in list(kinds[s].inputs)[: pipeline.parameters[s]]]
    data = [_many(each, pipeline.count) for s in stages for each in _data(kinds[s].inputs, pipeline.data[s])]
    results = [_many(each, pipeline.count) for each in kinds[-1].results]
    if pipeline.training:
        by = [(s, number) for s in stages for number in differentiated(pipeline, s, kinds[s])]
        results += [kinds[s].inputs[number] for s, number in by if number < pipeline.parameters[s]]
    return ir.FunctionType.get([*parameters, *data], results)


def _data(inputs: Sequence[ir.Type], count: int) -> list[ir.Type]:
    return list(inputs)[len(inputs) - count :]


def _many(kind: ir.Type, count: int) -> ir.Type:
    one = ir.RankedTensorType(kind)
    return ir.RankedTensorType.get([count, *one.shape], one.element_type)


@dataclass(frozen=True)
class _Position:
    """A place on the way of a micro-batch: a stage, forwards or backwards.

    Attributes:
        callee: the function that does it.
        device: its IPU.
        stage: its number.
        backward: whether it is the backward part.
        parameters: how many it takes first.
        data: how many tensors of data it takes last.
        results: types of what it hands on.
        stored: types of what it stores for its backward part; of a backward part, of what it takes of that.
        gradients: types of the gradients of parameters that it gives.
    """

    callee: str
    device: int
    stage: int
    backward: bool
    parameters: int
    data: int
    results: list[ir.Type]
    stored: list[ir.Type] = field(default_factory=list)
    gradients: list[ir.Type] = field(default_factory=list)


def _positions(pipeline: Pipeline, functions: dict[str, ir.Operation]) -> list[_Position]:
    forward, backward = [], []
    for stage, name in enumerate(pipeline.stages):
        kind, device = stage_type(pipeline, stage, functions), pipeline.devices[stage]
        own = pipeline.parameters[stage], pipeline.data[stage]
        if not pipeline.training:
            forward.append(_Position(name, device, stage, False, *own, list(kind.results)))
            continue
        split = gradient_name(pipeline, stage)
        there = ir.FunctionType(ir.TypeAttr(functions[f"{split}_forward"].attributes["function_type"]).value)
        stored = list(there.results)[len(kind.results) :]
        forward.append(_Position(f"{split}_forward", device, stage, False, *own, list(kind.results), stored))
        by = differentiated(pipeline, stage, kind)
        back = ir.FunctionType(ir.TypeAttr(functions[f"{split}_backward"].attributes["function_type"]).value)
        count = sum(number < own[0] for number in by)
        gradients, handed = list(back.results)[:count], list(back.results)[count:]
        backward.append(_Position(f"{split}_backward", device, stage, True, own[0], 0, handed, stored, gradients))
    return [*forward, *reversed(backward)]


class _Run:
    """The code of a function that runs a pipeline."""

    def __init__(self, pipeline: Pipeline, positions: Sequence[_Position], function: ir.Operation) -> None:
        self._pipeline, self._positions, self._function = pipeline, positions, function
        self._schedule, self._count = pipeline.schedule, pipeline.count
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        del function.attributes[PIPELINE]
        self._block = ir.Block.create_at_start(
            function.regions[0], list(kind.inputs), [function.location] * len(kind.inputs)
        )
        given = iter(self._block.arguments)
        self._parameters = [[next(given) for _ in range(count)] for count in pipeline.parameters]
        self._data = [[next(given) for _ in range(count)] for count in pipeline.data]

    def fill(self) -> None:
        with ir.InsertionPoint(self._block):
            results, gradients = self._sequential() if self._schedule.name == "sequential" else self._slots()
            func.ReturnOp([*results, *gradients])

    def _empty_results(self) -> list[ir.Value]:
        last = self._positions[len(self._pipeline.stages) - 1]
        return [_zeros(_many(kind, self._count)) for kind in last.results]

    def _no_gradients(self) -> list[ir.Value]:
        kinds = {each.stage: each.gradients for each in self._positions if each.backward}
        return [_zeros(kind) for stage in sorted(kinds) for kind in kinds[stage]]

    def _sequential(self) -> tuple[list[ir.Value], list[ir.Value]]:
        """Micro-batch after micro-batch."""
        results, gradients = self._empty_results(), self._no_gradients()
        loop = scf.ForOp(constant_index(0), constant_index(self._count), constant_index(1), [*results, *gradients])
        with ir.InsertionPoint(loop.body):
            carried = list(loop.inner_iter_args)
            done, so_far = carried[: len(results)], carried[len(results) :]
            handed: list[ir.Value] = []
            stored: dict[int, list[ir.Value]] = {}
            for number, position in enumerate(self._positions):
                if position.backward:
                    handed, added = self._back(position, stored[position.stage], handed, so_far)
                    so_far = added
                else:
                    handed, stored[position.stage] = self._there(position, handed, loop.induction_variable)
                if number == len(self._pipeline.stages) - 1:
                    done = [_written(v, whole, loop.induction_variable) for v, whole in zip(handed, done, strict=True)]
                    handed = self._seeds(handed)
            scf.YieldOp([*done, *so_far])
        found = list(loop.results)
        return found[: len(results)], found[len(results) :]

    def _slots(self) -> tuple[list[ir.Value], list[ir.Value]]:
        """Slot after slot: all positions that have a micro-batch.

        An iteration is as many slots as there are from one micro-batch to the next: each position has its turn once.
        """
        state = _State(self._empty_results(), self._no_gradients(), {}, {}, {})
        for number, position in enumerate(self._positions):
            if self._is_carried(number):
                device = self._positions[number + 1].device
                state.links[number] = [self._moved(_zeros(kind), device) for kind in self._handed(number)]
            if not position.backward and self._is_stored(number):
                state.waiting[number] = [self._moved(_zeros(kind), position.device) for kind in position.stored]
            depth = self._ring_depth(number)
            if depth:
                kinds = [_many(kind, depth) for kind in position.stored]
                state.rings[number] = [self._moved(_zeros(kind), position.device) for kind in kinds]
        last = (len(self._positions) - 1) // self._schedule.stride
        count = constant_index(self._count + last)
        loop = scf.ForOp(constant_index(0), count, constant_index(1), state.values())
        with ir.InsertionPoint(loop.body):
            inner = state.like(list(loop.inner_iter_args))
            self._iteration(loop.induction_variable, inner)
            scf.YieldOp(inner.values())
        found = state.like(list(loop.results))
        return found.results, found.gradients

    def _is_carried(self, number: int) -> bool:
        """True if what a position hands on is for the next iteration."""
        return number < len(self._positions) - 1 and number % self._schedule.stride == self._schedule.stride - 1

    def _backward_number(self, number: int) -> int:
        return 2 * len(self._pipeline.stages) - 1 - number

    def _is_stored(self, number: int) -> bool:
        """True if the backward part of a forward stage comes before it in an iteration, or at the same time."""
        stride = self._schedule.stride
        return bool(self._positions[number].stored) and self._backward_number(number) % stride <= number % stride

    def _ring_depth(self, number: int) -> int:
        position = self._positions[number]
        return self._schedule.stash_depth(position.stage) if position.stored and not position.backward else 0

    def _handed(self, number: int) -> list[ir.Type]:
        """The types of what a position hands on: of the last stage, the cotangents of its results."""
        position = self._positions[number]
        is_last = number == len(self._pipeline.stages) - 1
        return [kind for kind in position.results if not is_last or _is_float(kind)]

    def _iteration(self, iteration: ir.Value, state: "_State") -> None:
        """One iteration, which makes the values of ``state`` those of the next."""
        stride = self._schedule.stride
        stashes: dict[int, list[ir.Value]] = dict(state.waiting)
        handed: dict[int, list[ir.Value]] = dict(state.links)
        for slot in range(stride):
            made: dict[int, list[ir.Value]] = {}
            for number in range(slot, len(self._positions), stride):
                made[number] = self._work(number, iteration, handed.get(number - 1, []), stashes, state)
            for number, values in made.items():  # the IPUs meet where data goes from one to another: after all stages
                if number < len(self._positions) - 1:
                    moved = [self._moved(value, self._positions[number + 1].device) for value in values]
                    (state.links if self._is_carried(number) else handed)[number] = moved
        for number in state.waiting:
            state.waiting[number] = state.stored[number]

    def _work(
        self,
        number: int,
        iteration: ir.Value,
        given: list[ir.Value],
        stashes: dict[int, list[ir.Value]],
        state: "_State",
    ) -> list[ir.Value]:
        """What a position hands on in an iteration."""
        position, behind = self._positions[number], number // self._schedule.stride
        micro_batch = arith.subi(iteration, constant_index(behind)) if behind else iteration
        active = self._is_active(iteration, behind)
        nothing = [_zeros(kind) for kind in self._handed(number)] if number < len(self._positions) - 1 else []
        if position.backward:
            stash = stashes[self._backward_number(number)]

            def back() -> list[ir.Value]:
                handed, added = self._back(position, stash, given, state.gradients)
                return [*handed[: len(nothing)], *added]

            found = _if(active, back, [*nothing, *state.gradients])
            state.gradients = found[len(nothing) :]
            return found[: len(nothing)]
        is_last = number == len(self._pipeline.stages) - 1
        results = state.results if is_last else []

        def there() -> list[ir.Value]:
            handed, stored = self._there(position, given, micro_batch)
            written = [_written(v, whole, micro_batch) for v, whole in zip(handed, results, strict=False)]
            return [*(self._seeds(handed) if is_last else handed)[: len(nothing)], *written, *stored]

        found = _if(active, there, [*nothing, *results, *(_zeros(kind) for kind in position.stored)])
        handed, rest = found[: len(nothing)], found[len(nothing) :]
        if is_last:
            state.results = rest[: len(results)]
        stored = self._delayed(number, rest[len(results) :], iteration, state)
        state.stored[number] = stored
        if number not in state.waiting:
            stashes[number] = stored
        return handed

    def _delayed(self, number: int, stored: list[ir.Value], iteration: ir.Value, state: "_State") -> list[ir.Value]:
        """What a forward stage has stored some iterations ago, in the place of which ``stored`` is kept."""
        depth, device = self._ring_depth(number), self._positions[number].device
        if not depth:
            return stored
        if self._pipeline.offload:
            return [self._fifo(value, depth, device) for value in stored]
        row = arith.remui(iteration, constant_index(depth))
        found = [self._on(device, _read(ring, row)) for ring in state.rings[number]]
        pairs = zip(stored, state.rings[number], strict=True)
        state.rings[number] = [self._on(device, _written(value, ring, row)) for value, ring in pairs]
        return found

    def _fifo(self, value: ir.Value, depth: int, device: int) -> ir.Value:
        attribute = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), depth)
        op = FifoOp(depth=attribute, value=value, delayed=value.type)
        op.operation.attributes["offload"] = ir.UnitAttr.get()
        return self._on(device, op.delayed)

    def _moved(self, value: ir.Value, device: int) -> ir.Value:
        return ToShardOp(source=value, shard=shard_attribute(device), moved=value.type).moved

    def _there(
        self, position: _Position, given: list[ir.Value], micro_batch: ir.Value
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """What a forward stage hands on, and what it stores."""
        data = [_read(whole, micro_batch) for whole in self._data[position.stage]]
        results = self._call(
            position, [*self._parameters[position.stage], *given, *data], [*position.results, *position.stored]
        )
        return results[: len(position.results)], results[len(position.results) :]

    def _back(
        self, position: _Position, stored: list[ir.Value], given: list[ir.Value], so_far: list[ir.Value]
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """The cotangents that a backward stage hands on, and the gradients so far."""
        operands = [*self._parameters[position.stage], *stored, *given]
        results = self._call(position, operands, [*position.gradients, *position.results])
        counts = [
            len(each.gradients) for each in sorted((p for p in self._positions if p.backward), key=lambda p: p.stage)
        ]
        first = sum(counts[: position.stage])
        added = list(so_far)
        for place, gradient in enumerate(results[: len(position.gradients)]):
            added[first + place] = self._on(position.device, _sum(so_far[first + place], gradient))
        return results[len(position.gradients) :], added

    def _call(self, position: _Position, operands: list[ir.Value], types: list[ir.Type]) -> list[ir.Value]:
        call = func.CallOp(types, position.callee, operands).operation
        call.attributes[OUTLINED] = ir.UnitAttr.get()
        call.attributes[SHARD] = shard_attribute(position.device)
        return list(call.results)

    def _on(self, device: int, value: ir.Value) -> ir.Value:
        value.owner.operation.attributes[SHARD] = shard_attribute(device)
        return value

    def _seeds(self, results: list[ir.Value]) -> list[ir.Value]:
        """The cotangents of the results of the last stage: that of the loss is one, or its share of the mean."""
        if not self._pipeline.training:
            return results
        share = 1.0 / self._count if self._pipeline.reduction == "mean" else 1.0
        floats = [each for each in results if _is_float(each.type)]
        return [_constant(each.type, share if place == 0 else 0.0) for place, each in enumerate(floats)]

    def _is_active(self, iteration: ir.Value, behind: int) -> ir.Value:
        """True if a position, so many iterations ``behind`` the first one, has a micro-batch."""
        is_predicate, last = arith.CmpIPredicate, constant_index(behind + self._count - 1)
        begun = arith.cmpi(is_predicate.sge, iteration, constant_index(behind))
        return arith.andi(begun, arith.cmpi(is_predicate.sle, iteration, last))


@dataclass
class _State:
    """What the loop over slots carries.

    Attributes:
        results: of all micro-batches so far.
        gradients: their sums so far.
        links: by number of a position, what it has handed on to the next iteration.
        waiting: by number of a forward stage, what its backward part takes in this iteration.
        rings: by number of a forward stage, what waits longer.
        stored: not carried: what ``waiting`` is in the next iteration.
    """

    results: list[ir.Value]
    gradients: list[ir.Value]
    links: dict[int, list[ir.Value]]
    waiting: dict[int, list[ir.Value]]
    rings: dict[int, list[ir.Value]]
    stored: dict[int, list[ir.Value]] = field(default_factory=dict)

    def values(self) -> list[ir.Value]:
        """All of them, in one order."""
        tables = (self.links, self.waiting, self.rings)
        return [*self.results, *self.gradients, *(v for table in tables for key in sorted(table) for v in table[key])]

    def like(self, values: Sequence[ir.Value]) -> "_State":
        """``values``, in that order, in the place of these."""
        each = iter(values)
        results, gradients = ([next(each) for _ in part] for part in (self.results, self.gradients))
        tables = [
            {key: [next(each) for _ in table[key]] for key in sorted(table)}
            for table in (self.links, self.waiting, self.rings)
        ]
        return _State(results, gradients, *tables)


def _if(condition: ir.Value, work: Callable[[], list[ir.Value]], otherwise: list[ir.Value]) -> list[ir.Value]:
    """The values that ``work`` makes where ``condition`` holds, else others of their types."""
    made = ir.Operation.create("scf.if", [each.type for each in otherwise], [condition], regions=2)
    for region, values in zip(made.regions, (work, lambda: otherwise), strict=True):
        with ir.InsertionPoint(ir.Block.create_at_start(region, [])):
            scf.YieldOp(values())
    return list(made.results)


def _is_float(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, ir.FloatType)


def _zeros(kind: ir.Type) -> ir.Value:
    return _filled(kind, zero(kind.element_type))


def _constant(kind: ir.Type, number: float) -> ir.Value:
    return _filled(kind, arith.ConstantOp(kind.element_type, ir.FloatAttr.get(kind.element_type, number)).result)


def _filled(kind: ir.Type, value: ir.Value) -> ir.Value:
    return fill_with(value, tensor.EmptyOp(list(kind.shape), kind.element_type).result).results[0]


def _sum(a: ir.Value, b: ir.Value) -> ir.Value:
    rank = len(a.type.shape)
    empty = tensor.EmptyOp(list(a.type.shape), a.type.element_type).result
    maps = [identity_map(rank)] * 3
    return generic([a, b], [empty], maps, [True] * rank, lambda v: [arith.addf(v[0], v[1])]).results[0]


def _row(kind: ir.Type) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and steps of a micro-batch in all of them."""
    shape = list(kind.shape)
    return [ir.ShapedType.get_dynamic_stride_or_offset(), *(0 for _ in shape)], [1, *shape], [1] * (len(shape) + 1)


def _read(whole: ir.Value, number: ir.Value) -> ir.Value:
    kind = ir.RankedTensorType.get(list(whole.type.shape)[1:], whole.type.element_type)
    return tensor.ExtractSliceOp(kind, whole, [number], [], [], *_row(kind)).result


def _written(value: ir.Value, whole: ir.Value, number: ir.Value) -> ir.Value:
    return tensor.InsertSliceOp(value, whole, [number], [], [], *_row(value.type)).result
