"""Helpers of rewriting passes."""

from collections.abc import Callable
from typing import Any

import pytest

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.instruments import count_ops
from ipu_mlir.passes.support.rewriting import (
    REWRITTEN,
    SKIP,
    has_uses,
    list_ops,
    list_outside_bodies,
    rewrite,
)

arith = upstream("arith")


def add_to_multiply(op: Any, rewriter: Any) -> bool:
    """a + b becomes a * b, unless it is marked."""
    if "test.keep" in op.attributes:
        return SKIP
    with rewriter.ip:
        product = arith.MulIOp(op.lhs, op.rhs, loc=op.location)
    rewriter.replace_op(op, product)
    return REWRITTEN


@pytest.fixture
def module(parse: Callable[[str], ir.Module]) -> ir.Module:
    return parse("""
func.func @f(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %0, %a {test.keep} : i32
  %2 = arith.muli %a, %a : i32
  return %1 : i32
}""")


def test_rewrite_applies_patterns_and_folds(module: ir.Module) -> None:
    rewrite(module.operation, {arith.AddIOp: add_to_multiply})
    assert [op.name for op in list_ops(module.operation, "arith.addi", "arith.muli")] == ["arith.muli", "arith.addi"]


def test_ops_of_a_name_come_after_those_inside_them(parse: Callable[[str], ir.Module]) -> None:
    text = """func.func @f(%n: index) {
  scf.for %i = %n to %n step %n {
    scf.for %j = %n to %n step %n {
      %0 = arith.addi %n, %n : index
    }
  }
  return
}"""
    module = parse(text)
    function, outer, inner = (list_ops(module.operation, name)[-1] for name in ("func.func", "scf.for", "arith.addi"))
    assert list_ops(module.operation, "scf.for", "scf.for") == [inner.parent.operation, outer]
    assert [op.name for op in list_ops(function, "func.func", "arith.addi")] == ["arith.addi", "func.func"]
    assert list_ops(module.operation, "scf.while", "no.such") == []


def test_patterns_without_an_end_are_stopped(module: ir.Module) -> None:
    def turn(op: Any, rewriter: Any) -> bool:
        with rewriter.ip:
            new = arith.AddIOp(op.rhs, op.lhs, loc=op.location)
        rewriter.replace_op(op, new)
        return REWRITTEN

    with pytest.raises(AssertionError, match="without an end; the last one was turn"):
        rewrite(module.operation, {arith.AddIOp: turn}, fold=False)


def test_counts_and_lists_every_op(module: ir.Module) -> None:
    assert count_ops(module.operation) == len(list_ops(module.operation)) == 6


def test_uses_of_results_are_seen(module: ir.Module) -> None:
    first, kept, unused = list_ops(module.operation, "arith.addi", "arith.muli")
    assert has_uses(first) and has_uses(kept) and not has_uses(unused)


def test_bodies_of_structured_ops_are_left_out(parse: Callable[[str], ir.Module]) -> None:
    text = """func.func @f(%x: tensor<4xf32>, %flag: i1) {
  scf.if %flag {
    %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%x : tensor<4xf32>) {
    ^bb0(%a: f32):
      %b = math.exp %a : f32
      linalg.yield %b : f32
    } -> tensor<4xf32>
  }
  return
}"""
    module = parse(text)
    names = [op.name for op in list_outside_bodies(module.operation)]
    assert names == ["builtin.module", "func.func", "scf.if", "linalg.generic", "scf.yield", "func.return"]
