"""Random loop nests on random parts, against plain Python loops over every iteration."""

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor


@dataclass(frozen=True)
class Nest:
    """``y[parallel] = 3 * y[parallel] + x[indices] * (first loop + 1)``, wrapping around in i32.

    Attributes:
        extents: of the loops.
        blocks: of the loops; a reduction loop has one block.
        parallel: which loops are.
        indices: per dimension of x, a coefficient per loop and a constant.
    """

    extents: tuple[int, ...]
    blocks: tuple[int, ...]
    parallel: tuple[bool, ...]
    indices: tuple[tuple[tuple[int, ...], int], ...]

    @property
    def kept(self) -> list[int]:
        return [loop for loop, parallel in enumerate(self.parallel) if parallel]

    @property
    def in_shape(self) -> tuple[int, ...]:
        """x is as large as the largest index needs; a dimension per loop of its own fixes the loops' extents."""
        reached = [
            sum(c * (e - 1) for c, e in zip(coefficients, self.extents, strict=True)) + constant + 1
            for coefficients, constant in self.indices
        ]
        return (*self.extents, *reached)

    @property
    def out_shape(self) -> tuple[int, ...]:
        return tuple(self.extents[loop] for loop in self.kept)

    def num_blocks(self, loop: int) -> int:
        return -(-self.extents[loop] // self.blocks[loop])

    def tile_steps(self) -> list[int]:
        """Parts lie on consecutive tiles, the last loop fastest."""
        return [
            prod(self.num_blocks(inner) for inner in range(loop + 1, len(self.extents)))
            for loop in range(len(self.extents))
        ]


@st.composite
def nests(draw: st.DrawFn) -> Nest:
    loops = draw(st.integers(1, 3))
    extents = tuple(draw(st.integers(1, 4)) for _ in range(loops))
    parallel = tuple(draw(st.booleans()) for _ in range(loops))
    blocks = tuple(draw(st.integers(1, e)) if kept else e for e, kept in zip(extents, parallel, strict=True))
    index = st.tuples(st.tuples(*[st.integers(0, 2)] * loops), st.integers(0, 2))
    return Nest(extents, blocks, parallel, tuple(draw(st.lists(index, max_size=2))))


def _text(nest: Nest) -> str:
    loops, steps = range(len(nest.extents)), nest.tile_steps()
    tiles = prod(nest.num_blocks(loop) for loop in loops)
    size = prod(nest.in_shape)
    everywhere = f"#ipu.mapping<{size}, [[{size}, {size}, 1, 0], [1, {tiles}, 0, 1]], 0, 0>"
    strides = [prod(nest.out_shape[place + 1 :]) for place in range(len(nest.kept))]
    home_loops = ", ".join(
        f"[{nest.blocks[loop]}, {nest.extents[loop]}, {stride}, {steps[loop]}]"
        for loop, stride in zip(nest.kept, strides, strict=True)
    )
    x = "x".join(map(str, (*nest.in_shape, "i32")))
    y = "x".join(map(str, (*nest.out_shape, "i32")))
    source, home = (
        f"memref<{x}, {everywhere}>",
        f"memref<{y}, #ipu.mapping<{prod(nest.out_shape)}, [{home_loops}], 0, 0>>",
    )
    names = [f"d{loop}" for loop in loops]
    sums = [
        " + ".join([*(f"{name} * {c}" for name, c in zip(names, coefficients, strict=True)), str(constant)])
        for coefficients, constant in nest.indices
    ]
    read = f"affine_map<({', '.join(names)}) -> ({', '.join([*names, *sums])})>"
    write = f"affine_map<({', '.join(names)}) -> ({', '.join(names[loop] for loop in nest.kept)})>"
    kinds = ", ".join('"parallel"' if kept else '"reduction"' for kept in nest.parallel)
    parts = ", ".join(f"[{b}, {e}, {s}]" for b, e, s in zip(nest.blocks, nest.extents, steps, strict=True))
    out_maps = f"affine_map<({', '.join(names[: len(nest.kept)])}) -> ({', '.join(names[: len(nest.kept)])})>"
    out_parts = ", ".join(f"[{nest.blocks[loop]}, {nest.extents[loop]}, {steps[loop]}]" for loop in nest.kept)
    out_kinds = ", ".join(['"parallel"'] * len(nest.kept))
    return f"""func.func @main(%x: {source}) -> {home} {{
      %y = memref.alloc() : {home}
      "ipu.compute_set"() ({{ "ipu.vertices"() ({{
        linalg.generic {{indexing_maps = [{out_maps}], iterator_types = [{out_kinds}]}} outs(%y : {home}) {{
        ^bb0(%out: i32):
          %one = arith.constant 1 : i32
          linalg.yield %one : i32
        }} }}) {{codelet = "fill", parts = #ipu.parts<[{out_parts}], 0>}} : () -> () }}) : () -> ()
      "ipu.compute_set"() ({{ "ipu.vertices"() ({{
        linalg.generic {{indexing_maps = [{read}, {write}], iterator_types = [{kinds}]}}
            ins(%x : {source}) outs(%y : {home}) {{
        ^bb0(%in: i32, %acc: i32):
          %one = arith.constant 1 : i32
          %three = arith.constant 3 : i32
          %i = linalg.index 0 : index
          %number = arith.index_cast %i : index to i32
          %weight = arith.addi %number, %one : i32
          %0 = arith.muli %in, %weight : i32
          %1 = arith.muli %acc, %three : i32
          %2 = arith.addi %1, %0 : i32
          linalg.yield %2 : i32
        }} }}) {{codelet = "test", parts = #ipu.parts<[{parts}], 0>}} : () -> () }}) : () -> ()
      return %y : {home} }}"""


def _expected(nest: Nest, x: Any) -> Any:
    found = np.ones(nest.out_shape, np.int32)
    with np.errstate(over="ignore"):
        for place in product(*map(range, nest.extents)):
            index = [sum(c * i for c, i in zip(cs, place, strict=True)) + constant for cs, constant in nest.indices]
            out = tuple(place[loop] for loop in nest.kept)
            found[out] = found[out] * np.int32(3) + x[(*place, *index)] * np.int32(place[0] + 1)
    return found


@settings(max_examples=40, deadline=None)
@given(nests(), st.integers(0, 100))
def test_a_nest_computes_what_its_loops_say(nest: Nest, seed: int) -> None:
    x = np.random.default_rng(seed).integers(-(2**31), 2**31, nest.in_shape).astype(np.int32)
    with ipu.context():
        result = PerTileExecutor(ir.Module.parse(_text(nest))).run([x])[0]
    np.testing.assert_array_equal(result, _expected(nest, x))
