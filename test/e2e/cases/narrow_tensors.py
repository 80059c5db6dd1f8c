"""Tensors of bf16 and the f8 types: products, sums, extremes and poolings of them, constants, and what moves them."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.case import Case
from support.narrow_numbers import NARROW, SIGNED, WIDE, narrowed, some_narrow
from support.tensor_text import function, generic, one_generic, short_type


def _matmul(left: str, right: str, out: str) -> Case:
    """Rows of 40 products, whose sum is rounded once."""
    dtype = WIDE.get(out) or NARROW[out]
    body = (
        f"  %zero = arith.constant 0.0 : {out}\n  %empty = tensor.empty() : tensor<12x24x{out}>\n"
        f"  %start = linalg.fill ins(%zero : {out}) outs(%empty : tensor<12x24x{out}>) -> tensor<12x24x{out}>\n"
        f"  %r0 = linalg.matmul ins(%a0, %a1 : tensor<12x40x{left}>, tensor<40x24x{right}>)\n"
        f"      outs(%start : tensor<12x24x{out}>) -> tensor<12x24x{out}>"
    )
    text = function([f"12x40x{left}", f"40x24x{right}"], [f"12x24x{out}"], body)

    def numpy(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32).astype(dtype)

    inputs = some_narrow(left, 12, 40), some_narrow(right, 40, 24)
    return Case(f"matmul-{left}-{right}-{out}", text, inputs, numpy, sum_length=40)


def _reduction(element: str, combine: str, start: str, numpy: Callable[..., Any]) -> Case:
    text = one_generic(
        "i j", [f"7x19x{element}[i, j]"], f"7x{element}[i]", f"{combine} %acc, %x0 : {element}", reduced="j", init=start
    )

    def expected(x: np.ndarray) -> np.ndarray:
        return narrowed(element, numpy(x.astype(np.float64), axis=1))

    is_sum = combine == "arith.addf"
    return Case(f"{combine}-over-{element}", text, (some_narrow(element, 7, 19),), expected, 19 if is_sum else 0)


def _max_pool(element: str) -> Case:
    loops = ["8x6x3x{e}[i * 2 + k, j * 2 + l, c]".replace("{e}", element), f"2x2x{element}[k, l]"]
    body = f"arith.maximumf %acc, %x0 : {element}"
    text = one_generic("i j c k l", loops, f"4x3x3x{element}[i, j, c]", body, reduced="k l", init="0.25")

    def expected(x: np.ndarray, _: np.ndarray) -> np.ndarray:
        return narrowed(element, x.astype(np.float32).reshape(4, 2, 3, 2, 3).max(axis=(1, 3)))

    return Case(f"max-pool-{element}", text, (some_narrow(element, 8, 6, 3), some_narrow(element, 2, 2)), expected)


def _constants(elements: Sequence[str]) -> Case:
    """A dense one in text, one in raw data, a splat and a scalar, all added."""
    lines, results, expected = [], [], []
    for number, element in enumerate(elements):
        dtype, tensor = NARROW[element], short_type((4,), element)
        data = np.array([1, 2, 4, 0.5]).astype(dtype)
        lines += [
            f"  %t{number} = arith.constant dense<[1.0, 0.5, 2.0, 4.0]> : tensor<{tensor}>",
            f'  %d{number} = arith.constant dense<"0x{data.tobytes().hex().upper()}"> : tensor<{tensor}>',
            f"  %s{number} = arith.constant dense<2.0> : tensor<{tensor}>",
            f"  %p{number} = arith.addf %t{number}, %d{number} : tensor<{tensor}>",
            f"  %q{number} = arith.mulf %p{number}, %s{number} : tensor<{tensor}>",
            f"  %c{number} = arith.constant 2.0 : {element}",
            generic(
                f"%r{number}",
                "i",
                [(f"%q{number}", f"{tensor}[i]"), ("%a0", "4xi1[i]")],
                f"{tensor}[i]",
                f"arith.select %x1, %x0, %c{number} : {element}",
            ),
        ]
        results.append(tensor)
        total = narrowed(element, np.float32([1, 0.5, 2, 4]) + data.astype(np.float32)).astype(np.float32) * 2
        expected.append(np.where([True, False, True, True], narrowed(element, total), np.array(2).astype(dtype)))
    text = function(["4xi1"], results, "\n".join(lines))
    return Case("constants-of-narrow-floats", text, (np.array([True, False, True, True]),), lambda _: tuple(expected))


def _moved(element: str) -> Case:
    """A transpose, a slice and a padding."""
    body = (
        f"  %empty = tensor.empty() : tensor<9x7x{element}>\n"
        f"  %t = linalg.transpose ins(%a0 : tensor<7x9x{element}>) outs(%empty : tensor<9x7x{element}>)"
        f" permutation = [1, 0]\n"
        f"  %s = tensor.extract_slice %t[2, 1] [5, 4] [1, 1] : tensor<9x7x{element}> to tensor<5x4x{element}>\n"
        f"  %c = arith.constant 0.5 : {element}\n"
        f"  %r0 = tensor.pad %s low[1, 0] high[0, 2] {{\n  ^bb0(%i: index, %j: index):\n"
        f"    tensor.yield %c : {element}\n  }} : tensor<5x4x{element}> to tensor<6x6x{element}>"
    )

    def numpy(x: np.ndarray) -> np.ndarray:
        padded = np.full((6, 6), 0.5, np.float32).astype(x.dtype)
        padded[1:, :4] = x.T[2:7, 1:5]
        return padded

    text = function([f"7x9x{element}"], [f"6x6x{element}"], body)
    return Case(f"moved-{element}", text, (some_narrow(element, 7, 9),), numpy)


CASES = (
    *(_matmul(element, element, "f32") for element in NARROW),
    _matmul("f8E4M3FN", "f8E4M3FN", "f16"),
    _matmul("f8E5M2", "f8E5M2", "f8E5M2"),
    _matmul("f8E4M3FN", "f8E5M2", "f32"),
    _matmul("f8E4M3FNUZ", "bf16", "bf16"),
    *(_reduction(element, "arith.addf", "0.0", np.sum) for element in ("bf16", "f8E4M3FN", "f8E5M2FNUZ")),
    *(_reduction(element, "arith.maximumf", "0.25", np.max) for element in SIGNED),
    *(_max_pool(element) for element in ("bf16", "f8E4M3FN", "f8E4M3B11FNUZ")),
    _constants(SIGNED),
    *(_moved(element) for element in ("bf16", "f8E5M2")),
)
