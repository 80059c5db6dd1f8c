"""Python functions that JAX keeps beside a program, which calls them while it runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ipu_mlir.passes.importing.stablehlo.convert_callbacks import CALLBACK, HOST_FUNCTION


@dataclass(frozen=True)
class _Callback:
    """A function as programs of ours call it.

    Attributes:
        function: takes a token first, and gives it back, if it has one.
        unsigned: for each argument, True if it is unsigned, of which programs know the bits.
    """

    function: Callable[..., Any]
    has_token: bool
    unsigned: tuple[bool, ...]

    def __call__(self, *arrays: np.ndarray) -> list[np.ndarray]:
        args = [
            array.view(f"u{array.itemsize}") if is_unsigned else array
            for array, is_unsigned in zip(arrays, self.unsigned, strict=True)
        ]
        found = self.function(None, *args)[1:] if self.has_token else self.function(*args)
        return [np.asarray(each) for each in found]


def callbacks_of(lowered: jax.stages.Lowered) -> dict[str, Callable[..., Any]]:
    """The functions that a program calls, as of ``jax.pure_callback``, by the names that the import gives them."""
    kept: list[Any] = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("host_callbacks") or []
    found = {}
    for op in _custom_calls(lowered) if kept else []:
        if op.attributes["call_target_name"].value == CALLBACK:
            number = op.attributes["mhlo.backend_config"]["index"].value
            types = [str(operand.type) for operand in op.operands]
            has_token = "token" in "".join(types[:1])
            unsigned = tuple("xui" in each or "<ui" in each for each in types[has_token:])
            found[HOST_FUNCTION.format(number)] = _Callback(kept[number], has_token, unsigned)
    return found


def _custom_calls(lowered: jax.stages.Lowered) -> Iterator[Any]:
    module: Any = lowered.compiler_ir("stablehlo")

    def calls_in(op: Any) -> Iterator[Any]:
        for region in op.regions:
            for block in region.blocks:
                for inner in block.operations:
                    if inner.operation.name == "stablehlo.custom_call":
                        yield inner.operation
                    yield from calls_in(inner.operation)

    return calls_in(module.operation)
