"""Branches and loops that yield tensors from outside, tensors that they update, and parts of tensors."""

from collections.abc import Callable

import numpy as np
from support.case import Case
from support.tensor_text import function

_X = np.array([10, 20, 30, 40], np.int32)
_V = "tensor<4xi32>"
_ROW = "tensor<1x4xi32>"
_START = f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : i32
  %e = tensor.empty() : {_V}
  %p = tensor.extract %a1[] : tensor<i1>
  %y = arith.addi %a0, %a0 : {_V}
  %z = arith.muli %a0, %a0 : {_V}
"""
_HALF = "tensor<2xi32>"
_ROLL = f"""%last = tensor.extract_slice {{0}}[3] [1] [1] : {_V} to tensor<1xi32>
    %rest = tensor.extract_slice {{0}}[0] [3] [1] : {_V} to tensor<3xi32>"""
_JOIN = "%c = tensor.concat dim(0) %last, %rest : (tensor<1xi32>, tensor<3xi32>) -> tensor<4xi32>"
_JOIN_IN_EMPTY = f"""%b = tensor.insert_slice %last into %e[0] [1] [1] : tensor<1xi32> into {_V}
    %c = tensor.insert_slice %rest into %b[1] [3] [1] : tensor<3xi32> into {_V}"""
_UPDATE = f"""%part = tensor.extract_slice %a0[0] [2] [1] : {_V} to {_HALF}
    %c = tensor.insert_slice %part into %y[1] [2] [1] : {_HALF} into {_V}"""


def _generic(body: str) -> str:
    return f"""%c = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
        outs(%e : {_V}) {{
    ^bb0(%out: i32):
      %i = linalg.index 0 : index
      {body}
      linalg.yield %v : i32
    }} -> {_V}"""


_BACKWARDS = _generic(f"%j = arith.subi %c3, %i : index\n      %v = tensor.extract %y[%j] : {_V}")
_ROLLED_IN_BODY = _generic("""%first = arith.cmpi ult, %i, %c1 : index
      %v = scf.if %first -> i32 {
        %a = tensor.extract %last[%i] : tensor<1xi32>
        scf.yield %a : i32
      } else {
        %j = arith.subi %i, %c1 : index
        %a = tensor.extract %rest[%j] : tensor<3xi32>
        scf.yield %a : i32
      }""")


def _branch(yes: str, left: tuple[str, str]) -> str:
    """``%r0``: what the block ``yes`` leaves where the flag holds, else a tensor from outside."""
    return f"""  %r0 = scf.if %p -> {_V} {{
    {yes}
    scf.yield {left[0]} : {_V}
  }} else {{
    scf.yield {left[1]} : {_V}
  }}
"""


def _loop(body: str, left: str) -> str:
    return f"""  %r0 = scf.for %n = %c0 to %c3 step %c1 iter_args(%k = %y) -> {_V} {{
    {body}
    scf.yield {left} : {_V}
  }}
