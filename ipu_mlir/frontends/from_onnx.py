"""ONNX: a model, or a file with one."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner

from ipu_mlir.dialects.support.arguments import as_argument
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.of_onnx.control_rules import names_read
from ipu_mlir.frontends.of_onnx.narrow import held
from ipu_mlir.frontends.of_onnx.reference import traced
from ipu_mlir.frontends.of_onnx.results import Result
from ipu_mlir.frontends.of_onnx.sizes import deciding_inputs, named_sizes, sizes_as_text, with_sizes, with_values
from ipu_mlir.frontends.support.few_bits import in_bytes, is_of_few_bits
from ipu_mlir.frontends.table import Imported, OpenProgram
from ipu_mlir.specs.specs import TensorSpec


@dataclass(frozen=True)
class OnnxCall:
    """Inputs of a model in their order or by name; the results in their order, alone if there is one.

    Attributes:
        inputs: the name of each input.
        known: by name, the inputs that are part of the program.
        results: how each result is read; none before sizes are known.
        declared: by name, what the model says of the inputs that are no part of the program.
    """

    inputs: tuple[str, ...]
    known: Mapping[str, np.ndarray]
    declared: Mapping[str, onnx.ValueInfoProto]
    results: tuple[Result, ...] = ()

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The inputs in their order; integers without a sign are bits."""
        unknown = [name for name in kwargs if name not in self.inputs]
        given = dict(zip(self.inputs, args, strict=False)) | dict(kwargs)
        missing = [name for name in self.inputs if name not in given]
        if unknown or missing or len(args) > len(self.inputs):
            raise RunError(f"the model takes {', '.join(self.inputs)}; got {len(args)} in order, and {list(kwargs)}")
        for name, value in self.known.items():
            if not np.array_equal(array_of(given[name]), value):
                raise RunError(f"input {name} is {given[name]}, the program was compiled for {value}")
        arrays = {name: self._array(given[name], name) for name in self.inputs if name not in self.known}
        list(named_sizes(self.declared, {name: array.shape for name, array in arrays.items()}))  # refuses them
        return [signless(held(each)) for each in arrays.values()]

    def _array(self, value: Any, name: str) -> np.ndarray:
        value = array_of(value) if isinstance(value, onnx.TensorProto) else value
        return as_argument(value, None, _dtype(self.declared[name]), f"input {name}")

    def taken(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The arguments, of any kind, that the program takes."""
        given = dict(zip(self.inputs, args, strict=False)) | dict(kwargs)
        return [given[name] for name in self.inputs if name not in self.known]

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results with the types that the model says."""
        arrays = iter(results)
        found = tuple(each.read(arrays) for each in self.results)
        return found[0] if len(found) == 1 else found

    def nested(self, tensors: Sequence[Any]) -> Any:
        """The results as traced tensors.

        Raises:
            CompileError: one is no tensor of numbers whose size is known, or has no sign.
        """
        rest = iter(tensors)
        found = tuple(self._traced(each, rest) for each in self.results)
        return found[0] if len(found) == 1 else found

    def _traced(self, result: Result, tensors: Iterator[Any]) -> Any:
        own = [next(tensors) for _ in result.names]
        is_plain = result.axis is None and result.table is None and result.keys is None
        if not is_plain or any(result.dtype not in (None, each.dtype) for each in own):
            raise CompileError(
                f"result {result.name} of the model is {result.dtype or 'a dictionary'}, or of a size that values say, "
                "which only a program of its own gives: compile the model by itself"
            )
        return own[0] if result.length is None else own

    @property
    def result_names(self) -> list[str]:
        """As the model has them."""
        return [name for each in self.results for name in each.names]


def as_function(source: Any) -> Any:
    """A model is a program as it is."""
    return source


def array_of(value: Any) -> np.ndarray:
    """A value of ONNX, or another one, as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def signless(array: np.ndarray) -> np.ndarray:
    """``array`` with its bits as signed integers, if it has unsigned ones or few bits."""
    if is_of_few_bits(array.dtype):
        return in_bytes(array)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """An ONNX model, or the path of one. Inputs that sizes depend on are part of the program where ``args`` has arrays.

    Raises:
        CompileError: it is no valid model, or has an op that cannot be imported.
    """
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else source.graph.name or "<model>"
    model = _load(Path(name)) if isinstance(source, str | os.PathLike) else source
    model = onnx.inliner.inline_local_functions(_with_defaults(model)) if model.functions else model
    model = _in_order(_on_tensors(model))
    if any(each.type.WhichOneof("value") is None for each in model.graph.output):  # models may leave it out
        model = onnx.shape_inference.infer_shapes(model)
    weights = {each.name for each in model.graph.initializer}
    inputs = tuple(each.name for each in model.graph.input if each.name not in weights)
    types = {each.name: _dtype(each) for each in model.graph.input}
    given = dict(zip(inputs, args or (), strict=False)) | dict(kwargs)
    deciding = [each for each in deciding_inputs(model) if not isinstance(given.get(each), TensorSpec | None)]
    known = {each: array_of(given[each]) for each in deciding}
    others = {name: value for name, value in given.items() if name in inputs and name not in known}
    shapes = {name: getattr(value, "shape", None) or array_of(value).shape for name, value in others.items()}
    fixed = with_values(with_sizes(model, shapes), known)
    declared = {each.name: each for each in fixed.graph.input if each.name in inputs}
    call = OnnxCall(inputs, known, declared)
    sizes = {name: _sizes(each) for name, each in declared.items()}
    if not any(None in shape for shape in sizes.values()):
        return _imported(fixed, name, call)

    def for_sizes(found: Sequence[int]) -> Imported:
        rest = iter(found)
        whole = {name: tuple(next(rest) if each is None else each for each in shape) for name, shape in sizes.items()}
        return _imported(with_sizes(fixed, whole), name, call)

    kinds = tuple((sizes[name], f"{name}: {types[name]}[{sizes_as_text(each)}]") for name, each in declared.items())
    return Imported(OpenProgram(kinds, for_sizes), call)


def _on_tensors(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model`` with tensors for the inputs that may be none."""
    if not any(each.type.HasField("optional_type") for each in model.graph.input):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for each in copy.graph.input:
        if each.type.optional_type.elem_type.HasField("tensor_type"):
            each.type.CopyFrom(onnx.TypeProto(tensor_type=each.type.optional_type.elem_type.tensor_type))
    return copy


def _with_defaults(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model``, whose calls of its functions have all attributes: what is inlined forgets their defaults."""
    defaults = {(each.domain, each.name): list(each.attribute_proto) for each in model.functions}
    if not any(defaults.values()):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    nodes = [*copy.graph.node, *(node for each in copy.functions for node in each.node)]
    while nodes:
        node = nodes.pop()
        given = {each.name for each in node.attribute}
        node.attribute.extend(each for each in defaults.get((node.domain, node.op_type), ()) if each.name not in given)
        nodes += [inner for each in node.attribute for inner in each.g.node]
    return copy


def _in_order(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model`` with each node behind those whose results it takes; in its own order where that is so already."""
    nodes = list(model.graph.node)
    made_by = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    needs = {
        place: {made_by[name] for name in names_read([node]) if name in made_by} for place, node in enumerate(nodes)
    }
    if all(other < place for place, others in needs.items() for other in others):
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.node[:]
    try:
        copy.graph.node.extend(nodes[place] for place in TopologicalSorter(needs).static_order())
    except CycleError as error:
        raise CompileError(
            f"nodes take each other's results: {[nodes[place].name for place in error.args[1]]}"
        ) from None
    return copy


def _sizes(value: onnx.ValueInfoProto) -> tuple[int | None, ...]:
    """The shape of an input, with None where the model leaves a size open.

    Raises:
        CompileError: it says no shape.
    """
    kind = value.type.tensor_type
    if not kind.HasField("shape"):
        raise CompileError(f"the model says no shape of input {value.name}; give an array or a TensorSpec in args")
    return tuple(each.dim_value if each.HasField("dim_value") else None for each in kind.shape.dim)


def _imported(model: onnx.ModelProto, name: str, call: OnnxCall) -> Imported:
    """The program of a model whose inputs all have known sizes."""
    try:
        module, results = traced(model, name)
        return Imported(module, replace(call, results=results))
    except CompileError as error:
        if not (deciding := deciding_inputs(model)):
            raise
        raise CompileError(f"{error}; sizes may depend on {', '.join(deciding)}: give the values in args") from error


def _load(path: Path) -> onnx.ModelProto:
    try:
        return onnx.load(path)
    except OSError as error:
        raise CompileError(f"{path}: cannot read the file: {error.strerror}") from error
    except Exception as error:  # whatever the protocol buffers raise
        raise CompileError(f"{path}: no ONNX model: {error}") from error


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    """NumPy's type of an input.

    Raises:
        CompileError: it is a sequence, or text.
    """
    kind = value.type.tensor_type.elem_type
    if not value.type.HasField("tensor_type"):
        raise CompileError(f"{value.name} is no tensor; a program takes tensors: let the model have its parts")
    if kind == onnx.TensorProto.STRING:
        raise CompileError(f"{value.name} is text; a program takes numbers: let the model have the indices")
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind))
