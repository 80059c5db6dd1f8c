"""What the executor refuses: each program breaks one rule of the machine."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.per_tile.scalar.errors import IncoherentError, LocalityError, RaceError, UnwrittenError

Run = Callable[..., list[Any]]
Text = Callable[..., str]
X = np.array([1, 2, 3, 4], np.float32)
PARTS = "[[1, 4, 1]], 0"


def copy(source: str, dest: str, mapping: str = "#home4") -> str:
    return f"linalg.copy ins({source} : memref<4xf32, {mapping}>) outs({dest} : memref<4xf32, {mapping}>)"


def main(body: str, result: str = "%y", mapping: str = "#home4") -> str:
    return f"""func.func @main(%x: memref<4xf32, #home4>) -> memref<4xf32, {mapping}> {{
        %y = memref.alloc() : memref<4xf32, #home4>
        {body}
        return {result} : memref<4xf32, {mapping}> }}"""


def test_a_vertex_that_reads_a_remote_tile(run: Run, vertices: Text) -> None:
    reverse = """linalg.generic {indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%x : memref<4xf32, #home4>) outs(%y : memref<4xf32, #home4>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32 }"""
    with pytest.raises(LocalityError, match=r"tile 0 reads element 3 of %arg0, which lies on tile 3"):
        run(main(vertices(reverse, PARTS)), X)


def test_a_vertex_that_writes_a_remote_tile(run: Run, vertices: Text) -> None:
    fill = "linalg.fill ins(%c : f32) outs(%y : memref<4xf32, #home4>)"
    body = f"%c = arith.constant 1.0 : f32\n{vertices(fill, '[[2, 4, 1]], 0')}"
    with pytest.raises(LocalityError, match="tile 0 writes element 1"):
        run(main(body), X)


def test_vertices_that_swap_their_tiles(run: Run, vertices: Text) -> None:
    with pytest.raises(LocalityError, match="tile 3 reads element 0"):
        run(main(vertices(copy("%x", "%y"), "[[1, 4, -1]], 3")), X)


def test_an_element_that_nothing_wrote(run: Run, vertices: Text) -> None:
    body = f"%z = memref.alloc() : memref<4xf32, #home4>\n{vertices(copy('%z', '%y'), PARTS)}"
    with pytest.raises(UnwrittenError, match="tile 0 reads element 0 of"):
        run(main(body), X)
    assert np.isnan(run(main(body), X, strict=False)[0]).all()


def test_a_result_that_nothing_wrote(run: Run) -> None:
    with pytest.raises(UnwrittenError, match="element 0 of the result"):
        run(main(""), X)
    assert np.isnan(run(main(""), X, strict=False)[0]).all()


def test_integers_that_nothing_wrote_are_poison(run: Run) -> None:
    text = main("").replace("f32", "i32")
    assert run(text, X.astype(np.int32), strict=False)[0].view(np.uint32).tolist() == [0xA5A5A5A5] * 4


def test_an_exchange_that_was_lost(run: Run, vertices: Text) -> None:
    body = f"""%z = memref.alloc() : memref<4xf32, #tile0_4>
        %r = memref.alloc() : memref<4xf32, #tile0_4>
        EXCHANGE
        {vertices(copy("%z", "%r", "#tile0_4"), "[[4, 4, 0]], 0")}"""
    exchange = '"ipu.exchange"(%x, %z) : (memref<4xf32, #home4>, memref<4xf32, #tile0_4>) -> ()'
    np.testing.assert_array_equal(run(main(body.replace("EXCHANGE", exchange), "%r", "#tile0_4"), X)[0], X)
    lost = main(body.replace("EXCHANGE", ""), "%r", "#tile0_4")
    with pytest.raises(UnwrittenError):
        run(lost, X)
    assert np.isnan(run(lost, X, strict=False)[0]).all()


def test_parts_that_do_not_cover_the_loops(run: Run, vertices: Text) -> None:
    with pytest.raises(RunError, match=r"parts are for loops of \[3\], but the op's loops run \[4\]"):
        run(main(vertices(copy("%x", "%y"), "[[1, 3, 1]], 0")), X)


def test_parts_on_a_tile_that_the_target_does_not_have(run: Run, vertices: Text) -> None:
    fill = "linalg.fill ins(%c : f32) outs(%y : memref<4xf32, #home4>)"
    body = f"%c = arith.constant 1.0 : f32\n{vertices(fill, '[[1, 4, 1]], 1')}"
    with pytest.raises(RunError, match="tile 1 writes element 0"):
        run(main(body), X)
    with pytest.raises(RunError, match="needs tile 3, but the target has tiles 0 to 2"):
        run(main(body), X, tiles=3)


def test_two_families_that_write_one_element(run: Run, vertices: Text) -> None:
    with pytest.raises(RaceError, match=r"writes element 0 of .* on tile 0, which the vertex at .* writes"):
        run(main(vertices(copy("%x", "%y"), PARTS, copy("%x", "%y"), PARTS)), X)


@pytest.mark.parametrize("writer_first", [True, False])
def test_a_family_that_reads_what_another_writes(run: Run, vertices: Text, writer_first: bool) -> None:
    writer, reader = (copy("%x", "%y"), PARTS), (copy("%y", "%z"), PARTS)
    order = (*writer, *reader) if writer_first else (*reader, *writer)
    body = f"%z = memref.alloc() : memref<4xf32, #home4>\n{vertices(copy('%x', '%y'), PARTS)}\n{vertices(*order)}"
    with pytest.raises(RaceError, match="in the same compute set"):
        run(main(body, "%z"), X)


def test_two_families_may_read_one_element(run: Run, vertices: Text) -> None:
    body = f"""%z = memref.alloc() : memref<4xf32, #home4>
        {vertices(copy("%x", "%y"), PARTS, copy("%x", "%z"), PARTS)}"""
    np.testing.assert_array_equal(run(main(body, "%z"), X)[0], X)


def test_a_vertex_that_reads_what_another_of_its_iterations_writes(run: Run, vertices: Text) -> None:
    shift = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]} ins(%from : memref<2xf32, strided<[1]>, #tile0_4>)
        outs(%to : memref<2xf32, strided<[1], offset: 1>, #tile0_4>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32 }"""
    body = f"""%z = memref.alloc() : memref<4xf32, #tile0_4>
        "ipu.exchange"(%x, %z) : (memref<4xf32, #home4>, memref<4xf32, #tile0_4>) -> ()
        %from = memref.subview %z[0] [2] [1] : memref<4xf32, #tile0_4> to memref<2xf32, strided<[1]>, #tile0_4>
        %to = memref.subview %z[1] [2] [1] : memref<4xf32, #tile0_4> to memref<2xf32, strided<[1], offset: 1>, #tile0_4>
        {vertices(shift, "[[2, 2, 0]], 0")}"""
    with pytest.raises(RaceError, match="reads it in another iteration"):
        run(main(body, "%z", "#tile0_4"), X)


def test_parallel_iterations_that_write_one_element(run: Run, vertices: Text) -> None:
    collide = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i floordiv 2)>],
        iterator_types = ["parallel"]} ins(%z : memref<4xf32, #tile0_4>) outs(%r : memref<4xf32, #tile0_4>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32 }"""
    body = f"""%z = memref.alloc() : memref<4xf32, #tile0_4>
        %r = memref.alloc() : memref<4xf32, #tile0_4>
        "ipu.exchange"(%x, %z) : (memref<4xf32, #home4>, memref<4xf32, #tile0_4>) -> ()
        {vertices(collide, "[[4, 4, 0]], 0")}"""
    with pytest.raises(RaceError, match="parallel iterations of the vertex on tile 0"):
        run(main(body, "%r", "#tile0_4"), X)


def test_an_argument_that_is_written(run: Run, vertices: Text) -> None:
    body = f"%z = memref.alloc() : memref<4xf32, #home4>\n{vertices(copy('%x', '%y'), PARTS)}"
    with pytest.raises(RunError, match="an argument or a constant"):
        run(main(body + vertices(copy("%y", "%x"), PARTS)), X)
    exchange = '"ipu.exchange"(%y, %x) : (memref<4xf32, #home4>, memref<4xf32, #home4>) -> ()'
    with pytest.raises(RunError, match="the exchange writes %arg0, an argument"):
        run(main(body + exchange), X)


def test_replicas_that_differ(run: Run, vertices: Text) -> None:
    """Each tile fills its own copy of a scalar with its index."""
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (0)>],
        iterator_types = ["reduction"]} ins(%x : memref<4xf32, #home4>) outs(%s : memref<1xf32, #on_each4>) {
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32 }"""
    text = f"""func.func @main(%x: memref<4xf32, #home4>) -> memref<1xf32, #on_each4> {{
        %s = memref.alloc() : memref<1xf32, #on_each4>
        {vertices(body, PARTS)}
        return %s : memref<1xf32, #on_each4> }}"""
    with pytest.raises(IncoherentError, match=r"element 0 of .* is 1.0 on tile 0 and 2.0 on tile 1"):
        run(text, X)


def test_a_load_outside_its_buffer_reads_the_nearest_element(run: Run, vertices: Text) -> None:
    """Which has to be on the tile as any other."""
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%y : memref<4xf32, #home4>) {
        ^bb0(%out: f32):
          %far = arith.constant 4 : index
          %0 = memref.load %x[%far] : memref<4xf32, #home4>
          linalg.yield %0 : f32 }"""
    with pytest.raises(LocalityError, match="tile 0 reads element 3 of %arg0"):
        run(main(vertices(body, PARTS)), X)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ((), "takes 1 input, got 0"),
        ((X[:3],), r"input 0 is float32 \(3,\), expected float32 \(4,\)"),
        ((X.astype(np.float64),), "input 0 is float64"),
    ],
)
def test_inputs_that_do_not_fit(run: Run, vertices: Text, inputs: tuple[Any, ...], message: str) -> None:
    with pytest.raises(RunError, match=message):
        run(main(vertices(copy("%x", "%y"), PARTS)), *inputs)


def test_a_buffer_whose_mapping_is_for_another_size(run: Run) -> None:
    with pytest.raises(CompileError, match="has 4 elements, but its mapping is for 3"):
        run(main("", "%x").replace("%y = memref.alloc() : memref<4xf32, #home4>", ALLOC), X)


ALLOC = "%y = memref.alloc() : memref<4xf32, #rows3>"


def test_a_buffer_without_a_mapping(run: Run) -> None:
    with pytest.raises(CompileError, match="lies on no tile"):
        run(main("%z = memref.alloc() : memref<4xf32>", "%x"), X)


def test_all_unsupported_operations_are_listed(run: Run, vertices: Text) -> None:
    body = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        outs(%y : memref<4xf32, #home4>) {
        ^bb0(%out: f32):
          %i = linalg.index 0 : index
          %0 = affine.load %x[0] : memref<4xf32, #home4>
          linalg.yield %0 : f32 }"""
    text = main(f"memref.dealloc %y : memref<4xf32, #home4>\n{vertices(body, PARTS)}")
    with pytest.raises(CompileError) as refused:
        run(text, X)
    listed = str(refused.value).splitlines()[1:]
    assert [line.split(": ")[1] for line in listed] == ["memref.dealloc", "affine.load in the body of linalg.generic"]
    assert all(line.strip().startswith("-:") for line in listed)


def test_types_and_codelets_that_are_unknown_are_listed(run: Run, vertices: Text) -> None:
    shuffle = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"],
        library_call = "shuffle"} outs(%y : memref<4xf32, #home4>) {
        ^bb0(%out: f32):
          linalg.yield %out : f32 }"""
    text = main(f"%z = memref.alloc() : memref<4xtf32, #home4>\n{vertices(shuffle, PARTS)}")
    with pytest.raises(CompileError, match="has no element type tf32") as refused:
        run(text, X)
    assert "no library codelet is called 'shuffle'" in str(refused.value)


def test_an_entry_that_does_not_exist(executor: Callable[..., Any]) -> None:
    with pytest.raises(CompileError, match="no function 'main' with a body of one block; there are: other"):
        executor("func.func @other() { return }")


def test_an_entry_that_takes_or_gives_bare_scalars(executor: Callable[..., Any]) -> None:
    with pytest.raises(CompileError, match="%arg0 is a f32; make it a memref of rank 0"):
        executor("func.func @main(%x: f32) { return }")
    with pytest.raises(CompileError, match="is a i1; make it a memref"):
        executor("func.func @main() -> i1 {\n %t = arith.constant true\n return %t : i1 }")
