"""What ``onnx.backend.test`` and other programs that know ONNX's interface of backends run models with."""

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep

from ipu_mlir.compilation.compiler import compile
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.frontends.from_onnx import array_of
from ipu_mlir.frontends.of_onnx.sizes import deciding_inputs


class Compiled(BackendRep):
    """A model that was compiled: for the values of inputs that sizes depend on when they come for the first time."""

    def __init__(self, model: ModelProto, target: Target | None) -> None:
        self._model, self._target = model, target
        self._deciding = deciding_inputs(model)
        self._compiled: dict[tuple[tuple[int, ...], ...], Any] = {}
        if not self._deciding:
            self._compiled[()] = compile(model, target=target)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The results for inputs in their order or by their names."""
        by_name = dict(inputs) if isinstance(inputs, Mapping) else {}
        in_order = [] if by_name else list(inputs) if isinstance(inputs, Sequence) else [inputs]
        weights = {each.name for each in self._model.graph.initializer}
        names = [each.name for each in self._model.graph.input if each.name not in weights]
        given = dict(zip(names, in_order, strict=False)) | by_name
        values = {name: array_of(given[name]) for name in self._deciding if name in given}
        key = tuple(tuple(value.ravel().tolist()) for value in values.values())
        if key not in self._compiled:
            self._compiled[key] = compile(self._model, kwargs=values, target=self._target)
        results = self._compiled[key](*in_order, **by_name)
        return results if isinstance(results, tuple) else (results,)


class Backend(OnnxBackend):
    """``onnx.backend.base.Backend`` on a simulated IPU; ``target=`` of ``prepare`` is the machine."""

    @classmethod
    def prepare(cls, model: ModelProto, device: str = "IPU", target: Target | None = None, **kwargs: Any) -> Compiled:
        """``model``, ready to run."""
        super().prepare(model, device, **kwargs)
        return Compiled(model, target)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """The simulator stands for the processor as well: a suite asks for CPU."""
        return device.partition(":")[0] in ("CPU", "IPU")
