"""What the compiler reckons that an exchange moves is what the per-tile executor copies, on every tile."""

import numpy as np
import pytest
from support.corpus import programs

import ipu_mlir as ipu
from ipu_mlir.dialects.analysis.buffers import element_bytes, memory_mapping, strides_and_offset
from ipu_mlir.dialects.ipu import context
from ipu_mlir.dialects.mapping.traffic import Traffic, exchange_traffic
from ipu_mlir.dialects.mapping.views import View
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


def exchanges(module: ir.Module) -> list[ir.OpView]:
    """The exchanges of ``@main``, in order; the program has no loops."""
    block = ir.SymbolTable(module.operation)["main"].operation.regions[0].blocks[0]
    return [op for op in block if op.operation.name == "ipu.exchange"]


def view(memref: ir.Type) -> View:
    strides, offset = strides_and_offset(memref)
    return View(offset, tuple(ir.MemRefType(memref).shape), strides)


def reckoned(exchange: ir.OpView, num_tiles: int) -> Traffic:
    source, dest = (operand.type for operand in exchange.operands)
    from_mapping, to_mapping = memory_mapping(source), memory_mapping(dest)
    assert from_mapping is not None and to_mapping is not None
    return exchange_traffic(from_mapping, view(source), to_mapping, view(dest), num_tiles)


NO_EXCHANGE = ("jax_math_zoo", "tf_matmul")
"""Programs in which nothing has to move: element-wise ops only, and a product so small that one tile is fastest."""


@pytest.mark.parametrize("tiles", [7, 16])
@pytest.mark.parametrize("name", list(programs()))
def test_the_closed_form_counts_the_bytes_that_are_copied(name: str, tiles: int) -> None:
    program = programs()[name]
    text = ipu.compile(program.mlir, target=ipu.Target(tiles_per_ipu=tiles)).mlir()
    with context():
        module = ir.Module.parse(text)
        executor = PerTileExecutor(module)
        executor.run(program.inputs)
        ops = exchanges(module)
        assert len(ops) == len(executor.traffic)
        for op, copied in zip(ops, executor.traffic, strict=True):
            expected = reckoned(op, tiles)
            assert copied.element_bytes == element_bytes(op.operands[0].type.element_type), op.location
            for direction in ("received", "sent", "local"):
                np.testing.assert_array_equal(
                    getattr(expected, direction), getattr(copied, direction), f"{direction} at {op.location}"
                )
        assert ops or name in NO_EXCHANGE
