"""The functions and the ``ipu.pipeline`` of a pipeline, in the module of the program that runs it."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from ipu_mlir.compilation.entry import entry_of
from ipu_mlir.dialects.analysis.matchers import symbol_of, terminator
from ipu_mlir.dialects.ipu import PipelineOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.autodiff.stored_values import is_pure
from ipu_mlir.passes.pipelining.split_stages import computed_from
from ipu_mlir.passes.support.clone import operands_from_outside
from ipu_mlir.passes.support.value_attributes import set_function_type
from ipu_mlir.tensorflow.custom_calls import token
from ipu_mlir.tensorflow.imported_graphs import handle_in_graph, import_graph
from ipu_mlir.tensorflow.lowering import Text, give_state, text_of
from ipu_mlir.tensorflow.pipelines.settings import Settings
from ipu_mlir.tensorflow.pipelines.stages import Stage
from ipu_mlir.tensorflow.variables import own_handle, shadow_of


class Definition:
    """A pipeline that programs run by its name: an ``Addition`` to their modules."""

    def __init__(
        self, name: str, stages: Sequence[Stage], settings: Settings, is_training: bool, kept: Sequence[str]
    ) -> None:
        """Describe a pipeline.

        Args:
            name: of the function that runs it.
            kept: for each result of the last stage, what the program gets: all, sum, last or none.
        """
        self.name, self._stages, self._settings = name, list(stages), settings
        self._is_training, self._kept = is_training, list(kept)
        self._texts: list[Text] = []

    def insert(self, module: ir.Module) -> int:
        """Add the functions of the stages."""
        self._texts = [_text_of(stage) for stage in self._stages]
        for number, text in enumerate(self._texts):
            _move_functions(parse_module(text.text, module.context), module, self._joint(number))
        return 1 + max(self._settings.devices)

    def complete(self, module: ir.Module, names: Mapping[int, str]) -> set[str]:
        """Give the stages their variables, and add the ``ipu.pipeline``."""
        changed: set[str] = set()
        for number, (stage, text) in enumerate(zip(self._stages, self._texts, strict=True)):
            name = self._joint(number)
            places = {id(variable): place for place, variable in text.variables.items()}
            first = [places[id(_in_program(each))] for each in stage.trained]
            for place in set(first) & set(text.updates.values()):
                raise CompileError(
                    f"the stage {stage.name} assigns {text.variables[place].name}, which the optimizer of the pipeline "
                    "trains; let one of them do it"
                )
            changed |= give_state(module, name, text, names, first)
            function = entry_of(module, name)
            function.attributes["sym_visibility"] = ir.StringAttr.get("private")
            if self._is_training:
                with ir.InsertionPoint(function):
                    _without_gradients(function, self._name(number), len(stage.results), len(stage.cotangents))
        self._add_op(module)
        return changed

    def _name(self, number: int) -> str:
        return f"{self.name}_{number}_{self._stages[number].name}"

    def _joint(self, number: int) -> str:
        """The name of the function that TensorFlow makes of a stage."""
        return self._name(number) + ("_gradient" if self._is_training else "")

    def _add_op(self, module: ir.Module) -> None:
        settings, stages = self._settings, self._stages
        places = range(len(stages))
        named = {"stages": [self._name(place) for place in places]}
        if self._is_training:
            named["gradients"] = [self._joint(place) for place in places]
        symbols = {
            key: ir.ArrayAttr.get([ir.FlatSymbolRefAttr.get(each) for each in names]) for key, names in named.items()
        }
        name = f"{self.name}_stages"
        with ir.InsertionPoint.at_block_begin(module.body):
            op = PipelineOp(
                sym_name=ir.StringAttr.get(name),
                stages=symbols["stages"],
                schedule=ir.StringAttr.get(settings.schedule),
            ).operation
        for key, counts in (
            ("devices", list(settings.devices)),
            ("parameters", [len(each.trained) + len(each.inputs) for each in stages]),
            ("data", [len(each.data) for each in stages]),
        ):
            op.attributes[key] = ir.DenseI64ArrayAttr.get(counts)
        words = {"schedule": settings.schedule, "reduction": settings.reduction, "recompute": settings.recompute}
        for key, word in words.items():
            op.attributes[key] = ir.StringAttr.get(word)
        for key, listed in (("results", self._kept), ("offload", settings.offload)):
            op.attributes[key] = ir.ArrayAttr.get([ir.StringAttr.get(each) for each in listed])
        numbers = {"count": settings.count, "serialized": settings.serialization}
        for key, number in numbers.items():
            if isinstance(number, int):  # what is known at run time only is an argument
                op.attributes[key] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
        if self._is_training:
            op.attributes["training"], op.attributes["gradients"] = ir.UnitAttr.get(), symbols["gradients"]
            op.attributes["accumulators"] = ir.ArrayAttr.get([ir.TypeAttr.get(kind) for kind in self._accumulators()])
        entry_of(module, self.name).attributes["ipu.pipeline"] = ir.FlatSymbolRefAttr.get(name)

    def _accumulators(self) -> list[ir.Type]:
        """The types in which gradients are added up: of variables, and of inputs."""
        floats = [each.dtype for stage in self._stages for each in stage.inputs if each.dtype.is_floating]
        trained = [[self._settings.accumulator_of(each) for each in stage.trained] for stage in self._stages]
        kinds = [*trained[0], *floats, *(kind for own in trained[1:] for kind in own)]
        return [_FLOATS[kind]() for kind in kinds]


_FLOATS = {
    tf.float16: lambda: ir.F16Type.get(),
    tf.bfloat16: lambda: ir.BF16Type.get(),
    tf.float32: lambda: ir.F32Type.get(),
    tf.float64: lambda: ir.F64Type.get(),
}


def _text_of(stage: Stage) -> Text:
    """A stage as StableHLO: its results, and behind them its gradients."""
    captures = list(stage.graph.captures)
    inputs = [*stage.arguments, *(inside for _, inside in captures)]

    def function(*tensors: tf.Tensor) -> list[tf.Tensor]:
        return import_graph(
            stage.graph,
            inputs,
            [*tensors, *(_captured(outside, stage) for outside, _ in captures)],
            [*stage.results, *stage.gradients],
        )

    specs = [tf.TensorSpec(each.shape, each.dtype) for each in stage.arguments]
    return text_of(function, specs, stage.name, written_in=stage.graph)


def _captured(outside: Any, stage: Stage) -> tf.Tensor:
    """A handle or a constant of eager mode that a stage uses, in the function that is being traced."""
    if outside.dtype != tf.resource:
        return tf.constant(outside.numpy(), outside.dtype)
    variable = stage.variable_of(outside)
    return handle_in_graph(token() if variable is None else _in_program(variable))


def _in_program(variable: Any) -> Any:
    """The variable that a program has for one, which may be that of a graph."""
    shadow = shadow_of(own_handle(variable))
    return variable if shadow is None else shadow


def _move_functions(source: ir.Module, module: ir.Module, name: str) -> None:
    """Move the functions of ``source`` to ``module``: its ``main`` as ``name``, and others by names that begin so."""
    for op in [each.operation for each in source.body.operations]:
        old = symbol_of(op)
        new = name if old == "main" else f"{name}.{old}"
        ir.SymbolTable.replace_all_symbol_uses(old, new, source.operation)
        ir.SymbolTable.set_symbol_name(op, new)
        module.body.append(op)


def _without_gradients(joint: ir.Operation, name: str, results: int, cotangents: int) -> None:
    """Make the function ``name``: the results of ``joint`` that come first, without its last arguments.

    What is done with gradients, as the update of a table, is no part of it.
    """
    function = joint.clone()
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    block = function.regions[0].blocks[0]
    end = terminator(block)
    with ir.InsertionPoint(end):
        ir.Operation.create("func.return", [], list(end.operands)[:results], loc=end.location)
    end.erase()
    later = computed_from(block, list(block.arguments)[len(block.arguments) - cotangents :])
    for op in [each.operation for each in block.operations][-2::-1]:
        is_later = any(each in later for each in operands_from_outside(op))
        if (is_later or is_pure(op)) and not any(list(each.uses) for each in op.results):
            op.erase()
    for _ in range(cotangents):
        block.erase_argument(len(block.arguments) - 1)
    set_function_type(function)
