"""ONNX models by ONNX's own definition of its ops: the reference evaluator, run on traced tensors.

What is known before a run (sizes, sequences, text) the evaluator computes as it does anywhere; what is traced goes
through the same code of NumPy, or a rule of ours where that writes in place or asks for values.
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.of_onnx.folding import DRAWING
from ipu_mlir.frontends.of_onnx.library import RULES
from ipu_mlir.frontends.of_onnx.narrow import held, holder, narrow_values
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.operands import tensor
from ipu_mlir.tracing.surface.tensor import Tensor
from ipu_mlir.tracing.user_places import Place

_LOCK = threading.Lock()
_BY_VALUES = frozenset(("TfIdfVectorizer",))
"""Ops whose definition looks up elements in tables, where it would find none that are traced."""


def traced(model: onnx.ModelProto, name: str) -> ir.Module:
    """The program of ``model``, whose inputs all have known sizes.

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
            values = [_result(trace, value, said) for value, said in zip(results, model.graph.output, strict=True)]
        trace.finish(values)
    except CompileError:
        raise
    except Exception as error:  # of any kind: what an evaluator does with values that it lacks
        reason = " ".join(str(error.__cause__ or error).split())[:300]
        raise CompileError(f"{name}: ONNX's reference implementation cannot be traced: {reason}") from error
    return trace.module


def _spec(value: onnx.ValueInfoProto) -> TensorSpec:
    kind = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
        raise CompileError(f"input {value.name} is no tensor of a known rank")
    sizes = tuple(each.dim_value for each in kind.shape.dim)
    if not all(each.HasField("dim_value") for each in kind.shape.dim):
        raise CompileError(f"input {value.name} has sizes that are not known: give example arrays in args")
    return TensorSpec(sizes, holder(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))))


def _result(trace: Trace, value: Any, said: onnx.ValueInfoProto) -> Any:
    if not isinstance(value, Symbol | np.ndarray | np.generic):
        raise CompileError(f"result {said.name} is a {type(value).__name__}; a program gives tensors")
    wanted = holder(np.dtype(onnx.helper.tensor_dtype_to_np_dtype(said.type.tensor_type.elem_type)))
    value = _as_array(value)
    if value.dtype != wanted:
        raise CompileError(f"result {said.name} has elements of {value.dtype}, the model says {wanted}")
    return value if isinstance(value, Symbol) else tensor(trace, np.ascontiguousarray(value).reshape(value.shape))


class _Evaluator(ReferenceEvaluator):
    """The evaluator with rules of ours for what is traced; functions and bodies have one of the kind, too."""

    def _load_impl(self, node: onnx.NodeProto, input_types: Any = None) -> Any:
        if node.op_type in DRAWING:
            raise CompileError(f"{node.op_type} draws random numbers, which would be the same in each run")
        made = super()._load_impl(node, input_types)
        rule = RULES.get((node.domain, node.op_type))
        if rule is None and not isinstance(made, type):
            return made
        narrow = narrow_values(getattr(self.proto_, "graph", self.proto_))
        return _of_traced(made, rule, narrow) if isinstance(made, type) else made


def _of_traced(kind: type, rule: Any, narrow: Mapping[str, np.dtype[Any]]) -> type:
    """An implementation that goes by ``rule`` where an input is traced, and else as it is.

    Args:
        narrow: the types of values of 2 and 4 bits, by name.
    """

    def run(self: Any, *args: Any, **options: Any) -> Any:
        if not any(isinstance(each, Symbol) for each in _flat(args)):
            return kind.run(self, *args, **options)  # type: ignore[attr-defined]
        attributes = {each: getattr(self, each) for each in self.attributes_names_}
        attributes.update(options.get("linked_attributes") or {})
        attributes |= {"context": options["context"]} if options.get("context") else {}
        attributes["outputs"] = len(self.onnx_node.output)
        attributes["types"] = [narrow.get(name) for name in self.onnx_node.input]
        place = Place(f"<{self.onnx_node.op_type}>", 0, 0)
        owner = next(each for each in _flat(args) if isinstance(each, Symbol)).program
        with owner.at(self.onnx_node.name, place):
            if self.onnx_node.op_type in _BY_VALUES:
                raise TypeError(f"{self.onnx_node.op_type} looks elements up in a table")
            found = NotImplemented if rule is None else rule(*map(_as_array, args), **attributes)
            if found is NotImplemented:
                return kind.run(self, *map(_as_array, args), **options)  # type: ignore[attr-defined]
        return found if isinstance(found, tuple) else (found,)

    return type(kind.__name__, (kind,), {"run": run})


def _flat(values: Any) -> Iterator[Any]:
    for each in values:
        if isinstance(each, list | tuple):
            yield from _flat(each)
        else:
            yield each


def _as_array(value: Any) -> Any:
    return held(np.asarray(value)) if isinstance(value, np.generic | np.ndarray) else value


@contextmanager
def _results_may_be_traced() -> Iterator[None]:
    """The evaluator looks at the types of results; within the block it takes traced tensors."""
    before = OpRun._check_and_fix_outputs

    def check(self: Any, results: Any) -> Any:
        if not any(isinstance(each, Symbol) for each in results or ()):
            return before(self, results)
        return tuple(np.asarray(each) if isinstance(each, np.generic) else each for each in results)

    OpRun._check_and_fix_outputs = check  # type: ignore[method-assign]
    try:
        yield
    finally:
        OpRun._check_and_fix_outputs = before  # type: ignore[method-assign]
