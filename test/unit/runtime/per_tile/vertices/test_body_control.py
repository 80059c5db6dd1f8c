"""Control flow, checks and loads in bodies: every iteration goes its own way."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.per_tile.program import compute_set
from ipu_mlir.runtime.per_tile.scalar.errors import RaceError
from ipu_mlir.runtime.per_tile.vertices.vertex_plan import Limits

Run = Callable[..., list[Any]]
Text = Callable[..., str]
I32 = np.int32
X = np.array([3, 0, 2, 5], I32)
WHOLE = "[[4, 4, 0]], 0"
TILE0 = "memref<4xi32, #tile0_4>"
CONSTANTS = """%c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %n0 = arith.constant 0 : i32
        %n1 = arith.constant 1 : i32
        %n2 = arith.constant 2 : i32
        %n100 = arith.constant 100 : i32"""


@pytest.fixture(autouse=True, params=[1 << 22, 2])
def _sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every vertex in one piece and in many."""
    monkeypatch.setattr(compute_set, "LIMITS", Limits(request.param))


@pytest.fixture
def mapped(run: Run, vertices: Text) -> Callable[..., Any]:
    """``mapped(body, x)`` is ``y[i] = body(x[i])`` on tile 0; the body names them %in and %r, and i %i."""

    def result(body: str, x: Any = X) -> Any:
        op = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
            iterator_types = ["parallel"]}} ins(%x : {TILE0}) outs(%y : {TILE0}) {{
            ^bb0(%in: i32, %out: i32):
              %i = linalg.index 0 : index
              {body}
              linalg.yield %r : i32 }}"""
        text = f"""func.func @main(%x: {TILE0}) -> {TILE0} {{
            {CONSTANTS}
            %y = memref.alloc() : {TILE0}
            {vertices(op, WHOLE)}
            return %y : {TILE0} }}"""
        return run(text, x)[0].tolist()

    return result


def test_a_guarded_load_happens_where_its_guard_holds(mapped: Callable[..., Any]) -> None:
    """The element before, where there is one."""
    load = """%j = arith.subi %i, %c1 : index
        %v = memref.load %x[%j] : memref<4xi32, #tile0_4>"""
    guarded = f"""%has = arith.cmpi ne, %i, %c0 : index
        %r = scf.if %has -> (i32) {{
          {load}
          scf.yield %v : i32
        }} else {{
          scf.yield %n100 : i32
        }}"""
    assert mapped(guarded) == [100, 3, 0, 2]
    assert mapped(f"{load}\n%r = arith.addi %v, %n0 : i32") == [3, 3, 0, 2]  # without it, at the nearest place


def test_ifs_nest(mapped: Callable[..., Any]) -> None:
    body = """%low = arith.cmpi slt, %in, %n2 : i32
        %r = scf.if %low -> (i32) {
          scf.yield %n0 : i32
        } else {
          %two = arith.cmpi eq, %in, %n2 : i32
          %0 = scf.if %two -> (i32) {
            scf.yield %n1 : i32
          } else {
            %1 = arith.muli %in, %n100 : i32
            scf.yield %1 : i32
          }
          scf.yield %0 : i32
        }"""
    assert mapped(body) == [300, 0, 1, 500]


def test_a_loop_has_bounds_of_its_own_in_every_iteration(mapped: Callable[..., Any]) -> None:
    """The sum of 0 .. x-1."""
    body = """%r = scf.for %k = %n0 to %in step %n1 iter_args(%s = %n0) -> (i32) : i32 {
          %0 = arith.addi %s, %k : i32
          scf.yield %0 : i32
        }"""
    assert mapped(body) == [3, 0, 1, 10]


def test_a_step_that_is_not_positive(mapped: Callable[..., Any]) -> None:
    body = """%r = scf.for %k = %n0 to %n2 step %in iter_args(%s = %n0) -> (i32) : i32 {
          scf.yield %s : i32
        }"""
    with pytest.raises(RunError, match="step of 0; it must be positive"):
        mapped(body)


def test_a_while_loop_ends_for_each_iteration_by_itself(mapped: Callable[..., Any]) -> None:
    """Double until 100 is passed; how often, in the hundreds that it yields."""
    body = """%start = arith.addi %in, %n1 : i32
        %v, %r = scf.while (%a = %start, %k = %n0) : (i32, i32) -> (i32, i32) {
          %go = arith.cmpi slt, %a, %n100 : i32
          scf.condition(%go) %a, %k : i32, i32
        } do {
        ^bb0(%a: i32, %k: i32):
          %0 = arith.addi %a, %a : i32
          %1 = arith.addi %k, %n1 : i32
          scf.yield %0, %1 : i32, i32
        }"""
    assert mapped(body) == [5, 7, 6, 5]


def test_a_switch_takes_one_case_per_iteration(mapped: Callable[..., Any]) -> None:
    body = """%s = arith.index_cast %in : i32 to index
        %r = scf.index_switch %s -> i32
        case 0 { scf.yield %n1 : i32 }
        case 3 { scf.yield %n2 : i32 }
        default { scf.yield %n100 : i32 }"""
    assert mapped(body) == [2, 1, 100, 100]


