"""The calls of the stages of a pipeline for one micro-batch, and what is kept of what they give."""

from collections.abc import Sequence

from ipu_mlir.dialects.analysis.matchers import function_type
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED
from ipu_mlir.dialects.analysis.pipelines import PIPELINE, Pipeline
from ipu_mlir.dialects.analysis.shards import SHARD, shard_attribute
from ipu_mlir.dialects.ipu import AssignOp, ReadOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.autodiff.backward import total
from ipu_mlir.passes.pipelining.accumulators import Accumulators, offloaded_variable
from ipu_mlir.passes.pipelining.positions import Part, Position
from ipu_mlir.passes.pipelining.rows import filled, is_float, many, moved, read_row, write_row, zeros
from ipu_mlir.passes.support.linalg_builders import constant_index

arith, cf, func, tensor = upstream("arith"), upstream("cf"), upstream("func"), upstream("tensor")


class StageCalls:
    """The calls of stages in a function that runs a pipeline.

    Attributes:
        count: the number of micro-batches, an index.
        results: what a loop over micro-batches carries of the results of the last stage, when it begins.
        gradients: where gradients are added up.
    """

    def __init__(
        self, pipeline: Pipeline, positions: Sequence[Position], gradients: Sequence[ir.Type], function: ir.Operation
    ) -> None:
        """At the current insertion point, which is the begin of the only block of ``function``."""
        self._pipeline, self._positions, self._module = pipeline, positions, function.parent.operation
        given = iter(function.regions[0].blocks[0].arguments)
        self._parameters = [[next(given) for _ in range(count)] for count in pipeline.parameters]
        self._data = [[next(given) for _ in range(count)] for count in pipeline.data]
        self.count = constant_index(pipeline.count) if pipeline.count is not None else self._checked(next(given))
        last = positions[pipeline.schedule.stages - 1]
        self._last = [each for part in last.parts for each in part.results]
        self._words = pipeline.results or ("all",) * len(self._last)
        self.results = [zeros(self._kept(kind, word)) for kind, word in self._given_results()]
        names = [f"{pipeline.name}_gradient_{number}" for number in range(len(gradients))]
        self.gradients = Accumulators(gradients, names if "gradients" in pipeline.offload else None, self._module)
        if "parameters" in pipeline.offload:
            self._offload_parameters()

    def _checked(self, number: ir.Value) -> ir.Value:
        """The number of micro-batches that the function is given."""
        overlap, found = self._pipeline.schedule.overlap, tensor.ExtractOp(number, []).result
        count, is_of = arith.index_cast(ir.IndexType.get(), found), arith.CmpIPredicate
        is_multiple = arith.cmpi(is_of.eq, arith.remsi(count, constant_index(overlap)), constant_index(0))
        is_positive = arith.cmpi(is_of.sgt, count, constant_index(0))
        cf.AssertOp(
            arith.andi(is_multiple, is_positive),
            f"the pipeline @{self._pipeline.name} takes a multiple of {overlap} micro-batches: "
            f"{overlap}, {2 * overlap}, {3 * overlap} and so on",
        )
        return count

    def _offload_parameters(self) -> None:
        for number, own in enumerate(self._parameters):
            for place, value in enumerate(own):
                offloaded_variable(self._parameter(number, place), value.type, self._module)
                AssignOp(variable=ir.FlatSymbolRefAttr.get(self._parameter(number, place)), value=value)

    def _parameter(self, number: int, place: int) -> str:
        return f"{self._pipeline.name}_parameter_{number}_{place}"

    def _given_results(self) -> list[tuple[ir.Type, str]]:
        return [each for each in zip(self._last, self._words, strict=True) if each[1] != "none"]

    def _kept(self, kind: ir.Type, word: str) -> ir.Type:
        return many(kind, self._pipeline.count or 0) if word == "all" else kind

    def keep(
        self, part: Part, values: Sequence[ir.Value], kept: list[ir.Value], micro_batch: ir.Value
    ) -> list[ir.Value]:
        """What is kept of the results of the last stage, with those ``values`` that ``part`` of it gives."""
        parts = self._positions[self._pipeline.schedule.stages - 1].parts
        first = sum(len(each.results) for each in parts if each.number < part.number)
        found, place = list(kept), sum(word != "none" for word in self._words[:first])
        for word, value in zip(self._words[first:], values, strict=False):
            if word == "all":
                found[place] = write_row(value, found[place], micro_batch)
            elif word == "sum":
                add = total if is_float(value.type) else arith.addi
                found[place] = add(found[place], value)
            elif word == "last":
                found[place] = value
            place += word != "none"
        return found

    def forward(self, part: Part, given: Sequence[ir.Value], micro_batch: ir.Value) -> list[ir.Value]:
        """What a forward part gives, and behind that what it stores."""
        data = [read_row(whole, micro_batch) for whole in self._data[part.number]]
        operands = [*self._own(part), *given, *data]
        if part.is_numbered:
            i32 = ir.IntegerType.get_signless(32)
            number = arith.index_cast(i32, micro_batch)
            operands.append(tensor.FromElementsOp(ir.RankedTensorType.get([], i32), [number]).result)
        return self._call(part, operands, [*part.results, *part.stored])

    def backward(
        self,
        part: Part,
        stored: Sequence[ir.Value],
        given: Sequence[ir.Value],
        gradients: list[ir.Value],
        micro_batch: ir.Value,
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """What a backward part yields, and ``gradients`` with those that it gives."""
        found = self._call(part, [*self._own(part), *stored, *given], [*part.gradients, *part.results])
        own, handed = found[: len(part.gradients)], found[len(part.gradients) :]
        backward = [each for position in self._positions if position.backward for each in position.parts]
        first = sum(len(each.gradients) for each in backward if each.number < part.number)
        reduction = self._pipeline.reduction
        return handed, self.gradients.add(gradients, first, own, reduction, micro_batch, part.device)

    def _own(self, part: Part) -> list[ir.Value]:
        """The parameters of a part."""
        own = self._parameters[part.number]
        if "parameters" not in self._pipeline.offload:
            return own
        names = [self._parameter(part.number, place) for place in range(len(own))]
        pairs = zip(names, own, strict=True)
        return [ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=each.type).value for name, each in pairs]

    def _call(self, part: Part, operands: list[ir.Value], types: list[ir.Type]) -> list[ir.Value]:
        call = func.CallOp(types, part.callee, operands).operation
        call.attributes[OUTLINED] = ir.UnitAttr.get()
        call.attributes[SHARD] = shard_attribute(part.device)
        return [moved(value, part.device) for value in call.results]

    def seeds(self, part: Part) -> list[ir.Value]:
        """The cotangents of the results of the last stage that are floats, as ``part`` of it takes them.

        That of the loss is one, or its share of the mean.
        """
        found = []
        for kind in filter(is_float, self._last):
            one = arith.ConstantOp(kind.element_type, 0.0 if found else 1.0).result
            if self._pipeline.reduction == "mean" and not found:
                number = arith.index_cast(ir.IntegerType.get_signless(32), self.count)
                one = arith.divf(one, arith.sitofp(kind.element_type, number))
            found.append(moved(filled(kind, one), part.device))
        return found[part.taken]


def begin(function: ir.Operation) -> ir.Block:
    """The empty block of a declared function, which says no longer that it runs a pipeline."""
    del function.attributes[PIPELINE]
    inputs = list(function_type(function).inputs)
    return ir.Block.create_at_start(function.regions[0], inputs, [function.location] * len(inputs))
