"""What a vertex computes: loops, indexing maps, views, bodies."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipu_mlir.runtime.per_tile.program import compute_set
from ipu_mlir.runtime.per_tile.vertices import library
from ipu_mlir.runtime.per_tile.vertices.vertex_plan import Limits

F32 = np.float32
Run = Callable[..., list[Any]]
Text = Callable[..., str]

ADD = """linalg.add ins(%x, %x : memref<3x4xf32, #rows12>, memref<3x4xf32, #rows12>)
                    outs(%y : memref<3x4xf32, #rows12>)"""
ROWS = "[[2, 3, 1], [4, 4, 0]], 0"
WHOLE = "[[3, 3, 0], [4, 4, 0]], 0"


@pytest.fixture(autouse=True, params=[(1 << 22, 1 << 10), (1 << 22, 0), (2, 1 << 10), (1, 0)])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program in one piece and in many, with folds and step by step: the results must not change."""
    piece, fold = request.param
    monkeypatch.setattr(compute_set, "LIMITS", Limits(piece, fold))


def _array(*shape: int) -> Any:
    return np.arange(np.prod(shape), dtype=F32).reshape(shape) + 1


def test_ragged_rows_are_added_on_their_own_tiles(run: Run, vertices: Text) -> None:
    result = run(
        f"""func.func @main(%x: memref<3x4xf32, #rows12>) -> memref<3x4xf32, #rows12> {{
        %y = memref.alloc() : memref<3x4xf32, #rows12>
        {vertices(ADD, ROWS)}
        return %y : memref<3x4xf32, #rows12> }}""",
        _array(3, 4),
    )
    np.testing.assert_array_equal(result[0], 2 * _array(3, 4))
    assert result[0].dtype == F32


def test_a_sum_starts_from_what_its_output_holds(run: Run, vertices: Text) -> None:
    fill = "linalg.fill ins(%c : f32) outs(%y : memref<3xf32, #rows3>)"
    total = """linalg.reduce {arith.addf} ins(%x : memref<3x4xf32, #rows12>) outs(%y : memref<3xf32, #rows3>)
               dimensions = [1]"""
    result = run(
        f"""func.func @main(%x: memref<3x4xf32, #rows12>) -> memref<3xf32, #rows3> {{
        %y = memref.alloc() : memref<3xf32, #rows3>
        %c = arith.constant 100.0 : f32
        {vertices(fill, "[[2, 3, 1]], 0")}
        {vertices(total, ROWS)}
        return %y : memref<3xf32, #rows3> }}""",
        _array(3, 4),
    )
    np.testing.assert_array_equal(result[0], 100 + _array(3, 4).sum(axis=1))


def test_a_reduction_runs_in_the_order_of_its_loop(run: Run, vertices: Text) -> None:
    """acc * 2 + x gives every order of the elements another value."""
    body = """linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
              iterator_types = ["parallel", "reduction"]}
              ins(%x : memref<3x4xi32, #tile0_12>) outs(%y : memref<3xi32, #tile0_3>) {
              ^bb0(%in: i32, %acc: i32):
                %two = arith.constant 2 : i32
                %0 = arith.muli %acc, %two : i32
                %1 = arith.addi %0, %in : i32
                linalg.yield %1 : i32 }"""
    fill = "linalg.fill ins(%c : i32) outs(%y : memref<3xi32, #tile0_3>)"
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    result = run(
        f"""func.func @main(%x: memref<3x4xi32, #tile0_12>) -> memref<3xi32, #tile0_3> {{
        %y = memref.alloc() : memref<3xi32, #tile0_3>
        %c = arith.constant 0 : i32
        {vertices(fill, "[[3, 3, 0]], 0")}
        {vertices(body, WHOLE)}
        return %y : memref<3xi32, #tile0_3> }}""",
        x,
    )
    np.testing.assert_array_equal(result[0], x @ np.array([8, 4, 2, 1]))


def test_a_float_sum_rounds_after_each_step(run: Run, vertices: Text) -> None:
    """1 is lost beside 2**24 unless it is added to another 1 first."""
    total = """linalg.reduce {arith.addf} ins(%x : memref<4xf32, #tile0_4>) outs(%y : memref<f32, #one>)
               dimensions = [0]"""
    result = run(
        f"""func.func @main(%x: memref<4xf32, #tile0_4>) -> memref<f32, #one> {{
        %y = memref.alloc() : memref<f32, #one>
        %c = arith.constant 0.0 : f32
        {vertices("linalg.fill ins(%c : f32) outs(%y : memref<f32, #one>)", "[], 0")}
        {vertices(total, "[[4, 4, 0]], 0")}
        return %y : memref<f32, #one> }}""",
        np.array([2**24, 1, 1, -(2**24)], F32),
    )
    assert result[0].shape == ()
    assert result[0] == 0


def test_argmax_has_two_results_and_uses_its_index(run: Run, vertices: Text) -> None:
    argmax = """linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
              affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
              ins(%x : memref<3x4xf32, #rows12>) outs(%v, %p : memref<3xf32, #rows3>, memref<3xindex, #rows3>) {
              ^bb0(%in: f32, %best: f32, %at: index):
                %j = linalg.index 1 : index
                %more = arith.cmpf ogt, %in, %best : f32
                %0 = arith.select %more, %in, %best : f32
                %1 = arith.select %more, %j, %at : index
                linalg.yield %0, %1 : f32, index }"""
    fills = (
        "linalg.fill ins(%low : f32) outs(%v : memref<3xf32, #rows3>)",
        "[[2, 3, 1]], 0",
        "linalg.fill ins(%zero : index) outs(%p : memref<3xindex, #rows3>)",
        "[[2, 3, 1]], 0",
    )
    x = np.random.default_rng(0).permutation(12).astype(F32).reshape(3, 4)
    values, places = run(
        f"""func.func @main(%x: memref<3x4xf32, #rows12>) -> (memref<3xf32, #rows3>, memref<3xindex, #rows3>) {{
        %v = memref.alloc() : memref<3xf32, #rows3>
        %p = memref.alloc() : memref<3xindex, #rows3>
        %low = arith.constant 0xFF800000 : f32
        %zero = arith.constant 0 : index
        {vertices(*fills)}
        {vertices(argmax, ROWS)}
        return %v, %p : memref<3xf32, #rows3>, memref<3xindex, #rows3> }}""",
        x,
    )
    np.testing.assert_array_equal(values, x.max(axis=1))
    np.testing.assert_array_equal(places, x.argmax(axis=1))


def test_index_is_global_also_on_later_tiles(run: Run, vertices: Text) -> None:
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              outs(%y : memref<4xindex, #home4>) {
              ^bb0(%out: index):
                %i = linalg.index 0 : index
                linalg.yield %i : index }"""
    result = run(
        f"""func.func @main() -> memref<4xindex, #home4> {{
        %y = memref.alloc() : memref<4xindex, #home4>
        {vertices(body, "[[1, 4, 1]], 0")}
        return %y : memref<4xindex, #home4> }}"""
    )
    np.testing.assert_array_equal(result[0], np.arange(4))


def test_affine_maps_of_every_kind_are_followed(run: Run, vertices: Text) -> None:
    """A transposed operand, a constant row, and sums with floordiv and mod."""
    body = """linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (2, i)>,
              affine_map<(i, j) -> ((i + 1) floordiv 2, (i * 2 + j) mod 4)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "parallel"]}
              ins(%x, %x, %x : memref<3x4xi32, #tile0_12>, memref<3x4xi32, #tile0_12>, memref<3x4xi32, #tile0_12>)
              outs(%y : memref<4x3xi32, #tile0_12>) {
              ^bb0(%a: i32, %b: i32, %c: i32, %out: i32):
                %k = arith.constant 100 : i32
                %0 = arith.muli %b, %k : i32
                %1 = arith.addi %a, %0 : i32
                %2 = arith.muli %1, %k : i32
                %3 = arith.addi %2, %c : i32
                linalg.yield %3 : i32 }"""
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    result = run(
        f"""func.func @main(%x: memref<3x4xi32, #tile0_12>) -> memref<4x3xi32, #tile0_12> {{
        %y = memref.alloc() : memref<4x3xi32, #tile0_12>
        {vertices(body, "[[4, 4, 0], [3, 3, 0]], 0")}
        return %y : memref<4x3xi32, #tile0_12> }}""",
        x,
    )
    expected = [
        [100 * (x[j, i] + 100 * x[2, i]) + x[(i + 1) // 2, (2 * i + j) % 4] for j in range(3)] for i in range(4)
    ]
    np.testing.assert_array_equal(result[0], expected)


def test_partial_sums_of_a_split_reduction_have_an_index_of_their_own(run: Run, vertices: Text) -> None:
    """One vertex runs both halves of the reduction and writes each to its own element."""
    body = """linalg.generic {indexing_maps = [affine_map<(k) -> (k)>, affine_map<(k) -> (k floordiv 3)>],
              iterator_types = ["reduction"]}
              ins(%x : memref<4xf32, #tile0_4>) outs(%y : memref<2xf32, #two>) {
              ^bb0(%in: f32, %acc: f32):
                %0 = arith.addf %acc, %in : f32
                linalg.yield %0 : f32 }"""
    text = f"""func.func @main(%x: memref<4xf32, #tile0_4>) -> memref<2xf32, #two> {{
        %y = memref.alloc() : memref<2xf32, #two>
        %c = arith.constant 0.0 : f32
        {vertices("linalg.fill ins(%c : f32) outs(%y : memref<2xf32, #two>)", "[[2, 2, 0]], 0")}
        {vertices(body, "[[4, 4, 0]], 0")}
        return %y : memref<2xf32, #two> }}"""
    result = run(text.replace("#two", "#ipu.mapping<2, [[2, 2, 1, 0]], 0, 0>"), np.array([1, 2, 3, 4], F32))
    np.testing.assert_array_equal(result[0], [6, 4])


def test_a_window_reads_its_halo(run: Run, vertices: Text) -> None:
    pool = """linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>,
              affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
              ins(%h, %w : memref<6xf32, #halo>, memref<3xf32, #win>) outs(%y : memref<4xf32, #pairs>) {
              ^bb0(%in: f32, %unused: f32, %acc: f32):
                %0 = arith.maximumf %acc, %in : f32
                linalg.yield %0 : f32 }"""
    text = f"""func.func @main(%x: memref<6xf32, #even>) -> memref<4xf32, #pairs> {{
        %h = memref.alloc() : memref<6xf32, #halo>
        "ipu.exchange"(%x, %h) : (memref<6xf32, #even>, memref<6xf32, #halo>) -> ()
        %w = memref.alloc() : memref<3xf32, #win>
        %y = memref.alloc() : memref<4xf32, #pairs>
        %c = arith.constant 0xFF800000 : f32
        {vertices("linalg.fill ins(%c : f32) outs(%y : memref<4xf32, #pairs>)", "[[2, 4, 1]], 0")}
        {vertices(pool, "[[2, 4, 1], [3, 3, 0]], 0")}
        return %y : memref<4xf32, #pairs> }}"""
    for alias, mapping in {
        "#halo": "#ipu.mapping<6, [[2, 4, 1, 1], [3, 3, 1, 0]], 0, 0>",
        "#even": "#ipu.mapping<6, [[2, 6, 1, 1]], 0, 0>",
        "#win": "#ipu.mapping<3, [[3, 3, 1, 0], [1, 2, 0, 1]], 0, 0>",
        "#pairs": "#ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>",
    }.items():
        text = text.replace(alias, mapping)
    x = np.array([5, 1, 4, 2, 9, 3], F32)
    np.testing.assert_array_equal(run(text, x)[0], [5, 4, 9, 9])


def test_views_show_elements_of_their_allocation(run: Run, vertices: Text) -> None:
    """The odd columns of x, collapsed x and an expanded result, all on one tile."""
    view = "memref<3x2xf32, strided<[4, 2], offset: 1>, #tile0_12>"
    first = view.replace(", offset: 1", "")
    whole = "memref<3x4xf32, #tile0_12>"
    copy = f"linalg.copy ins(%odd : {view}) outs(%even : {first})"
    flat = "linalg.exp ins(%flat : memref<12xf32, #tile0_12>) outs(%wide : memref<12xf32, #tile0_12>)"
    result = run(
        f"""func.func @main(%x: {whole}) -> ({whole}, memref<2x6xf32, #tile0_12>) {{
        %y = memref.alloc() : memref<3x4xf32, #tile0_12>
        %wide = memref.alloc() : memref<12xf32, #tile0_12>
        {vertices("linalg.copy ins(%x : memref<3x4xf32, #tile0_12>) outs(%y : memref<3x4xf32, #tile0_12>)", WHOLE)}
        %odd = memref.subview %x[0, 1] [3, 2] [1, 2] : memref<3x4xf32, #tile0_12> to {view}
        %even = memref.subview %y[0, 0] [3, 2] [1, 2] : {whole} to {first}
        {vertices(copy, "[[3, 3, 0], [2, 2, 0]], 0")}
        %flat = memref.collapse_shape %x [[0, 1]] : memref<3x4xf32, #tile0_12> into memref<12xf32, #tile0_12>
        {vertices(flat, "[[12, 12, 0]], 0")}
        %back = memref.expand_shape %wide [[0, 1]] output_shape [2, 6]
            : memref<12xf32, #tile0_12> into memref<2x6xf32, #tile0_12>
        return %y, %back : memref<3x4xf32, #tile0_12>, memref<2x6xf32, #tile0_12> }}""".replace(", offset: 0", ""),
        _array(3, 4),
    )
    expected = _array(3, 4)
    expected[:, ::2] = expected[:, 1::2]
    np.testing.assert_array_equal(result[0], expected)
    np.testing.assert_array_equal(result[1], np.exp(_array(3, 4)).reshape(2, 6))


def test_scalars_and_constants_reach_bodies(run: Run, vertices: Text) -> None:
    """A rank-0 operand on every tile, a captured scalar computed outside, a constant buffer."""
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]}
              ins(%s, %c : memref<f32, #on_each4>, memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>) {
              ^bb0(%a: f32, %b: f32, %out: f32):
                %0 = arith.mulf %a, %b : f32
                %1 = arith.addf %0, %sum : f32
                linalg.yield %1 : f32 }"""
    result = run(
        f"""memref.global "private" constant @weights : memref<4xf32, #home4> = dense<[1.0, 2.0, 3.0, 4.0]>
        func.func @main(%x: memref<f32, #one>) -> memref<4xf32, #home4> {{
        %s = memref.alloc() : memref<f32, #on_each4>
        "ipu.exchange"(%x, %s) : (memref<f32, #one>, memref<f32, #on_each4>) -> ()
        %c = memref.get_global @weights : memref<4xf32, #home4>
        %half = arith.constant 0.5 : f32
        %sum = arith.addf %half, %half : f32
        %y = memref.alloc() : memref<4xf32, #home4>
        {vertices(body, "[[1, 4, 1]], 0")}
        return %y : memref<4xf32, #home4> }}""",
        np.array(10, F32),
    )
    np.testing.assert_array_equal(result[0], [11, 21, 31, 41])


def test_a_body_may_load_at_computed_indices(run: Run, vertices: Text) -> None:
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"]}
              ins(%at : memref<4xindex, #home4>) outs(%y : memref<4xf32, #home4>) {
              ^bb0(%i: index, %out: f32):
                %0 = memref.load %table[%i] : memref<4xf32, #all4>
                linalg.yield %0 : f32 }"""
    result = run(
        f"""func.func @main(%table: memref<4xf32, #all4>, %at: memref<4xindex, #home4>) -> memref<4xf32, #home4> {{
        %y = memref.alloc() : memref<4xf32, #home4>
        {vertices(body, "[[1, 4, 1]], 0")}
        return %y : memref<4xf32, #home4> }}""",
        np.array([10, 11, 12, 13], F32),
        np.array([3, 0, 0, 2]),
    )
    np.testing.assert_array_equal(result[0], [13, 10, 10, 12])


def test_integers_wrap_around(run: Run, vertices: Text) -> None:
    square = (
        """linalg.mul ins(%x, %x : memref<4xi32, #home4>, memref<4xi32, #home4>) outs(%y : memref<4xi32, #home4>)"""
    )
    x = np.array([2**16 + 1, -(2**31), 2**31 - 1, 7], np.int32)
    result = run(
        f"""func.func @main(%x: memref<4xi32, #home4>) -> memref<4xi32, #home4> {{
        %y = memref.alloc() : memref<4xi32, #home4>
        {vertices(square, "[[1, 4, 1]], 0")}
        return %y : memref<4xi32, #home4> }}""",
        x,
    )
    np.testing.assert_array_equal(result[0], [2**17 + 1, 0, 1, 49])


def test_an_element_may_be_updated_in_place(run: Run, vertices: Text) -> None:
    twice = """linalg.add ins(%y, %y : memref<4xf32, #home4>, memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>)"""
    result = run(
        f"""func.func @main(%x: memref<4xf32, #home4>) -> memref<4xf32, #home4> {{
        %y = memref.alloc() : memref<4xf32, #home4>
        {vertices("linalg.copy ins(%x : memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>)", "[[1, 4, 1]], 0")}
        {vertices(twice, "[[1, 4, 1]], 0")}
        return %y : memref<4xf32, #home4> }}""",
        _array(4),
    )
    np.testing.assert_array_equal(result[0], 2 * _array(4))


def test_a_library_codelet_gets_the_boxes_of_its_vertex(run: Run, vertices: Text) -> None:
    sort = """linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
              iterator_types = ["parallel", "reduction"], library_call = "sort"}
              ins(%x : memref<3x4xf32, #rows12>) outs(%y : memref<3x4xf32, #rows12>) {
              ^bb0(%in: f32, %out: f32):
                linalg.yield %in : f32 }"""
    x = np.random.default_rng(1).permutation(12).astype(F32).reshape(3, 4)
    result = run(
        f"""func.func @main(%x: memref<3x4xf32, #rows12>) -> memref<3x4xf32, #rows12> {{
        %y = memref.alloc() : memref<3x4xf32, #rows12>
        {vertices(sort, ROWS)}
        return %y : memref<3x4xf32, #rows12> }}""",
        x,
    )
    np.testing.assert_array_equal(result[0], np.sort(x, axis=1))


def test_a_library_codelet_that_updates_gets_what_its_output_held(
    run: Run, vertices: Text, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The body uses the output's argument in one case, and not in the other."""
    codelet = SimpleNamespace(knows_places=False, per_tile=lambda *operands: (sum(operands),))
    monkeypatch.setattr(library, "codelet_named", lambda name: codelet)
    call = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
              iterator_types = ["parallel"], library_call = "sort"}
              ins(%x : memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>) {
              ^bb0(%in: f32, %out: f32):
                linalg.yield %YIELDED : f32 }"""
    copy = "linalg.copy ins(%x : memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>)"
    for yielded, factor in (("in", 1), ("out", 2)):
        result = run(
            f"""func.func @main(%x: memref<4xf32, #home4>) -> memref<4xf32, #home4> {{
            %y = memref.alloc() : memref<4xf32, #home4>
            {vertices(copy, "[[1, 4, 1]], 0")}
            {vertices(call.replace("YIELDED", yielded), "[[1, 4, 1]], 0")}
            return %y : memref<4xf32, #home4> }}""",
            _array(4),
        )
        np.testing.assert_array_equal(result[0], factor * _array(4))


def test_matmul_agrees_with_numpy_in_all_its_parts(run: Run, vertices: Text) -> None:
    """Parts of rows and columns on 2 x 2 tiles, both operands replicated along the other axis."""
    product = (
        """linalg.matmul ins(%xs, %ws : memref<5x7xf32, #xs>, memref<7x6xf32, #ws>) outs(%y : memref<5x6xf32, #y>)"""
    )
    text = f"""func.func @main(%x: memref<5x7xf32, #hx>, %w: memref<7x6xf32, #hw>) -> memref<5x6xf32, #y> {{
        %xs = memref.alloc() : memref<5x7xf32, #xs>
        %ws = memref.alloc() : memref<7x6xf32, #ws>
        "ipu.exchange"(%x, %xs) : (memref<5x7xf32, #hx>, memref<5x7xf32, #xs>) -> ()
        "ipu.exchange"(%w, %ws) : (memref<7x6xf32, #hw>, memref<7x6xf32, #ws>) -> ()
        %y = memref.alloc() : memref<5x6xf32, #y>
        %c = arith.constant 0.0 : f32
        {vertices("linalg.fill ins(%c : f32) outs(%y : memref<5x6xf32, #y>)", "[[3, 5, 2], [3, 6, 1]], 0")}
        {vertices(product, "[[3, 5, 2], [3, 6, 1], [7, 7, 0]], 0")}
        return %y : memref<5x6xf32, #y> }}"""
    for alias, mapping in {
        "#xs": "#ipu.mapping<35, [[3, 5, 7, 2], [7, 7, 1, 0], [1, 2, 0, 1]], 0, 0>",
        "#ws": "#ipu.mapping<42, [[7, 7, 6, 0], [3, 6, 1, 1], [1, 2, 0, 2]], 0, 0>",
        "#y": "#ipu.mapping<30, [[3, 5, 6, 2], [3, 6, 1, 1]], 0, 0>",
        "#hx": "#ipu.mapping<35, [[9, 35, 1, 1]], 0, 0>",
        "#hw": "#ipu.mapping<42, [[11, 42, 1, 1]], 0, 0>",
    }.items():
        text = text.replace(alias, mapping)
    rng = np.random.default_rng(2)
    x, w = rng.standard_normal((5, 7), F32), rng.standard_normal((7, 6), F32)
    np.testing.assert_allclose(run(text, x, w)[0], x @ w, rtol=1e-5, atol=1e-5)


def test_unsigned_arrays_are_the_bits_of_integers(run: Run, vertices: Text) -> None:
    """What a front end has as ui32 is i32 in the IR."""
    add = "linalg.add ins(%x, %x : memref<4xi32, #home4>, memref<4xi32, #home4>) outs(%y : memref<4xi32, #home4>)"
    found = run(
        f"""func.func @main(%x: memref<4xi32, #home4>) -> memref<4xi32, #home4> {{
        %y = memref.alloc() : memref<4xi32, #home4>
        {vertices(add, "[[1, 4, 1]], 0")}
        return %y : memref<4xi32, #home4> }}""",
        np.array([1, 2**31, 2**32 - 1, 0], np.uint32),
    )
    np.testing.assert_array_equal(found[0], np.array([2, 0, -2, 0], np.int32))