def test_affine_operations_count(mapped: Callable[..., Any]) -> None:
    body = """%a = affine.apply affine_map<(d0)[s0] -> (d0 * 10 + s0 floordiv 2)>(%i)[%i]
        %b = affine.min affine_map<(d0) -> (d0, 21)>(%a)
        %m = affine.max affine_map<(d0) -> (d0, 5)>(%b)
        %r = arith.index_cast %m : index to i32"""
    assert mapped(body) == [5, 10, 21, 21]


def test_an_assertion_holds_for_the_iterations_that_come_by(mapped: Callable[..., Any]) -> None:
    check = """%ok = arith.cmpi ne, %in, %n0 : i32
        cf.assert %ok, "zero has no reciprocal" """
    with pytest.raises(RunError, match=r"-:\d+:\d+: zero has no reciprocal"):
        mapped(f"{check}\n%r = arith.addi %in, %n0 : i32")
    assert mapped(f"{check}\n%r = arith.addi %in, %n0 : i32", X + 1) == [4, 1, 3, 6]
    guarded = f"""%big = arith.cmpi sgt, %in, %n1 : i32
        scf.if %big {{
          {check}
        }}
        %r = arith.addi %in, %n0 : i32"""
    assert mapped(guarded) == X.tolist()


@pytest.mark.parametrize("value", [0, 1])
def test_an_op_without_outputs_only_checks(run: Run, vertices: Text, value: int) -> None:
    op = """linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%x : memref<4xi32, #home4>) {
        ^bb0(%in: i32):
          %ok = arith.cmpi ne, %in, %n0 : i32
          cf.assert %ok, "an element is zero"
          linalg.yield }"""
    text = f"""func.func @main(%x: memref<4xi32, #home4>) -> memref<4xi32, #home4> {{
        {CONSTANTS}
        {vertices(op, "[[1, 4, 1]], 0")}
        return %x : memref<4xi32, #home4> }}"""
    x = np.array([1, 2, value, 4], I32)
    if value:
        assert run(text, x)[0].tolist() == x.tolist()
    else:
        with pytest.raises(RunError, match="an element is zero"):
            run(text, x)


def _updated(vertices: Text, index: str) -> str:
    """``y[i] = y[j] + 100`` in place, on tile 0, for i = 0 and 1; ``index`` makes %j of %i."""
    op = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
        iterator_types = ["parallel"]}} ins(%part : memref<2xi32, strided<[1]>, #tile0_4>)
        outs(%part : memref<2xi32, strided<[1]>, #tile0_4>) {{
        ^bb0(%in: i32, %out: i32):
          %i = linalg.index 0 : index
          {index}
          %v = memref.load %y[%j] : {TILE0}
          %r = arith.addi %v, %n100 : i32
          linalg.yield %r : i32 }}"""
    return f"""func.func @main(%x: {TILE0}) -> {TILE0} {{
        {CONSTANTS}
        %y = memref.alloc() : {TILE0}
        {vertices(f"linalg.copy ins(%x : {TILE0}) outs(%y : {TILE0})", WHOLE)}
        %part = memref.subview %y[0] [2] [1] : {TILE0} to memref<2xi32, strided<[1]>, #tile0_4>
        {vertices(op, "[[2, 2, 0]], 0")}
        return %y : {TILE0} }}"""


def test_a_load_may_see_the_element_that_its_iteration_writes(run: Run, vertices: Text) -> None:
    found = run(_updated(vertices, "%j = arith.addi %i, %c0 : index"), X)[0]
    assert found.tolist() == [103, 100, 2, 5]


def test_a_load_may_see_elements_that_no_iteration_writes(run: Run, vertices: Text) -> None:
    found = run(_updated(vertices, "%j = arith.addi %i, %c2 : index"), X)[0]
    assert found.tolist() == [102, 105, 2, 5]


def test_a_load_of_what_another_iteration_writes(run: Run, vertices: Text) -> None:
    with pytest.raises(RaceError, match="loads from it what another iteration writes"):
        run(_updated(vertices, "%j = arith.subi %c1, %i : index"), X)


def test_a_reduction_that_loads_its_own_result(run: Run, vertices: Text) -> None:
    """The load would see a sum that is not complete."""
    op = f"""linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
        iterator_types = ["reduction"]}} ins(%x : {TILE0}) outs(%s : memref<i32, #one>) {{
        ^bb0(%in: i32, %out: i32):
          %v = memref.load %s[] : memref<i32, #one>
          %0 = arith.addi %v, %in : i32
          %r = arith.addi %out, %0 : i32
          linalg.yield %r : i32 }}"""
    text = f"""func.func @main(%x: {TILE0}) -> memref<i32, #one> {{
        {CONSTANTS}
        %s = memref.alloc() : memref<i32, #one>
        {vertices("linalg.fill ins(%n0 : i32) outs(%s : memref<i32, #one>)", "[], 0")}
        {vertices(op, WHOLE)}
        return %s : memref<i32, #one> }}"""
    with pytest.raises(RaceError, match="loads from it what another iteration writes"):
        run(text, X)
