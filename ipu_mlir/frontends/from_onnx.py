"""ONNX: a model, or a file with one."""

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnx.inliner
import onnx.version_converter

from ipu_mlir.dialects.support.arguments import as_argument
from ipu_mlir.dialects.support.bindings import extra, ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.frontends.of_onnx import reference as by_reference
from ipu_mlir.frontends.of_onnx.folding import fold_sizes
from ipu_mlir.frontends.of_onnx.narrow import held, holder
from ipu_mlir.frontends.of_onnx.rewriting import rewritten
from ipu_mlir.frontends.of_onnx.sizes import deciding_inputs, named_sizes, with_sizes, with_values
from ipu_mlir.frontends.of_onnx.torch_mlir import context, import_safely, lower
from ipu_mlir.frontends.support.few_bits import in_bytes, is_of_few_bits
from ipu_mlir.frontends.table import Imported
from ipu_mlir.specs.specs import TensorSpec

_LOG = logging.getLogger("ipu_mlir.onnx")
_KNOWN = 13
"""The opset to which older models are converted, where the importer does not know their ops."""


@dataclass(frozen=True)
class OnnxCall:
    """Inputs of a model in their order or by name; the results in their order, alone if there is one.

    Attributes:
        inputs: the name of each input.
        known: by name, the inputs that are part of the program.
        outputs: the name of each result.
        types: NumPy's type of each result.
        declared: by name, what the model says of the inputs that are no part of the program.
        is_held: whether the program has numbers of 2 and 4 bits in elements of a wider type.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    types: tuple[np.dtype[Any], ...]
    known: Mapping[str, np.ndarray]
    declared: Mapping[str, onnx.ValueInfoProto]
    is_held: bool

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
        return [signless(held(each) if self.is_held else each) for each in arrays.values()]

    def _array(self, value: Any, name: str) -> np.ndarray:
        value = array_of(value) if isinstance(value, onnx.TensorProto) else value
        return as_argument(value, None, _dtype(self.declared[name]), f"input {name}")

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results with the types that the model says."""
        typed = [self._result(result, wanted) for result, wanted in zip(results, self.types, strict=True)]
        return typed[0] if len(typed) == 1 else tuple(typed)

    def _result(self, result: np.ndarray, wanted: np.dtype[Any]) -> np.ndarray:
        in_program = holder(wanted) if self.is_held else wanted
        if in_program.itemsize == result.itemsize:
            result = result.view(in_program)
        return result.astype(wanted) if in_program != wanted else result

    @property
    def result_names(self) -> list[str]:
        """As the model has them."""
        return list(self.outputs)


def array_of(value: Any) -> np.ndarray:
    """A value of ONNX, or another one, as an array."""
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)


def signless(array: np.ndarray) -> np.ndarray:
    """``array`` with its bits as signed integers, if it has unsigned ones or few bits."""
    if is_of_few_bits(array.dtype):
        return in_bytes(array)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


_UNSIGNED = frozenset(getattr(onnx.TensorProto, f"UINT{bits}") for bits in (8, 16, 32, 64))
_FLOAT8 = frozenset(getattr(onnx.TensorProto, name) for name in dir(onnx.TensorProto) if name.startswith("FLOAT8E"))


