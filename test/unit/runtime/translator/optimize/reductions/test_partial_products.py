"""Sums of products of which one factor stands still in some summed loops."""

import re

import numpy as np
import pytest

RNG = np.random.default_rng(23)
NUMPY = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i8": np.int8}


def ints(*shape: int, kind: str = "f32") -> np.ndarray:
    """Small whole numbers: every sum is exact in every order."""
    return RNG.integers(-4, 5, shape).astype(NUMPY[kind])


def memref(shape: tuple[int, ...], kind: str = "f32") -> str:
    return f"memref<{'x'.join(map(str, (*shape, kind)))}>"


def program(
    maps: tuple[str, str, str],
    extents: int,
    summed: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]],
    kind: str = "f32",
    init: str = "0",
) -> str:
    """``o = init + sum of a * b``, over loops d0, d1, ... of which ``summed`` names those that are summed."""
    loops = ", ".join(f"d{i}" for i in range(extents))
    affine = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in maps)
    kinds = ", ".join('"reduction"' if f"d{i}" in summed.split() else '"parallel"' for i in range(extents))
    letter = kind[0]
    a, b, o = (memref(shape, kind) for shape in shapes)
    number = f"{init}.0" if letter == "f" else init
    return f"""func.func @main(%a: {a}, %b: {b}) -> {o} {{
      %c = arith.constant {number} : {kind}
      %o = memref.alloc() : {o}
      linalg.fill ins(%c : {kind}) outs(%o : {o})
      linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}} ins(%a, %b : {a}, {b}) outs(%o : {o}) {{
      ^bb0(%x: {kind}, %y: {kind}, %z: {kind}):
        %0 = arith.mul{letter} %x, %y : {kind}
        %1 = arith.add{letter} %z, %0 : {kind}
        linalg.yield %1 : {kind}
      }}
      return %o : {o}
    }}"""


def calls(source: str) -> list[str]:
    """The functions that a run calls, in order, without copies."""
    found = re.findall(r"^ +([\w.]+)\(", source.split("def main")[1], re.MULTILINE)
    return [call for call in found if call != "copyto"]


