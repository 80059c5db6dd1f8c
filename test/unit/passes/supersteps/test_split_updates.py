import re
from itertools import pairwise

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.supersteps.split_updates import SplitUpdates

_ROUNDS = 3
_AROUND = {
    "function": ("%x", "", "", "%last"),
    "for": (
        "%t",
        "%loop = scf.for %i = %c0 to %c3 step %c1 iter_args(%t = %x) -> (tensor<8x4xf32>) {",
        "scf.yield %last : tensor<8x4xf32> }",
        "%loop",
    ),
    "while": (
        "%t",
        """%loop:2 = scf.while (%b = %x, %n = %c0) : (tensor<8x4xf32>, index) -> (tensor<8x4xf32>, index) {
             %more = arith.cmpi slt, %n, %c3 : index
             scf.condition(%more) %b, %n : tensor<8x4xf32>, index
           } do {
           ^bb0(%t: tensor<8x4xf32>, %n: index):
             %next = arith.addi %n, %c1 : index""",
        "scf.yield %last, %next : tensor<8x4xf32>, index }",
        "%loop#0",
    ),
    "if": (
        "%x",
        "%branch = scf.if %p -> (tensor<8x4xf32>) {",
        "scf.yield %last : tensor<8x4xf32> } else { scf.yield %x : tensor<8x4xf32> }",
        "%branch",
    ),
}


def _program(around: str, updates: int) -> str:
    """Row 3k of ``x`` plus ``y`` becomes row 5k, for each k below ``updates``; in a loop three times."""
    first, begin, end, result = _AROUND[around]
    ops: list[str] = []
    names = [first, *(f"%u{k}" for k in range(updates - 1)), "%last"]
    for k, (before, after) in enumerate(pairwise(names)):
        ops.append(f"""
          %s{k} = tensor.extract_slice {before}[{3 * k % 8}, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<1x4xf32>
          %e{k} = tensor.empty() : tensor<1x4xf32>
          %a{k} = linalg.add ins(%s{k}, %y : tensor<1x4xf32>, tensor<1x4xf32>) outs(%e{k} : tensor<1x4xf32>)
              -> tensor<1x4xf32>
          {after} = tensor.insert_slice %a{k} into {before}[{5 * k % 8}, 0] [1, 4] [1, 1]
              : tensor<1x4xf32> into tensor<8x4xf32>""")
    return f"""
      func.func @main(%x: tensor<8x4xf32>, %y: tensor<1x4xf32>, %p: i1) -> tensor<8x4xf32> {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant {_ROUNDS} : index
        {begin} {"".join(ops)}
        {end}
        return {result} : tensor<8x4xf32>
      }}"""


def _expected(x, y, rounds, updates):
    result = x.copy()
    for _ in range(rounds):
        for k in range(updates):
            result[5 * k % 8] = result[3 * k % 8] + y[0]
    return result


@pytest.mark.parametrize("around", _AROUND)
def test_no_chain_of_updates_is_longer_than_most(around):
    with dialect.context():
        module = ir.Module.parse(_program(around, 200))
        SplitUpdates().run(module.operation)
    runs = [run.count("tensor.insert_slice") for run in str(module).split("bufferization.alloc_tensor")]
    assert max(runs) <= SplitUpdates.most
    assert sum(runs) == 200


@pytest.mark.parametrize("around", _AROUND)
def test_chains_that_were_split_are_right_and_have_no_copy(around):
    program = ipu.compile(_program(around, 70), target=ipu.Target(ipus=1, tiles_per_ipu=2), kernels="never")
    moves = re.findall(r"memref.copy|linalg.copy .*memref<8x4xf32", program.mlir("l3"))
    assert len(moves) <= 1, "more than what the argument, which is the caller's, needs"
    x, y = np.arange(32, dtype=np.float32).reshape(8, 4), np.ones((1, 4), np.float32)
    for taken in (False, True):
        inputs = [x, y, np.array(taken)]
        rounds = {"for": _ROUNDS, "while": _ROUNDS, "if": int(taken)}.get(around, 1)
        for found in (program.run(inputs), program.run_per_tile(inputs)):
            np.testing.assert_array_equal(found[0], _expected(x, y, rounds, 70))
