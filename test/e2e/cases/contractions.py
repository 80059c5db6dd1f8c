"""Contractions: named ones, transposed ones, generic ones in any order of loops, with and without summed loops."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.case import Case, some
from support.tensor_text import constant, element_of, function, generic, one_generic

_MULTIPLY_ADD = {
    "f32": "%p = arith.mulf %x0, %x1 : f32\n    %y = arith.addf %acc, %p : f32",
    "f64": "%p = arith.mulf %x0, %x1 : f64\n    %y = arith.addf %p, %acc : f64",
    "i32": "%p = arith.muli %x0, %x1 : i32\n    %y = arith.addi %acc, %p : i32",
    "i64": "%p = arith.muli %x1, %x0 : i64\n    %y = arith.addi %acc, %p : i64",
    "i8": "%p = arith.muli %x0, %x1 : i8\n    %y = arith.addi %acc, %p : i8",
    "i1": "%p = arith.andi %x0, %x1 : i1\n    %y = arith.ori %acc, %p : i1",
}
_ZERO = {"f32": "0.0", "f64": "0.0", "i1": "false"}


def _named(
    op: str, shorts: Sequence[str], out: str, length: int, numpy: Callable[..., Any], maps: Sequence[str] = ()
) -> Case:
    """A named op on the arguments, started from zero; ``maps`` where they differ from those of the op."""
    element = element_of(out)
    types = ", ".join(f"tensor<{short}>" for short in shorts)
    attribute = f" indexing_maps = [{', '.join(f'affine_map<{map_}>' for map_ in maps)}]" if maps else ""
    body = (
        f"  %zero = {constant(_ZERO.get(element, '0'), element)}\n  %empty = tensor.empty() : tensor<{out}>\n"
        f"  %start = linalg.fill ins(%zero : {element}) outs(%empty : tensor<{out}>) -> tensor<{out}>\n"
        f"  %r0 = linalg.{op}{attribute} ins(%a0, %a1 : {types}) outs(%start : tensor<{out}>) -> tensor<{out}>"
    )
    name = f"{op}-{element}" + ("-with-maps" if maps else "")
    return Case(name, function(shorts, [out], body), some(*shorts), numpy, length if element.startswith("f") else 0)


def _generic(
    name: str, loops: str, reduced: str, uses: Sequence[str], out: str, length: int, numpy: Callable[..., Any],
    init: str | None = None,
) -> Case:  # fmt: skip
    shorts = [use.partition("[")[0] for use in (*uses, *([out] if init else ()))]
    element = element_of(shorts[0])
    start = init or _ZERO.get(element, "0")
    text = one_generic(loops, uses, out, _MULTIPLY_ADD[element], reduced=reduced, init=start)
    return Case(name, text, some(*shorts), numpy, length if element.startswith("f") else 0)


def _einsum(formula: str) -> Callable[..., Any]:
    return lambda *operands: np.einsum(formula, *operands)


def _matmul(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return x @ y


def _matmul_with_maps(name: str, maps: Sequence[str], shorts: Sequence[str], numpy: Callable[..., Any]) -> Case:
    case = _named("matmul", shorts, "9x5xf32", 13, numpy, maps)
    return Case(name, case.text, case.inputs, case.expected, case.sum_length)


_FIRST, _SECOND, _OUT = "(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"

_LAYER = "\n".join(
    (
        generic("%h0", "m n k", [("%a0", "6x10xf32[m, k]"), ("%a1", "10x9xf32[k, n]")], "6x9xf32[m, n]",
                _MULTIPLY_ADD["f32"], reduced="k", init="0.0"),
        "  %zero = arith.constant 0.0 : f32",
        generic("%h", "m n", [("%h0", "6x9xf32[m, n]"), ("%a2", "9xf32[n]")], "6x9xf32[m, n]",
                "%s = arith.addf %x0, %x1 : f32\n    %y = arith.maximumf %s, %zero : f32"),
        generic("%r0", "m n k", [("%h", "6x9xf32[m, k]"), ("%a3", "4x9xf32[n, k]")], "6x4xf32[m, n]",
                _MULTIPLY_ADD["f32"], reduced="k", init="0.0"),
        generic("%r1", "m n k", [("%h", "6x9xf32[k, m]"), ("%r0", "6x4xf32[k, n]")], "9x4xf32[m, n]",
                _MULTIPLY_ADD["f32"], reduced="k", init="0.0"),
    )
)  # fmt: skip


def _layer(x: np.ndarray, w: np.ndarray, b: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    hidden = np.maximum(x @ w + b, 0)
    return hidden @ v.T, hidden.T @ (hidden @ v.T)


CASES = (
    _named("matmul", ["9x13xf32", "13x5xf32"], "9x5xf32", 13, _matmul),
    _named("matmul", ["9x13xf64", "13x5xf64"], "9x5xf64", 13, _matmul),
    _named("matmul", ["9x13xi32", "13x5xi32"], "9x5xi32", 13, _matmul),
    _named("matmul", ["9x13xi8", "13x5xi8"], "9x5xi8", 13, _matmul),
    _named("batch_matmul", ["3x5x7xf32", "3x7x4xf32"], "3x5x4xf32", 7, _matmul),
    _named("batch_matmul", ["3x5x7xi64", "3x7x4xi64"], "3x5x4xi64", 7, _matmul),
    _named("matvec", ["9x13xf32", "13xf32"], "9xf32", 13, _matmul),
    _named("vecmat", ["13xf32", "13x9xf32"], "9xf32", 13, _matmul),
    _named("dot", ["29xf32", "29xf32"], "f32", 29, np.dot),
    _named("contract", ["3x7x5xf32", "7x4xf32"], "4x3x5xf32", 7, _einsum("bkm,kn->nbm"),
           ["(b, m, n, k) -> (b, k, m)", "(b, m, n, k) -> (k, n)", "(b, m, n, k) -> (n, b, m)"]),
    _matmul_with_maps("matmul-transposed-a", ["(m, n, k) -> (k, m)", _SECOND, _OUT], ["13x9xf32", "13x5xf32"],
                      _einsum("km,kn->mn")),
    _matmul_with_maps("matmul-transposed-b", [_FIRST, "(m, n, k) -> (n, k)", _OUT], ["9x13xf32", "5x13xf32"],
                      _einsum("mk,nk->mn")),
    _generic("sum-outermost", "k m n", "k", ["9x13xf32[m, k]", "13x5xf32[k, n]"], "9x5xf32[m, n]", 13, _matmul),
    _generic("sum-in-between", "n k m", "k", ["9x13xf32[m, k]", "13x5xf32[k, n]"], "9x5xf32[m, n]", 13, _matmul),
    _generic("transposed-result", "m n k", "k", ["9x13xf32[m, k]", "13x5xf32[k, n]"], "5x9xf32[n, m]", 13,
             _einsum("mk,kn->nm")),
    _generic("two-sums", "a d b c", "b c", ["5x3x7xf32[a, b, c]", "7x4x3xf32[c, d, b]"], "5x4xf32[a, d]", 21,
             _einsum("abc,cdb->ad")),
    _generic("batch-in-the-middle", "m h n k", "k", ["6x3x5xf32[m, h, k]", "4x3x5xf32[n, h, k]"], "3x6x4xf32[h, m, n]",
             5, _einsum("mhk,nhk->hmn")),
    _generic("batch-of-dots", "b k", "k", ["7x11xf32[b, k]", "7x11xf32[b, k]"], "7xf32[b]", 11, _einsum("bk,bk->b")),
    _generic("outer-product", "m n", "", ["9xf32[m]", "5xf32[n]"], "9x5xf32[m, n]", 1, np.outer),
    _generic("matrix-times-scalar-sum", "m k", "k", ["9x13xf32[m, k]", "f32[]"], "9xf32[m]", 13, _einsum("mk,->m")),
    _generic("bilinear-to-rank-0", "m k", "m k", ["9x13xf32[m, k]", "9x13xf32[m, k]"], "f32[]", 117, np.vdot),
    _generic("added-to-an-argument", "m n k", "k", ["9x13xf32[m, k]", "13x5xf32[k, n]"], "9x5xf32[m, n]", 14,
             lambda x, y, z: z + x @ y, init="%a2"),
    _generic("longer-than-tiles", "m n k", "k", ["2x300xf32[m, k]", "300x3xf32[k, n]"], "2x3xf32[m, n]", 300, _matmul),
    _generic("i1-or-of-ands", "m n k", "k", ["9x13xi1[m, k]", "13x5xi1[k, n]"], "9x5xi1[m, n]", 0, _matmul),
    _generic("i32-generic", "k n m", "k", ["13x9xi32[k, m]", "13x5xi32[k, n]"], "9x5xi32[m, n]", 0,
             _einsum("km,kn->mn")),
    _generic("f64-generic", "m n k", "k", ["9x13xf64[m, k]", "5x13xf64[n, k]"], "9x5xf64[m, n]", 13,
             _einsum("mk,nk->mn")),
    Case("layers", function(["6x10xf32", "10x9xf32", "9xf32", "4x9xf32"], ["6x4xf32", "9x4xf32"], _LAYER),
         some("6x10xf32", "10x9xf32", "9xf32", "4x9xf32"), _layer, 25),
)  # fmt: skip
