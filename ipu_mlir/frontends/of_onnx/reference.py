"""ONNX models by ONNX's own definition of its ops: the reference evaluator, run on traced tensors.

What is known before a run (sizes, sequences, text) the evaluator computes as it does anywhere; what is traced goes
through the same code of NumPy, or a rule of ours where that writes in place or asks for values.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun, RuntimeContextError

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_onnx.control_rules import is_traced
from ipu_mlir.frontends.of_onnx.library import RULES
from ipu_mlir.frontends.of_onnx.narrow import held, holder, narrow_values
from ipu_mlir.frontends.of_onnx.results import Counted, Maps, Result, Texts
from ipu_mlir.frontends.of_onnx.rules import OnnxRule
from ipu_mlir.frontends.of_onnx.selecting_rules import of_counted
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.graph import Symbol, Trace, current_trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.surface.tensor import Tensor
from ipu_mlir.tracing.user_places import Place

_LOCK = threading.Lock()
_OF_EVALUATOR = re.compile(r"^\S+\.py:\d+: ")
"""The place that a trace says, which is no line of the user's."""
_MOVING = frozenset(
    ("Expand", "Flatten", "Gather", "Identity", "Reshape", "Slice", "Squeeze", "Transpose", "Unsqueeze")
)
"""Ops that move elements, whatever they are."""
_NEWEST = onnx.defs.onnx_opset_version()


def traced(model: onnx.ModelProto, name: str) -> tuple[ir.Module, tuple[Result, ...]]:
    """The program of ``model``, whose inputs all have known sizes, and how its results are read.

    Raises:
        CompileError: an op has no definition that can be traced, or an input or a result is no tensor.
    """
    weights = {each.name for each in model.graph.initializer}
    inputs = [each for each in model.graph.input if each.name not in weights]
    trace = Trace(name, "main", [(each.name, _spec(each)) for each in inputs], Tensor)
    given = dict(zip((each.name for each in inputs), trace.arguments, strict=True))
    try:
        with _LOCK, _results_may_be_traced(), trace.running():
            results = _Evaluator(model).run(None, given)
            pairs = zip(results, model.graph.output, strict=True)
            given_back = [_result(trace, value, said) for value, said in pairs]
        trace.finish([value for values, _ in given_back for value in values])
    except CompileError:
        raise
    except Exception as error:  # of any kind: what an evaluator does with ops and values that it lacks
        reason = " ".join(str(error).split())[:400]
        raise CompileError(f"{name}: the ONNX model cannot be imported: {reason}") from error
    return trace.module, tuple(result for _, result in given_back)


def _spec(value: onnx.ValueInfoProto) -> TensorSpec:
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise CompileError(f"input {value.name} is no tensor of a known rank")
    sizes = tuple(each.dim_value for each in kind.shape.dim)
    if not all(each.HasField("dim_value") for each in kind.shape.dim):
        raise CompileError(f"input {value.name} has sizes that are not known: give example arrays in args")
    return TensorSpec(sizes, holder(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))))


def _result(trace: Trace, value: Any, said: onnx.ValueInfoProto) -> tuple[list[Any], Result]:
    """The traced tensors of a result, and how it is read of their arrays."""
    if isinstance(value, Texts):
        return [value.places], Result(said.name, table=value.table)
    if isinstance(value, Maps):
        return [value.scores], Result(said.name, keys=value.keys)
    if isinstance(value, Counted):
        result = _result(trace, value.rows, said)
        return [*result[0], value.count], replace(result[1], axis=value.axis)
    kind = said.type
    while kind.WhichOneof("value") in ("optional_type", "sequence_type"):
        kind = (kind.optional_type if kind.HasField("optional_type") else kind.sequence_type).elem_type
    of_type = kind.tensor_type.elem_type
    wanted = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(of_type)) if of_type else None
    if isinstance(value, list) and said.type.HasField("tensor_type") and len(value) == 1:  # an optional one
        (value,) = value
    many = value if isinstance(value, list) else [value]
    found = [_tensor(trace, each, said, wanted) for each in many]
    return found, Result(said.name, wanted, len(value) if isinstance(value, list) else None)


def _tensor(trace: Trace, value: Any, said: onnx.ValueInfoProto, wanted: np.dtype[Any] | None) -> Any:
    is_text = isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "OUS"
    if is_text or not isinstance(value, Symbol | np.ndarray | np.generic):
        what = "text" if is_text else f"a {type(value).__name__}"
        raise CompileError(f"result {said.name} is {what}; a program gives tensors, or what is made of some in the end")
    value = _as_array(value)
    if wanted is not None and holder(wanted) != value.dtype:
        raise CompileError(f"result {said.name} has elements of {value.dtype}, the model says {holder(wanted)}")
    return value if isinstance(value, Symbol) else tensor(trace, np.ascontiguousarray(value).reshape(value.shape))


