"""What ``onnx.backend.test`` and other programs that know ONNX's interface of backends run models with."""

from collections.abc import Mapping, Sequence
from typing import Any

from onnx import ModelProto
from onnx.backend.base import Backend as OnnxBackend
from onnx.backend.base import BackendRep

from ipu_mlir.compilation.compiler import compile
from ipu_mlir.dialects.machine.target import Target


class Compiled(BackendRep):
    """A model that was compiled."""

    def __init__(self, model: ModelProto, target: Target | None) -> None:
        self._executable = compile(model, target=target)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The results for inputs in their order or by their names."""
        by_name = inputs if isinstance(inputs, Mapping) else {}
        in_order = () if by_name else inputs if isinstance(inputs, Sequence) else [inputs]
        results = self._executable(*in_order, **by_name)
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