def _imported_wrongly(node: onnx.NodeProto, types: Mapping[str, Any]) -> str | None:
    """What torch-mlir does to ``node`` that is not what ONNX says; None where it is right."""
    attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    to = types[node.output[0]].elem_type if node.output and node.output[0] in types else None
    match node.op_type:
        case "LpNormalization":
            return "divides by a norm of 0, where ONNX gives 0"
        case "LSTM" if len(node.input) > 7 and node.input[7]:
            return "leaves out the peepholes"
        case "Cast" | "CastLike" | "QuantizeLinear" if to in _FLOAT8 and attributes.get("saturate", 1):
            return "makes infinity or NaN of what is too large, where ONNX takes the largest number"
        case "Cast" if attributes.get("to") in _UNSIGNED:
            return "takes numbers without a sign for numbers with one"
        case "DynamicQuantizeLinear":
            return "takes numbers without a sign for numbers with one"
        case "QLinearMatMul":
            return "takes other scales and zero points for products of more than two dimensions"
        case "DequantizeLinear" if "axis" not in attributes and node.input[1] in types:
            return "scales along another dimension" if types[node.input[1]].shape.dim else None
        case "Pad" if attributes.get("mode", b"constant") == b"wrap":
            return "comes to no end over it"
        case "SpaceToDepth" if attributes.get("mode", b"DCR") != b"DCR":
            return "puts columns and rows in another order"
        case "GridSample" if attributes.get("padding_mode", b"zeros") == b"zeros":
            return "reads outside of the image"
        case "GridSample" if attributes.get("mode", b"linear") == b"nearest":
            return "rounds halves another way"
        case "SplitToSequence":
            return "makes a sequence of another length"
        case "Resize" if attributes.get("coordinate_transformation_mode") == b"align_corners":
            return "takes other corners"
        case "SoftmaxCrossEntropyLoss" | "NegativeLogLikelihoodLoss" if len(node.input) > 2:
            return "divides by another sum of weights" if attributes.get("reduction", b"mean") == b"mean" else None
    return None


def _always_goes_on(node: onnx.NodeProto, true: set[str]) -> bool:
    """True if a loop ends after its last round only; ``true`` are the values around it that are constants and true."""
    (body,) = (each.g for each in node.attribute if each.name == "body")
    true = true | _true_values(body)
    if not node.input[1] or node.input[1] in true:
        true.add(body.input[1].name)
    made_by = {name: each for each in body.node for name in each.output}
    goes_on = body.output[0].name
    while goes_on in made_by and made_by[goes_on].op_type == "Identity":
        goes_on = made_by[goes_on].input[0]
    return goes_on in true and body.input[1].name in true


def _true_values(graph: onnx.GraphProto) -> set[str]:
    values = [(each.name, each) for each in graph.initializer]
    values += [(node.output[0], each.t) for node in graph.node if node.op_type == "Constant" for each in node.attribute]
    return {
        name
        for name, value in values
        if value.data_type == onnx.TensorProto.BOOL and onnx.numpy_helper.to_array(value).all()
    }


def _nodes(graph: onnx.GraphProto, true: set[str]) -> Iterator[tuple[onnx.NodeProto, set[str]]]:
    """Those of ``graph`` and inside of its nodes, with the values around each that are constants and true."""
    true = true | _true_values(graph)
    for node in graph.node:
        yield node, true
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _nodes(attribute.g, true)


def _refuse_wrong(model: onnx.ModelProto, name: str) -> None:
    values = [*model.graph.value_info, *model.graph.input, *model.graph.output]
    types = {each.name: each.type.tensor_type for each in values}
    reasons = []
    for node, true in _nodes(model.graph, set()):
        if node.op_type == "Loop" and not _always_goes_on(node, true):
            reasons.append((node, "goes on to the last round whatever the condition says"))
        else:
            reasons.append((node, _imported_wrongly(node, types)))
    wrong = [f"'{node.name or node.op_type}' {node.op_type}: torch-mlir {reason}" for node, reason in reasons if reason]
    if wrong:
        raise DiagnosedError([Diagnostic(f"{each}; such a model is refused", name) for each in wrong])


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """An ONNX model, or the path of one. Inputs that sizes depend on are part of the program where ``args`` has arrays.

    Raises:
        CompileError: it is no valid model, or torch-mlir cannot import it.
    """
    name = os.fspath(source) if isinstance(source, str | os.PathLike) else source.graph.name or "<model>"
    model = _load(Path(name)) if isinstance(source, str | os.PathLike) else source
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
    weights = {each.name for each in model.graph.initializer}
    inputs = tuple(each.name for each in model.graph.input if each.name not in weights)
    given = dict(zip(inputs, args or (), strict=False)) | dict(kwargs)
    deciding = [each for each in deciding_inputs(model) if not isinstance(given.get(each), TensorSpec | None)]
    known = {each: array_of(given[each]) for each in deciding}
    others = {name: value for name, value in given.items() if name in inputs and name not in known}
    shapes = {name: getattr(value, "shape", None) or array_of(value).shape for name, value in others.items()}
    fixed = rewritten(with_values(with_sizes(model, shapes), known))
    module, is_traced = _module(fixed, name)
    outputs = tuple(each.name for each in model.graph.output)
    declared = {each.name: each for each in fixed.graph.input if each.name in inputs}
    return Imported(
        module, OnnxCall(inputs, outputs, tuple(map(_dtype, model.graph.output)), known, declared, is_traced)
    )