POOLED = (("d0, d3, d1, d4, d5", "d5, d2", "d0, d1, d2"), 6, "d3 d4 d5", ((3, 2, 5, 2, 7), (7, 4), (3, 5, 4)))
FORMS = {
    "the first factor alone": (*POOLED, "iujvk,kf->ijf"),
    "the second factor alone": (
        ("d3, d2", "d0, d4, d1, d3", "d0, d1, d2"),
        5,
        "d3 d4",
        ((7, 4), (3, 2, 5, 7), (3, 5, 4)),
        "kf,iujk->ijf",
    ),
    "each factor": (
        ("d0, d2, d3", "d4, d3, d1", "d0, d1"),
        5,
        "d2 d3 d4",
        ((3, 2, 7), (5, 7, 4), (3, 4)),
        "iuk,vkf->if",
    ),
    "a batch": (
        ("d0, d1, d3, d4", "d0, d4, d2", "d0, d1, d2"),
        5,
        "d3 d4",
        ((2, 3, 5, 7), (2, 7, 4), (2, 3, 4)),
        "biuk,bkf->bif",
    ),
    "a batch that lies inside": (
        ("d1, d3, d4, d0", "d4, d0, d2", "d1, d0, d2"),
        5,
        "d3 d4",
        ((3, 5, 7, 2), (7, 2, 4), (3, 2, 4)),
        "iukb,kbf->ibf",
    ),
    "a vector": (("d0, d1, d2", "d2", "d0"), 3, "d1 d2", ((3, 5, 7), (7,), (3,)), "iuk,k->i"),
    "everything summed": (("d0, d1", "d1", ""), 2, "d0 d1", ((5, 7), (7,), ()), "uk,k->"),
    "another order in the result": (
        ("d0, d3, d1, d4", "d4, d2", "d2, d1, d0"),
        5,
        "d3 d4",
        ((3, 2, 5, 7), (7, 4), (4, 5, 3)),
        "iujk,kf->fji",
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("kind", "init"), [("f32", "0"), ("f64", "2"), ("i32", "3"), ("i8", "0")])
def test_products_are_summed_afterwards(form, kind, init, run, engine):
    maps, loops, summed, shapes, equation = FORMS[form]
    text = program(maps, loops, summed, shapes, kind, init)
    a, b = ints(*shapes[0], kind=kind), ints(*shapes[1], kind=kind)
    want = np.einsum(equation, a.astype(np.int64), b.astype(np.int64)) + int(init)
    np.testing.assert_array_equal(run(text, a, b)[0], want.astype(NUMPY[kind]))
    source = engine(text).source
    assert "multiply(" not in source and "_terms" not in source
    assert calls(source)[0] in ("dot", "matmul")


def test_one_product_and_one_sum(engine):
    """Pixels in pairs share the weights: the rows of the product are all pixels, summed over both pairs at once."""
    source = engine(program(*POOLED)).source
    assert calls(source) == ["dot", "matmul"]  # the second with ones
    assert "_products" in source and "(60, 4)" in source


def test_windows_that_overlap(run, engine):
    """The gradient of an image that was doubled before a convolution: weights meet pixels 2y and 2y + 1, and others."""
    maps = ("d0 * 2 + d3 + d5, d1 * 2 + d4 + d6, d7", "d5, d6, d2, d7", "d3, d4", "d0, d1, d2")
    loops = ", ".join(f"d{i}" for i in range(8))
    affine = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in maps)
    kinds = ", ".join(['"parallel"'] * 3 + ['"reduction"'] * 5)
    text = f"""func.func @main(%a: memref<10x8x3xf32>, %b: memref<3x3x4x3xf32>) -> memref<4x3x4xf32> {{
      %c = arith.constant 0.0 : f32
      %o = memref.alloc() : memref<4x3x4xf32>
      %pair = memref.alloc() : memref<2x2xf32>
      linalg.fill ins(%c : f32) outs(%o : memref<4x3x4xf32>)
      linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}
          ins(%a, %b, %pair : memref<10x8x3xf32>, memref<3x3x4x3xf32>, memref<2x2xf32>)
          outs(%o : memref<4x3x4xf32>) {{
      ^bb0(%x: f32, %y: f32, %unused: f32, %z: f32):
        %0 = arith.mulf %x, %y : f32
        %1 = arith.addf %z, %0 : f32
        linalg.yield %1 : f32
      }}
      return %o : memref<4x3x4xf32>
    }}"""
    image, weights = ints(10, 8, 3), ints(3, 3, 4, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (0, 1))
    near = np.einsum("yxkij,ijck->yxc", windows, weights)
    np.testing.assert_array_equal(run(text, image, weights)[0], near.reshape(4, 2, 3, 2, 4).sum((1, 3)))
    assert calls(engine(text).source) == ["dot", "matmul"]  # the second with ones


@pytest.mark.parametrize(
    ("maps", "loops", "summed", "shapes", "equation"),
    [
        (("d0, d1", "d0, d2", "d0"), 3, "d1 d2", ((4, 5), (4, 7), (4,)), "bi,bj->b"),
        (("d1, d2, d0", "d2, d0", "d0"), 3, "d1 d2", ((5, 7, 64), (7, 64), (64,)), "ukb,kb->b"),
    ],
    ids=["no shared loop", "vectors that lie interleaved"],
)
def test_sums_that_are_multiplied_out(maps, loops, summed, shapes, equation, run, engine):
    text = program(maps, loops, summed, shapes)
    a, b = ints(*shapes[0]), ints(*shapes[1])
    np.testing.assert_array_equal(run(text, a, b)[0], np.einsum(equation, a, b))
    assert "multiply(" in engine(text).source
