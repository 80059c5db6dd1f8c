"""Control flow of functions: loops, branches and calls with buffers and scalars going in and out."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.runtime.per_tile.executor import PerTileExecutor
from ipu_mlir.runtime.per_tile.scalar.errors import IncoherentError, RaceError, UnwrittenError

Run = Callable[..., list[Any]]
Text = Callable[..., str]
F32 = np.float32
X = np.array([1, 2, 3, 4], F32)
PARTS = "[[1, 4, 1]], 0"
HOME = "memref<4xf32, #home4>"
BOUNDS = """%c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c2 = arith.constant 2 : index
            %c3 = arith.constant 3 : index"""


def copy(source: str, dest: str) -> str:
    return f"linalg.copy ins({source} : {HOME}) outs({dest} : {HOME})"


def each(source: str, dest: str, body: str) -> str:
    """``dest[i] = body(source[i])``; the body names them %in and %r."""
    return f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}} ins({source} : {HOME}) outs({dest} : {HOME}) {{
        ^bb0(%in: f32, %out: f32):
          {body}
          linalg.yield %r : f32 }}"""


def scalar(dest: str, kind: str, body: str) -> str:
    """``dest[] = body()`` for a buffer of rank 0 on tile 0; the body names it %r."""
    return f"""linalg.generic {{indexing_maps = [affine_map<() -> ()>], iterator_types = []}}
        outs({dest} : memref<{kind}, #one>) {{
        ^bb0(%out: {kind}):
          {body}
          linalg.yield %r : {kind} }}"""


def main(body: str, results: str = "%y") -> str:
    kinds = ", ".join(HOME for _ in results.split(","))
    return f"""func.func @main(%x: {HOME}) -> ({kinds}) {{
        {BOUNDS}
        {body}
        return {results} : {kinds} }}"""


def test_a_loop_carries_a_buffer_and_a_scalar(run: Run, vertices: Text) -> None:
    """The scalar is 1, 3, 7 in the three iterations, the induction variable 0, 1, 2; both reach the vertices."""
    body = """%v = arith.index_cast %i : index to i32
        %f = arith.sitofp %v : i32 to f32
        %0 = arith.addf %in, %f : f32
        %r = arith.mulf %0, %s : f32"""
    text = main(
        f"""%one = arith.constant 1.0 : f32
        %y, %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %s = %one) -> ({HOME}, f32) {{
          %b = memref.alloc() : {HOME}
          {vertices(each("%a", "%b", body), PARTS)}
          %2 = arith.addf %s, %s : f32
          %3 = arith.addf %2, %one : f32
          scf.yield %b, %3 : {HOME}, f32
        }}"""
    )
    expected = ((X + 0) * 1 + 1) * 3
    np.testing.assert_array_equal(run(text, X)[0], (expected + 2) * 7)


def test_a_loop_without_iterations_hands_its_arguments_on(run: Run) -> None:
    text = main(
        f"""%y = scf.for %i = %c3 to %c3 step %c1 iter_args(%a = %x) -> ({HOME}) {{
          %b = memref.alloc() : {HOME}
          scf.yield %b : {HOME}
        }}"""
    )
    np.testing.assert_array_equal(run(text, X)[0], X)


def test_an_unsigned_loop_compares_without_sign(run: Run, vertices: Text) -> None:
    """From -1 to 2 there is no iteration: -1 is the largest number."""
    text = main(
        f"""%far = arith.constant -1 : index
        %y = scf.for unsigned %i = %far to %c2 step %c1 iter_args(%a = %x) -> ({HOME}) {{
          %b = memref.alloc() : {HOME}
          scf.yield %b : {HOME}
        }}"""
    )
    np.testing.assert_array_equal(run(text, X)[0], X)


def test_a_step_that_is_not_positive(run: Run) -> None:
    with pytest.raises(RunError, match="step of 0; it must be positive"):
        run(main("scf.for %i = %c0 to %c3 step %c0 { }", "%x"), X)


def test_buffers_that_change_places_from_iteration_to_iteration(run: Run, vertices: Text) -> None:
    double = each("%a", "%b", "%r = arith.addf %in, %in : f32")
    text = main(
        f"""%p = memref.alloc() : {HOME}
        %q = memref.alloc() : {HOME}
        {vertices(copy("%x", "%p"), PARTS)}
        %y, %z = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %p, %b = %q) -> ({HOME}, {HOME}) {{
          {vertices(double, PARTS)}
          scf.yield %b, %a : {HOME}, {HOME}
        }}""",
        "%y, %z",
    )
    found = run(text, X)
    np.testing.assert_array_equal(found[0], 8 * X)
    np.testing.assert_array_equal(found[1], 4 * X)