"""


def _cases(name: str, text: str, expected: Callable[[np.ndarray, bool], object], more: int = 0) -> list[Case]:
    """With the flag up and down."""
    whole = function(["4xi32", "i1"], ["4xi32"] * (1 + more), _START + text)
    return [
        Case(f"{name}-{'yes' if flag else 'no'}", whole, (_X, np.array(flag)), lambda x, p: expected(x, bool(p)))
        for flag in (True, False)
    ]


def _updated(into: np.ndarray, part: np.ndarray) -> np.ndarray:
    found = into.copy()
    found[1:3] = part[:2]
    return found


_FILL = f"%c = linalg.fill ins(%c7 : i32) outs(%e : {_V}) -> {_V}"

CASES = (
    *_cases("branch-that-fills", _branch(_FILL, ("%c", "%y")), lambda x, p: np.full(4, 7, np.int32) if p else 2 * x),
    *_cases("branch-that-gathers", _branch(_BACKWARDS, ("%c", "%y")), lambda x, p: 2 * x[:: -1 if p else 1]),
    *_cases(
        "branch-that-rolls-in-a-body",
        _branch(f"{_ROLL.format('%y')}\n    {_ROLLED_IN_BODY}", ("%c", "%y")),
        lambda x, p: np.roll(2 * x, int(p)),
    ),
    *_cases(
        "branch-that-rolls",
        _branch(f"{_ROLL.format('%y')}\n    {_JOIN}", ("%c", "%y")),
        lambda x, p: np.roll(2 * x, int(p)),
    ),
    *_cases(
        "branch-that-rolls-an-argument",
        _branch(f"{_ROLL.format('%a0')}\n    {_JOIN_IN_EMPTY}", ("%c", "%a0")),
        lambda x, p: np.roll(x, int(p)),
    ),
    *_cases(
        "branch-that-updates-one-of-two",
        _branch(_UPDATE, ("%c", "%z")),
        lambda x, p: _updated(2 * x, x) if p else x * x,
    ),
    *_cases(
        "branch-that-updates-what-is-read-after",
        _branch(_UPDATE, ("%c", "%z")) + f"  %r1 = arith.subi %r0, %y : {_V}\n",
        lambda x, p: (_updated(2 * x, x), _updated(2 * x, x) - 2 * x) if p else (x * x, x * x - 2 * x),
        more=1,
    ),
    *_cases(
        "branches-that-swap",
        f"""  %r0, %r1 = scf.if %p -> ({_V}, {_V}) {{
    scf.yield %y, %z : {_V}, {_V}
  }} else {{
    {_UPDATE}
    scf.yield %z, %c : {_V}, {_V}
  }}
""",
        lambda x, p: (2 * x, x * x) if p else (x * x, _updated(2 * x, x)),
        more=1,
    ),
    *_cases(
        "branch-that-gives-the-only-row",
        f"""  %r0 = scf.if %p -> {_V} {{
    %many = tensor.empty() : {_ROW}
    %row = linalg.broadcast ins(%y : {_V}) outs(%many : {_ROW}) dimensions = [0]
    %twice = linalg.add ins(%row, %row : {_ROW}, {_ROW}) outs(%many : {_ROW}) -> {_ROW}
    %c = tensor.extract_slice %twice[0, 0] [1, 4] [1, 1] : {_ROW} to {_V}
    scf.yield %c : {_V}
  }} else {{
    %d = arith.addi %z, %z : {_V}
    scf.yield %d : {_V}
  }}
""",
        lambda x, p: 4 * x if p else 2 * x * x,
    ),
    *_cases(
        "loop-that-fills-what-was-made-before-it",
        _loop(f"{_FILL}\n    %s = arith.addi %k, %c : {_V}", "%s"),
        lambda x, p: 2 * x + 21,
    ),
    *_cases(
        "loop-that-rolls-in-a-body",
        _loop(f"{_ROLL.format('%k')}\n    {_ROLLED_IN_BODY}", "%c"),
        lambda x, p: np.roll(2 * x, 3),
    ),
    *_cases(
        "loop-that-updates-the-constant-of-the-round-before",
        f"""  %zeros = arith.constant dense<0> : {_V}
  %r0 = scf.while (%k = %y) : ({_V}) -> {_V} {{
    %at = arith.constant 3 : index
    %first = tensor.extract %k[%at] : {_V}
    %c0_i32 = arith.constant 0 : i32
    %more = arith.cmpi ne, %first, %c0_i32 : i32
    %part = tensor.extract_slice %a0[0] [2] [1] : {_V} to {_HALF}
    %c = tensor.insert_slice %part into %k[1] [2] [1] : {_HALF} into {_V}
    scf.condition(%more) %c : {_V}
  }} do {{
  ^bb0(%k: {_V}):
    scf.yield %zeros : {_V}
  }}
""",
        lambda x, p: _updated(np.zeros(4, np.int32), x),
    ),
    *_cases(
        "loop-of-a-branch-that-rolls",
        _loop(
            f"""%b0 = scf.if %p -> {_V} {{
    {_ROLL.format("%k")}
    {_JOIN}
    scf.yield %c : {_V}
  }} else {{
    scf.yield %z : {_V}
  }}""",
            "%b0",
        ),
        lambda x, p: np.roll(2 * x, 3) if p else x * x,
    ),
)