class _Evaluator(ReferenceEvaluator):
    """The evaluator with rules of ours for what is traced; functions and bodies have one of the kind, too."""

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        rule = RULES.get((node.domain, node.op_type))
        try:
            made = super()._load_impl(node, input_types)
        except RuntimeContextError:  # a function that depends on the types of inputs: asked for again with them
            raise
        except Exception as error:  # of any kind: what an evaluator does with ops that it lacks
            if rule is None:
                known = (
                    f"opset {self.opsets_.get(node.domain, 'none')} of domain '{node.domain}' has no op of this name"
                )
                raise _OfNode(
                    f"{_shown(node)}: {known} with a definition; let a function of the model say it"
                ) from error
            made = _Undefined
        if rule is not None and rule.alone:
            made = _Undefined
        if rule is None and not isinstance(made, type):
            return made
        narrow = narrow_values(getattr(self.proto_, "graph", self.proto_))
        return _of_traced(made, rule, narrow) if isinstance(made, type) else made


class _Undefined(OpRun):
    """An op that has a rule of ours alone."""

    def need_context(self) -> bool:
        return self.has_subgraph

    def _run(self, *args: Any, **_: Any) -> Any:
        raise NotImplementedError("it has no definition for inputs that are known")


def _of_traced(kind: type, rule: OnnxRule | None, narrow: Mapping[str, np.dtype[Any]]) -> type:
    """An implementation that goes by ``rule`` where an input is traced, and else as it is.

    Args:
        narrow: the types of values of 2 and 4 bits, by name.
    """

    def run(self: Any, *args: Any, **options: Any) -> Any:
        def definition(*given: Any) -> Any:
            return kind.run(self, *given, **options)  # type: ignore[attr-defined]

        if args and isinstance(args[0], Texts) and self.onnx_node.op_type in _MOVING:
            (places,) = run(self, args[0].places, *args[1:], **options)
            return (Texts(places, args[0].table),)
        if not (is_traced(args) or (rule is not None and (rule.always or kind is _Undefined))):
            return definition(*args)
        attributes = _attributes(self) | dict(options.get("linked_attributes") or {})
        attributes |= {"context": options["context"]} if options.get("context") else {}
        attributes["outputs"] = max((n for n, name in enumerate(self.onnx_node.output, 1) if name), default=0)
        attributes["opset"] = _opset(self)
        attributes["types"] = [narrow.get(name) for name in self.onnx_node.input]
        attributes["definition"] = definition
        trace = current_trace()
        assert trace is not None, "an evaluator of traced values runs in their trace"
        with trace.at(self.onnx_node.name, Place(f"<{self.onnx_node.op_type}>", 0, 0)), _named(self.onnx_node):
            given = [_as_array(each) for each in args]
            if any(isinstance(each, Counted) for each in given):
                return of_counted(self.onnx_node.op_type, lambda *more: run(self, *more, **options), given, attributes)
            found = NotImplemented if rule is None else rule(*given, **attributes)
            if found is NotImplemented:
                return definition(*given)
        return found if isinstance(found, tuple) else (found,)

    return type(kind.__name__, (kind,), {"run": run})


def _opset(op: Any) -> int:
    return op.run_params["opsets"].get(op.onnx_node.domain) or _NEWEST


def _attributes(op: Any) -> dict[str, Any]:
    """Those that a node has, and others with the defaults of its opset; the evaluator knows those of today alone."""
    node, given = op.onnx_node, {each.name for each in op.onnx_node.attribute}
    attributes = {each: getattr(op, each) for each in op.attributes_names_}
    try:
        known = onnx.defs.get_schema(node.op_type, _opset(op), node.domain).attributes
    except onnx.defs.SchemaError:  # an op that ONNX does not define
        return attributes
    for name in attributes.keys() - given:
        if name not in known:
            del attributes[name]
        elif (default := known[name].default_value).type:
            attributes[name] = onnx.helper.get_attribute_value(default)
    return attributes


@contextmanager
def _named(node: onnx.NodeProto) -> Iterator[None]:
    """What goes wrong within the block says the node, the innermost one of several."""
    try:
        yield
    except _OfNode:
        raise
    except Exception as error:  # of any kind: what an evaluator does with values that it lacks
        reason = _OF_EVALUATOR.sub("", " ".join(str(error.__cause__ or error).split()))[:300] or type(error).__name__
        raise _OfNode(f"{_shown(node)}: {reason}") from error


def _shown(node: onnx.NodeProto) -> str:
    return f"{node.op_type} '{node.name or ', '.join(node.output)}'"


class _OfNode(Exception):
    """Why a node cannot be imported."""


def _as_array(value: Any) -> Any:
    return held(np.asarray(value)) if isinstance(value, np.generic | np.ndarray) else value


@contextmanager
def _results_may_be_traced() -> Iterator[None]:
    """The evaluator looks at the types of results; within the block it takes traced tensors."""
    before = OpRun._check_and_fix_outputs

    def check(self: Any, results: Any) -> Any:
        if not is_traced(results or ()):
            return before(self, results)
        return tuple(np.asarray(each) if isinstance(each, np.generic) else each for each in results)

    OpRun._check_and_fix_outputs = check  # type: ignore[method-assign]
    try:
        yield
    finally:
        OpRun._check_and_fix_outputs = before  # type: ignore[method-assign]
