"""The buffers that stand for tensors."""

from typing import Any

from ipu_mlir.dialects.support.bindings import ir


def buffer_type(tensor: Any) -> ir.Type:
    """The buffer that bufferization gives to a tensor of type ``tensor``."""
    return ir.MemRefType.get(
        tensor.shape, tensor.element_type, memory_space=tensor.encoding, loc=ir.Location.unknown(tensor.context)
    )