_IN_ROUNDS = frozenset(("Loop", "Scan"))
"""Ops whose rounds become loops by torch-mlir; by ONNX's definitions each round is ops of its own."""


_CHANGED = frozenset(("Hardmax", "LogSoftmax", "Softmax"))
"""Ops that were over all dimensions from an axis on before opset 13."""


def _module(model: onnx.ModelProto, name: str) -> tuple[ir.Module, bool]:
    """The program, and whether it was traced through ONNX's own definitions; what these do not trace, or would only
    round by round, torch-mlir imports where it computes what ONNX says. So it does older models, whose ops the
    definitions take for those of today.
    """
    ways = [lambda: (_by_definition(model, name), True), lambda: (_by_torch_mlir(model, name), False)]
    if 0 < _opset(model) < _KNOWN or any(node.op_type in _IN_ROUNDS for node, _ in _nodes(model.graph, set())):
        ways.reverse()
    try:
        return ways[0]()
    except CompileError as error:
        _LOG.debug("%s is imported in the other way: %s", name, error)
        first = error
    try:
        return ways[1]()
    except CompileError as error:
        raise (first if isinstance(first, DiagnosedError) else error) from None


def _by_definition(model: onnx.ModelProto, name: str) -> ir.Module:
    if 0 < _opset(model) < _KNOWN and any(node.op_type in _CHANGED for node, _ in _nodes(model.graph, set())):
        raise CompileError(f"{name}: ONNX's reference implementation has not the softmax of opset {_opset(model)}")
    return by_reference.traced(model, name)


def _opset(model: onnx.ModelProto) -> int:
    """The version of ONNX's own ops; 0 if the model has none."""
    return next((each.version for each in model.opset_import if not each.domain), 0)


def _by_torch_mlir(model: onnx.ModelProto, name: str) -> ir.Module:
    _refuse_wrong(model, name)
    return import_safely(name, lambda: _linalg(model))


def _load(path: Path) -> onnx.ModelProto:
    try:
        return onnx.load(path)
    except OSError as error:
        raise CompileError(f"{path}: cannot read the file: {error.strerror}") from error
    except Exception as error:  # whatever the protocol buffers raise
        raise CompileError(f"{path}: no ONNX model: {error}") from error


def _linalg(model: onnx.ModelProto) -> ir.Module:
    importer = extra("onnx_importer")
    model = _with_names(model)
    with contextlib.suppress(Exception):  # what ONNX cannot check the importer refuses
        fold_sizes(model)
    with contextlib.suppress(ValueError):  # more than 2 GB, or custom ops: the importer says what it misses
        model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    try:
        return _by_torch(model, importer.Config())
    except Exception as error:  # of any kind: what the importer does not know may be a function of what it knows
        if 0 < _opset(model) < _KNOWN:
            with contextlib.suppress(Exception):  # then the reason before is the better one
                converted = onnx.version_converter.convert_version(model, _KNOWN)
                _refuse_wrong(converted, "")
                return _linalg(converted)
            raise error
        return _by_torch(model, importer.Config(function_expansion_allowlists_by_domain=None))


def _with_names(model: onnx.ModelProto) -> onnx.ModelProto:
    """``model`` with a name for every node, which is what errors and profiles say, and without results left out."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for number, node in enumerate(copy.graph.node):
        node.name = node.name or f"{node.op_type}_{number}"
        while node.output and not node.output[-1]:  # a result that nobody asks for
            node.output.pop()
    return copy


def _by_torch(model: onnx.ModelProto, config: Any) -> ir.Module:
    importer, fresh = extra("onnx_importer"), context()
    with fresh, ir.Location.unknown():
        info = importer.ModelInfo(model, config=config)
        module = info.create_module(context=fresh)
        importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
        lower(module)
    return module


def _dtype(value: onnx.ValueInfoProto) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))
