"""Loops of updates: with independent iterations and with such as need the one before."""

import numpy as np
import pytest
from support.tensor_text import function

import ipu_mlir as ipu

_TARGET = ipu.Target(tiles_per_ipu=3)
_RNG = np.random.default_rng(97)
_ROUNDS = 12
_INPUTS = [
    _RNG.integers(-9, 9, (7, 6)).astype(np.float32),
    np.array([3, 0, 3, 6, 5, -1, 3, 7, 0, 1, 1, 2], np.int32),  # the same again and again, and outside
    _RNG.standard_normal(_ROUNDS).astype(np.float32),
    _RNG.standard_normal((_ROUNDS, 6)).astype(np.float32),
]

_INDEX = """%i = tensor.extract %a1[%k] : tensor<12xi32>
    %p = arith.index_cast %i : i32 to index"""
_VALUE = "%v = tensor.extract %a2[%k] : tensor<12xf32>"
_ROW = "%v = tensor.extract_slice %a3[%k, 0] [1, 6] [1, 1] : tensor<12x6xf32> to tensor<6xf32>"
_SET = "%new = tensor.insert %w into %x[%p, %c2] : tensor<7x6xf32>"


def _element(old: str, new: str) -> str:
    """x[p, 2] becomes ``new`` of %old = x[``old``] and %v."""
    return f"""{_INDEX}
    {_VALUE}
    %old = tensor.extract %x[{old}] : tensor<7x6xf32>
    {new}
    {_SET}"""


def _guarded(update: str) -> str:
    return f"""{_INDEX}
    {_VALUE}
    %inside = arith.cmpi ult, %p, %c7 : index
    %new = scf.if %inside -> (tensor<7x6xf32>) {{
      {update}
      scf.yield %y : tensor<7x6xf32>
    }} else {{
      scf.yield %x : tensor<7x6xf32>
    }}"""


_CLAMPED = """%low = arith.maxsi %p, %c0 : index
    %q = arith.minsi %low, %c{highest} : index"""

INDEPENDENT = {
    "set": f"{_INDEX}\n{_VALUE}\n%w = arith.negf %v : f32\n{_SET}",
    "add": _element("%p, %c2", "%w = arith.addf %v, %old : f32"),
    "multiply": _element("%p, %c2", "%w = arith.mulf %old, %v : f32"),
    "read where it is clamped": f"""{_INDEX}
    {_VALUE}
    {_CLAMPED.format(highest=6)}
    %old = tensor.extract %x[%q, %c2] : tensor<7x6xf32>
    %w = arith.addf %v, %old : f32
    {_SET}""",
    "guarded set": _guarded("%y = tensor.insert %v into %x[%p, %c5] : tensor<7x6xf32>"),
    "guarded add": _guarded("""%old = tensor.extract %x[%p, %c5] : tensor<7x6xf32>
      %w = arith.addf %old, %v : f32
      %y = tensor.insert %w into %x[%p, %c5] : tensor<7x6xf32>"""),
    "rows": f"{_INDEX}\n{_ROW}\n%new = tensor.insert_slice %v into %x[%p, 0] [1, 6] [1, 1] : tensor<6xf32> into"
    " tensor<7x6xf32>",
    "two dimensions": f"""{_INDEX}
    {_VALUE}
    %q = arith.remsi %k, %c6 : index
    %old = tensor.extract %x[%p, %q] : tensor<7x6xf32>
    %w = arith.addf %old, %v : f32
    %new = tensor.insert %w into %x[%p, %q] : tensor<7x6xf32>""",
}
DEPENDENT = {
    "another element is read": _element("%p, %c1", "%w = arith.addf %v, %old : f32"),
    "the next row is read": f"""%n = arith.addi %k, %c1 : index
    {_INDEX}
    {_VALUE}
    %old = tensor.extract %x[%c3, %c2] : tensor<7x6xf32>
    %w = arith.addf %v, %old : f32
    {_SET}""",
    "the old value twice": _element("%p, %c2", "%u = arith.addf %v, %old : f32\n%w = arith.mulf %u, %old : f32"),
    "read where it is clamped further": f"""{_INDEX}
    {_VALUE}
    {_CLAMPED.format(highest=4)}
    %old = tensor.extract %x[%q, %c2] : tensor<7x6xf32>
    %w = arith.addf %v, %old : f32
    {_SET}""",
    "an index from the tensor": f"""%f = tensor.extract %x[%c0, %c0] : tensor<7x6xf32>
    {_VALUE}
    %i = arith.fptosi %f : f32 to i32
    %p = arith.index_cast %i : i32 to index
    %w = arith.subf %f, %v : f32
    %new = tensor.insert %w into %x[%c0, %c0] : tensor<7x6xf32>""",
    "two updates": f"""{_INDEX}
    {_VALUE}
    %y = tensor.insert %v into %x[%p, %c2] : tensor<7x6xf32>
    %w = arith.negf %v : f32
    %new = tensor.insert %w into %y[%c1, %c2] : tensor<7x6xf32>""",
}


def _loop(body: str, lower: int = 0, upper: int = _ROUNDS, step: int = 1) -> str:
    constants = "\n".join(f"  %c{i} = arith.constant {i} : index" for i in range(8))
    text = f"""{constants}
  %lower = arith.constant {lower} : index
  %upper = arith.constant {upper} : index
  %step = arith.constant {step} : index
  %r0 = scf.for %k = %lower to %upper step %step iter_args(%x = %a0) -> (tensor<7x6xf32>) {{
    {body}
    scf.yield %new : tensor<7x6xf32>
  }}"""
    return function(["7x6xf32", "12xi32", "12xf32", "12x6xf32"], ["7x6xf32"], text)


def _check(text: str) -> None:
    """The executors agree on the program ``text``, with kernels and without."""
    for kernels in ("auto", "never"):
        program = ipu.compile(text, target=_TARGET, kernels=kernels)
        np.testing.assert_array_equal(program.run(_INPUTS)[0], program.run_per_tile(_INPUTS)[0])


@pytest.mark.parametrize("bounds", [(0, 12, 1), (1, 12, 2), (3, 9, 1)])
@pytest.mark.parametrize("name", INDEPENDENT)
def test_independent_iterations(name, bounds):
    _check(_loop(INDEPENDENT[name], *bounds))


@pytest.mark.parametrize("name", DEPENDENT)
def test_iterations_that_need_the_one_before(name):
    _check(_loop(DEPENDENT[name]))


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("call", ["addf", "maximumf", "minimumf"])
def test_few_iterations_and_calls_that_tell_zeros_apart(rounds, call):
    body = _element("%p, %c2", f"%w = arith.{call} %old, %v : f32")
    _check(_loop(body, upper=rounds))
    _check(_loop(body, lower=1))