def test_plans_that_are_kept_are_for_the_same_buffers_only(run: Run, vertices: Text) -> None:
    """From its third iteration on, the loop reads what it writes."""
    tile0 = HOME.replace("#home4", "#tile0_4")
    reverse = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}} ins(%a : {tile0}) outs(%b : {tile0}) {{
        ^bb0(%in: f32, %out: f32):
          linalg.yield %in : f32 }}"""
    text = f"""func.func @main(%x: {HOME}) -> {tile0} {{
        {BOUNDS}
        %p = memref.alloc() : {tile0}
        %q = memref.alloc() : {tile0}
        "ipu.exchange"(%x, %p) : ({HOME}, {tile0}) -> ()
        %y, %z, %w = scf.for %i = %c0 to %cN step %c1 iter_args(%a = %p, %b = %q, %c = %q)
            -> ({tile0}, {tile0}, {tile0}) {{
          {vertices(reverse, "[[4, 4, 0]], 0")}
          scf.yield %a, %c, %a : {tile0}, {tile0}, {tile0}
        }}
        return %q : {tile0} }}"""
    np.testing.assert_array_equal(run(text.replace("%cN", "%c2"), X)[0], X[::-1])
    with pytest.raises(RaceError, match="reads it in another iteration"):
        run(text.replace("%cN", "%c3"), X)


def test_every_iteration_allocates_anew(run: Run, executor: Callable[..., PerTileExecutor], vertices: Text) -> None:
    text = main(
        f"""%y = memref.alloc() : {HOME}
        {vertices(copy("%x", "%y"), PARTS)}
        scf.for %i = %c0 to %c3 step %c1 {{
          %b = memref.alloc() : {HOME}
          %first = arith.cmpi eq, %i, %c0 : index
          scf.if %first {{
            {vertices(copy("%x", "%b"), PARTS)}
          }}
          {vertices(copy("%b", "%y"), PARTS)}
        }}"""
    )
    with pytest.raises(UnwrittenError, match="tile 0 reads element 0"):
        run(text, X)
    assert np.isnan(run(text, X, strict=False)[0]).all()
    lenient = executor(text, strict=False)
    lenient.run([X])
    assert {tuple(step.per_tile.tolist()) for step in lenient.memory_held()[1:]} == {(12, 12, 12, 12)}


def test_a_while_loop_asks_a_scalar_on_a_tile(run: Run, vertices: Text) -> None:
    """Doubles until the first element, which control flow reads, is 100 or more."""
    is_small = f"""%v = memref.load %a[%c0] : {HOME}
        %r = arith.cmpf olt, %v, %limit : f32"""
    text = main(
        f"""%limit = arith.constant 100.0 : f32
        %y, %n = scf.while (%a = %x, %k = %c0) : ({HOME}, index) -> ({HOME}, index) {{
          %f = memref.alloc() : memref<i1, #one>
          {vertices(scalar("%f", "i1", is_small), "[], 0")}
          %go = "ipu.read_control"(%f) : (memref<i1, #one>) -> i1
          scf.condition(%go) %a, %k : {HOME}, index
        }} do {{
        ^bb0(%a: {HOME}, %k: index):
          %b = memref.alloc() : {HOME}
          {vertices(each("%a", "%b", "%r = arith.addf %in, %in : f32"), PARTS)}
          %k1 = arith.addi %k, %c1 : index
          scf.yield %b, %k1 : {HOME}, index
        }}
        %seven = arith.constant 7 : index
        %right = arith.cmpi eq, %n, %seven : index
        cf.assert %right, "seven doublings" """
    )
    np.testing.assert_array_equal(run(text, X)[0], 128 * X)


@pytest.mark.parametrize(("sign", "expected"), [("true", 2 * X), ("false", X * X)])
def test_an_if_has_results(run: Run, vertices: Text, sign: str, expected: Any) -> None:
    text = main(
        f"""%c = arith.constant {sign}
        %y = scf.if %c -> ({HOME}) {{
          %b = memref.alloc() : {HOME}
          {vertices(each("%x", "%b", "%r = arith.addf %in, %in : f32"), PARTS)}
          scf.yield %b : {HOME}
        }} else {{
          %b = memref.alloc() : {HOME}
          {vertices(each("%x", "%b", "%r = arith.mulf %in, %in : f32"), PARTS)}
          scf.yield %b : {HOME}
        }}"""
    )
    np.testing.assert_array_equal(run(text, X)[0], expected)


@pytest.mark.parametrize(("selector", "factor"), [("%c0", 10), ("%c2", 20), ("%c3", 30), ("%c1", 40)])
def test_an_index_switch_takes_one_case(run: Run, vertices: Text, selector: str, factor: int) -> None:
    text = main(
        f"""%f = scf.index_switch {selector} -> f32
        case 0 {{ %a = arith.constant 10.0 : f32
                 scf.yield %a : f32 }}
        case 2 {{ %a = arith.constant 20.0 : f32
                 scf.yield %a : f32 }}
        case 3 {{ %a = arith.constant 30.0 : f32
                 scf.yield %a : f32 }}
        default {{ %a = arith.constant 40.0 : f32
                  scf.yield %a : f32 }}
        %y = memref.alloc() : {HOME}
        {vertices(each("%x", "%y", "%r = arith.mulf %in, %f : f32"), PARTS)}"""
    )
    np.testing.assert_array_equal(run(text, X)[0], factor * X)


def test_a_function_is_called_twice(run: Run, vertices: Text) -> None:
    scaled = f"""func.func private @scaled(%a: {HOME}, %f: f32) -> {HOME} {{
        %b = memref.alloc() : {HOME}
        {vertices(each("%a", "%b", "%r = arith.mulf %in, %f : f32"), PARTS)}
        return %b : {HOME} }}"""
    text = main(
        f"""%two = arith.constant 2.0 : f32
        %three = arith.addf %two, %two : f32
        %a = func.call @scaled(%x, %two) : ({HOME}, f32) -> {HOME}
        %y = func.call @scaled(%a, %three) : ({HOME}, f32) -> {HOME}""",
        "%y, %a",
    )
    found = run(scaled + text, X)
    np.testing.assert_array_equal(found[0], 8 * X)
    np.testing.assert_array_equal(found[1], 2 * X)


def test_a_function_that_calls_itself(run: Run) -> None:
    recursive = f"""func.func private @again(%a: {HOME}) -> {HOME} {{
        %b = func.call @again(%a) : ({HOME}) -> {HOME}
        return %b : {HOME} }}"""
    with pytest.raises(RunError, match="@again calls itself"):
        run(recursive + main(f"%y = func.call @again(%x) : ({HOME}) -> {HOME}"), X)


def test_a_function_without_a_body_is_listed(run: Run) -> None:
    declared = f"func.func private @far({HOME}) -> {HOME}\n"
    with pytest.raises(CompileError, match=r"func.call of @far, which has no body of one block"):
        run(declared + main(f"%y = func.call @far(%x) : ({HOME}) -> {HOME}"), X)


def test_what_stands_in_blocks_is_listed_too(run: Run) -> None:
    body = f"""%t = arith.constant true
        scf.if %t {{
          %b = memref.alloca() : {HOME}
        }}"""
    with pytest.raises(CompileError, match=r"-:\d+:\d+: memref.alloca$"):
        run(main(body, "%x"), X)


def test_one_of_two_buffers_is_selected(run: Run, vertices: Text) -> None:
    text = main(
        f"""%a = memref.alloc() : {HOME}
        {vertices(each("%x", "%a", "%r = arith.negf %in : f32"), PARTS)}
        %f = arith.constant false
        %y = arith.select %f, %x, %a : {HOME}"""
    )
    np.testing.assert_array_equal(run(text, X)[0], -X)


CONTROL = """func.func @main(%s: memref<f32, #one>) -> memref<f32, #one> {
    %a = memref.alloc() : memref<f32, #on_each4>
    WRITE
    %v = "ipu.read_control"(%a) : (memref<f32, #on_each4>) -> f32
    %limit = arith.constant 1.5 : f32
    %small = arith.cmpf olt, %v, %limit : f32
    cf.assert %small, "too large: stop"
    return %s : memref<f32, #one> }"""
SEND = '"ipu.exchange"(%s, %a) : (memref<f32, #one>, memref<f32, #on_each4>) -> ()'
TILE_NUMBERS = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]} ins(%n : memref<4xf32, #home4>) outs(%a : memref<f32, #on_each4>) {
    ^bb0(%in: f32, %out: f32):
      %i = linalg.index 0 : index
      %k = arith.index_cast %i : index to i32
      %r = arith.sitofp %k : i32 to f32
      linalg.yield %r : f32 }"""


def test_control_flow_reads_what_all_tiles_agree_on(run: Run, vertices: Text) -> None:
    text = CONTROL.replace("WRITE", SEND)
    assert run(text, np.array(1, F32))[0] == 1
    with pytest.raises(RunError, match=r"-:\d+:\d+: too large: stop"):
        run(text, np.array(2, F32))
    disagree = "%n = memref.alloc() : memref<4xf32, #home4>\n" + vertices(TILE_NUMBERS, PARTS)
    with pytest.raises(IncoherentError, match=r"is 0\.0 on tile 0 and 1\.0 on tile 1"):
        run(CONTROL.replace("WRITE", disagree), np.array(1, F32))
    with pytest.raises(UnwrittenError, match="element 0 of the control scalar"):
        run(CONTROL.replace("WRITE", ""), np.array(1, F32))


def test_exchanges_in_loops_count_every_time(executor: Callable[..., PerTileExecutor]) -> None:
    make = executor(
        f"""func.func @main(%x: {HOME}) -> {HOME} {{
        {BOUNDS}
        scf.for %i = %c0 to %c3 step %c1 {{
          %a = memref.alloc() : memref<4xf32, #tile1_4>
          "ipu.exchange"(%x, %a) : ({HOME}, memref<4xf32, #tile1_4>) -> ()
        }}
        return %x : {HOME} }}"""
    )
    make.run([X])
    assert [traffic.received.tolist() for traffic in make.traffic] == [[0, 3, 0, 0]] * 3
    assert [step.per_tile.tolist() for step in make.memory_held()] == [[4, 20, 4, 4]] * 3
