"""Where values of regions come from and go to, op by op."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.control_flow import (
    CONTROL_OPS,
    blocks_of,
    control_op,
    enclosing_loop,
    flows,
    is_branch,
    is_loop,
    terminator,
)
from ipu_mlir.dialects.support.bindings import ir

FOR = """
func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %i = %c0 to UPPER step %c2 iter_args(%a = %x) -> tensor<4xf32> {
    %b = math.sin %a : tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""
WHILE = """
func.func @f(%x: tensor<4xf32>, %n: index) -> (i1, tensor<4xf32>) {
  %true = arith.constant true
  %r:2 = scf.while (%a = %x) : (tensor<4xf32>) -> (i1, tensor<4xf32>) {
    scf.condition(%true) %true, %a : i1, tensor<4xf32>
  } do {
  ^bb0(%f: i1, %b: tensor<4xf32>):
    scf.yield %b : tensor<4xf32>
  }
  return %r#0, %r#1 : i1, tensor<4xf32>
}
"""
SWITCH = """
func.func @f(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %r = scf.index_switch %n -> tensor<4xf32>
  case 3 {
    %y = math.sin %x : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  default {
    scf.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
"""


@pytest.fixture
def op_of(request):
    """The region op of a text; its module lives as long as the test."""
    modules = []

    def found(text: str) -> ir.Operation:
        modules.append(ir.Module.parse(text, ipu.context()))
        ops = []
        modules[-1].operation.walk(
            lambda op: (ops.append(op) if control_op(op.operation) else None, ir.WalkResult.ADVANCE)[1]
        )
        return ops[0].operation

    return found


def ways(op: ir.Operation) -> list[tuple[str, int, list[str]]]:
    """(source, first operand, kinds of target) of every flow."""
    kinds = [
        ["result" if isinstance(target, ir.OpResult) else "argument" for target in flow.targets] for flow in flows(op)
    ]
    return [(flow.source.name, flow.first, kind) for flow, kind in zip(flows(op), kinds, strict=True)]


def test_a_for_carries_from_before_and_from_round_to_round(op_of):
    op = op_of(FOR.replace("UPPER", "%c9"))
    assert ways(op) == [
        ("scf.for", 3, ["argument"]),
        ("scf.for", 3, ["result"]),
        ("scf.yield", 0, ["argument"]),
        ("scf.yield", 0, ["result"]),
    ]
    assert flows(op)[0].values() == [op.operands[3]]
    assert is_loop(op) and not is_branch(op)


def test_a_while_hands_on_what_its_condition_says(op_of):
    op = op_of(WHILE)
    assert ways(op) == [
        ("scf.while", 0, ["argument"]),
        ("scf.condition", 1, ["argument", "argument"]),
        ("scf.condition", 1, ["result", "result"]),
        ("scf.yield", 0, ["argument"]),
    ]
    condition = terminator(op.regions[0].blocks[0])
    assert flows(op)[1].values() == list(condition.operands)[1:], "not the condition itself"
    assert control_op(op).trip_count(op) is None


def test_every_branch_of_a_switch_gives_the_results(op_of):
    op = op_of(SWITCH)
    assert ways(op) == [("scf.yield", 0, ["result"])] * 2
    assert is_branch(op) and not is_loop(op)
    assert [terminator(block).name for block in blocks_of(op)] == ["scf.yield"] * 2


@pytest.mark.parametrize(("upper", "rounds"), [("%c9", 5), ("%c0", 0), ("%n", None)])
def test_rounds_of_a_for(op_of, upper, rounds):
    op = op_of(FOR.replace("UPPER", upper))
    assert control_op(op).trip_count(op) == rounds


def test_the_loop_around_an_op(op_of):
    loop = op_of(FOR.replace("UPPER", "%n"))
    assert enclosing_loop(terminator(loop.regions[0].blocks[0])) == loop
    assert enclosing_loop(loop) is None


def test_only_control_flow_has_a_row(op_of):
    op = op_of(SWITCH)
    assert control_op(op.parent.operation) is None and flows(op.parent.operation) == ()
    assert set(CONTROL_OPS) == {"scf.for", "scf.while", "scf.if", "scf.index_switch"}
