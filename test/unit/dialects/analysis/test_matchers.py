"""What makes a value, and which constant it is."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.matchers import block_of, constant_of, defining_op, integer_of, terminator
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module

TEXT = """
func.func @f(%x: f32, %n: index) -> (f32, index, index, f32) {
  %i = arith.constant -3 : index
  %t = arith.constant true
  %h = arith.constant 0.5 : f32
  %y = arith.addf %x, %h : f32
  return %y, %i, %n, %h : f32, index, index, f32
}
"""


@pytest.fixture
def module() -> ir.Module:
    return parse_module(TEXT, ipu.context())


@pytest.fixture
def block(module: ir.Module) -> ir.Block:
    return module.body.operations[0].operation.regions[0].blocks[0]


def test_the_op_that_makes_a_value_is_asked_for_by_name(block: ir.Block) -> None:
    y, _, n, _ = terminator(block).operands
    add = defining_op(y)
    assert add is not None and add.name == "arith.addf"
    assert defining_op(y, "arith.mulf", "arith.addf") == add
    assert defining_op(y, "arith.mulf") is None
    assert defining_op(n) is None and block_of(n) == block_of(y) == block


def test_constants_are_attributes_and_integers_numbers(block: ir.Block) -> None:
    y, i, n, h = terminator(block).operands
    assert [integer_of(value) for value in (y, i, n, h)] == [None, -3, None, None]
    assert constant_of(y) is None and constant_of(n) is None
    assert ir.FloatAttr(constant_of(h)).value == 0.5
