"""``Variable``: a value that lives on the device, from run to run."""

from itertools import count
from typing import Any

import numpy as np

from ipu_mlir.dialects.attributes.attributes import mapping_to_attr
from ipu_mlir.dialects.ipu import AssignOp, ReadOp, VariableOp
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine.state import Cell
from ipu_mlir.specs.specs import TensorSpec, spec_of
from ipu_mlir.specs.tensor_types import as_for_users
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Trace, dense_attribute, own_trace
from ipu_mlir.tracing.operands import tensor_of
from ipu_mlir.tracing.structure import flatten, is_number, leaves_like, paths, unflatten

_NUMBERS = count()


class Variable:
    """A tensor, or a structure of tensors, that traced functions read and assign.

        w = ipu.Variable(np.zeros(4, np.float32), name="w")

        @ipu.function
        def step(x):
            w.assign(w.value + x)

    It keeps its value between runs. Functions that are called directly share the value that it holds itself; each
    session of a compiled program has a value of its own.

    Attributes:
        name: by which sessions and files know it; a tensor inside of a structure is called as it is written,
            ``params['w']``.
    """

    kind = "variable"

    def __init__(
        self,
        init: Any,
        name: str | None = None,
        *,
        mapping: Mapping | None = None,
        offload: bool = False,
        partition: bool = False,
    ) -> None:
        """Make a variable.

        Args:
            init: what it begins with: an array, a number, or tuples, lists and dicts of them. A ``TensorSpec`` stands
                for a value that is given later.
            mapping: where it lies, for a single tensor; the compiler decides where none is given.
            offload: keep it in remote memory: it is on tiles from where it is read to where it is assigned.
            partition: of what is offloaded each replica keeps a part only; all of them assign the same.
        """
        self.name = f"variable_{next(_NUMBERS)}" if name is None else name
        self.structure, leaves = flatten(init, self.name, is_number)
        if not leaves:
            raise TraceTypeError(f"variable {self.name} begins with {init!r}, which has no tensors; give arrays")
        if mapping is not None and paths(self.structure) != [self.name]:
            raise TraceTypeError(f"variable {self.name} has several tensors, and mapping= places one; use ipu.place")
        if offload and any(isinstance(leaf, TensorSpec) for leaf in leaves):
            raise TraceTypeError(f"variable {self.name} has no value to begin with, and what is offloaded needs one")
        if offload and any(0 in leaf.shape for leaf in leaves if hasattr(leaf, "shape")):
            raise TraceValueError(
                f"variable {self.name} has a tensor without elements, and remote memory has none such"
            )
        if partition and not offload:
            raise TraceTypeError(f"variable {self.name} has partition=True, which is for offload=True")
        self._init = [leaf if isinstance(leaf, TensorSpec) else np.array(leaf) for leaf in leaves]
        self._mapping, self._offload, self._partition = mapping, offload, partition
        self.specs = dict(zip(paths(self.structure), map(spec_of, self._init), strict=True))
        self.cells: dict[str, Cell] = {}

    @property
    def value(self) -> Any:
        """The value, structured as it was given: in a traced function at that point, elsewhere what it is now.

        Raises:
            RunError: it has no value yet.
        """
        trace = own_trace()
        if trace is None:
            return self.assembled({name: self._held(name) for name in self.specs})
        self._declare(trace)
        return unflatten(self.structure, iter([_read(trace, name, spec) for name, spec in self.specs.items()]))

    def assign(self, value: Any) -> None:
        """Give it another value of the same structure, shapes and element types.

        Raises:
            TraceTypeError: ``value`` has another structure or element type, or no function is being traced.
            TraceValueError: it has another shape.
        """
        trace = own_trace()
        if trace is None:
            raise TraceTypeError(
                f"variable {self.name} is assigned in traced functions; elsewhere a session gives it a value: "
                f"session[{self.name!r}] = ..."
            )
        self._declare(trace)
        leaves = self.leaves_of(value)
        given = {name: tensor_of(trace, leaf, self.specs[name], f"variable {name}") for name, leaf in leaves.items()}
        for name, symbol in given.items():
            with trace.emit("assign"):
                AssignOp(variable=ir.FlatSymbolRefAttr.get(name), value=symbol.value)

    def leaves_of(self, value: Any) -> dict[str, Any]:
        """The tensors of ``value``, by their names in the program.

        Raises:
            TraceTypeError: it is nested otherwise than what the variable begins with.
        """
        return dict(zip(self.specs, leaves_like(self.structure, value, self.name), strict=True))

    def assembled(self, arrays: dict[str, np.ndarray]) -> Any:
        """``arrays`` of a program, by their names in it, nested as what the variable begins with."""
        leaves = (as_for_users(array, self.specs[name].dtype) for name, array in arrays.items())
        return unflatten(self.structure, leaves)

    def _declare(self, trace: Trace) -> None:
        def make() -> None:
            for (name, spec), init in zip(self.specs.items(), self._init, strict=True):
                type_ = trace.tensor_type(spec.shape, spec.dtype)
                op = VariableOp(sym_name=ir.StringAttr.get(name), type=ir.TypeAttr.get(type_))
                if not isinstance(init, TensorSpec):
                    op.operation.attributes["init"] = dense_attribute(init, type_)
                if self._offload:
                    op.operation.attributes["offload"] = ir.UnitAttr.get()
                if self._partition:
                    op.operation.attributes["partition"] = ir.UnitAttr.get()
                if self._mapping is not None:
                    op.operation.attributes["ipu.map"] = mapping_to_attr(self._mapping)

        trace.declare(self.name, self, make)

    def _held(self, name: str) -> np.ndarray:
        if name in self.cells:
            return self.cells[name].value(name)
        init = self._init[list(self.specs).index(name)]
        if isinstance(init, TensorSpec):
            raise RunError(f"variable {name!r} has no value yet; run a function that assigns it")
        return init.copy()

    def __getstate__(self) -> dict[str, Any]:
        """As another process gets it: with what it begins with, and no value of its own."""
        return {**self.__dict__, "cells": {}}

    def __repr__(self) -> str:
        return f"<ipu variable {self.name}: {', '.join(map(str, self.specs.values()))}>"


def _read(trace: Trace, name: str, spec: TensorSpec) -> Any:
    with trace.emit("read"):
        type_ = trace.tensor_type(spec.shape, spec.dtype)
        op = ReadOp(variable=ir.FlatSymbolRefAttr.get(name), value=type_)
        return trace.wrap(op.operation.results[0], spec.shape, spec.dtype)
