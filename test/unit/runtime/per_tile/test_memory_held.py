"""Under control flow, too, every tile holds what the compiler reckons, and nothing longer than anyone needs it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ipu_mlir.dialects.memory.report import memory_report

Text = Callable[..., str]
HOME, ONE = "memref<4xf32, #home4>", "memref<4xf32, #tile0_4>"
X = np.arange(4, dtype=np.float32)
BOUNDS = "%c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c3 = arith.constant 3 : index"


def move(source: str, dest: str) -> str:
    """``dest`` becomes a buffer on tile 0 with the values of ``source``."""
    return f'{dest} = memref.alloc() : {ONE} "ipu.exchange"({source}, {dest}) : ({HOME}, {ONE}) -> ()\n'


def copy(source: str, dest: str) -> str:
    return f"""{dest} = memref.alloc() : {ONE}
    "ipu.compute_set"() ({{ "ipu.vertices"() ({{ linalg.copy ins({source} : {ONE}) outs({dest} : {ONE}) }})
    {{codelet = "copy_f32", parts = #ipu.parts<[[4, 4, 0]], 0>}} : () -> () }}) : () -> ()\n"""


PROGRAMS: dict[str, tuple[str, str, list[int]]] = {
    "straight": (move("%x", "%a") + copy("%a", "%b") + copy("%b", "%r"), "", [20, 36, 36]),
    "nothing-uses-it": (move("%x", "%a") + copy("%a", "%b") + move("%x", "%r"), "", [20, 36, 20]),
    "a-view-keeps-its-buffer": (
        move("%x", "%a")
        + f"%v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : {ONE} into memref<2x2xf32, #tile0_4>\n"
        + f"%w = memref.collapse_shape %v [[0, 1]] : memref<2x2xf32, #tile0_4> into {ONE}\n"
        + move("%x", "%b")
        + copy("%w", "%r"),
        "",
        [20, 36, 36],
    ),
    "used-in-a-loop": (
        move("%x", "%a")
        + f"scf.for %i = %c0 to %c3 step %c1 {{ {copy('%a', '%b')} {copy('%b', '%c')} }}\n"
        + move("%x", "%r"),
        "",
        [20, *[36, 52] * 3, 20],
    ),
    "moves-into-a-loop": (
        move("%x", "%a")
        + f"""%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%n = %a) -> ({ONE}) {{
          {copy("%n", "%b")} {copy("%b", "%c")} scf.yield %c : {ONE} }}\n""",
        "",
        [20, *[36, 36] * 3],
    ),
    "stays-outside-of-a-loop": (
        move("%x", "%a")
        + f"""%b = scf.for %i = %c0 to %c3 step %c1 iter_args(%n = %a) -> ({ONE}) {{
          {copy("%n", "%b")} scf.yield %b : {ONE} }}\n"""
        + copy("%b", "%c")
        + copy("%a", "%r"),
        "",
        [20, 36, 52, 52, 52, 36],
    ),
    "changes-places": (
        move("%x", "%a")
        + move("%x", "%b")
        + f"""%r, %q = scf.for %i = %c0 to %c3 step %c1 iter_args(%n = %a, %m = %b) -> ({ONE}, {ONE}) {{
          {copy("%n", "%c")} scf.yield %m, %c : {ONE}, {ONE} }}\n""",
        "",
        [20, 36, 52, 52, 52],
    ),
    "while": (
        move("%x", "%a")
        + f"""%r = scf.while (%n = %a) : ({ONE}) -> ({ONE}) {{
          %f = memref.alloc() : memref<i1, #one>
          "ipu.compute_set"() ({{ "ipu.vertices"() ({{
            linalg.generic {{indexing_maps = [affine_map<() -> ()>], iterator_types = []}}
            outs(%f : memref<i1, #one>) {{
              ^bb0(%o: i1):
              %at0 = arith.constant 0 : index
              %v = memref.load %n[%at0] : {ONE}
              %big = arith.constant 1.0 : f32
              %less = arith.cmpf olt, %v, %big : f32
              linalg.yield %less : i1 }} }}) {{codelet = "cmp", parts = #ipu.parts<[], 0>}} : () -> () }}) : () -> ()
          %go = "ipu.read_control"(%f) : (memref<i1, #one>) -> i1
          scf.condition(%go) %n : {ONE}
        }} do {{
        ^bb0(%n: {ONE}):
          %b = memref.alloc() : {ONE}
          "ipu.compute_set"() ({{ "ipu.vertices"() ({{
            linalg.exp ins(%n : {ONE}) outs(%b : {ONE})
          }}) {{codelet = "exp_f32", parts = #ipu.parts<[[4, 4, 0]], 0>}} : () -> () }}) : () -> ()
          scf.yield %b : {ONE}
        }}\n""",
        "",
        [20, 21, 21, 36, 21, 21],
    ),
    "call": (
        move("%x", "%a") + f"%r = func.call @twice(%a) : ({ONE}) -> {ONE}\n",
        f"func.func private @twice(%n: {ONE}) -> {ONE} {{ {copy('%n', '%b')} {copy('%b', '%c')} return %c : {ONE} }}",
        [20, 36, 36],
    ),
    "calls": (
        move("%x", "%a")
        + f"%b = func.call @twice(%a) : ({ONE}) -> {ONE} %c = func.call @twice(%a) : ({ONE}) -> {ONE}\n"
        + copy("%c", "%r"),
        f"func.func private @twice(%n: {ONE}) -> {ONE} {{ {copy('%n', '%b')} {copy('%b', '%c')} return %c : {ONE} }}",
        [20, 36, 52, 36, 36, 36],
    ),
    "constants-always-live": (
        move("%x", "%a") + f"%g = memref.get_global @g : {ONE}\n" + copy("%g", "%r"),
        f"memref.global constant @g : {ONE} = dense<1.0>\nmemref.global constant @unused : {ONE} = dense<2.0>",
        [36, 36],
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_step_holds_what_is_needed(program: str, executor: Callable[..., Any]) -> None:
    body, others, expected = PROGRAMS[program]
    make = executor(f"func.func @main(%x: {HOME}) -> {ONE} {{ {BOUNDS}\n{body} return %r : {ONE} }}\n{others}")
    make.run([X])
    assert [int(step.per_tile[0]) for step in make.memory_held()] == expected
    report = memory_report(make._module)
    held = np.max([step.per_tile for step in make.memory_held()], axis=0)
    np.testing.assert_array_equal(report.data_peak.dense(), held)


BRANCH = f"""
func.func @main(%x: {HOME}, %f: memref<i1, #one>) -> {ONE} {{
  {move("%x", "%a")}
  %c = "ipu.read_control"(%f) : (memref<i1, #one>) -> i1
  %r = scf.if %c -> ({ONE}) {{
    {copy("%a", "%b")}
    scf.yield %b : {ONE}
  }} else {{
    {copy("%a", "%b")} {copy("%b", "%d")} {copy("%b", "%e")} {copy("%e", "%g")} {copy("%d", "%h")}
    scf.yield %h : {ONE}
  }}
  {copy("%r", "%s")}
  return %s : {ONE}
}}"""


def test_of_two_branches_the_larger_counts(executor: Callable[..., Any]) -> None:
    make = executor(BRANCH)
    report = memory_report(make._module)
    peaks = []
    for condition in (True, False):
        make.run([X, np.array(condition)])
        peaks.append(np.max([step.per_tile for step in make.memory_held()], axis=0))
    assert [peak.tolist() for peak in peaks] == [[37, 4, 4, 4], [69, 4, 4, 4]]
    assert report.data_peak.dense().tolist() == [69, 4, 4, 4]
    assert report.steps[len(report.steps) - 1].live_bytes_worst < max(x.live_bytes_worst for x in report.steps.values())


def test_what_either_branch_may_hand_on_is_kept(executor: Callable[..., Any]) -> None:
    body = BRANCH.replace("scf.yield %h", "scf.yield %a")
    make = executor(body)
    make.run([X, np.array(True)])
    last = make.memory_held()[-1].per_tile
    assert last.tolist() == [37, 4, 4, 4]  # after this branch, the buffer of the other is gone
    (result,) = [x for x in memory_report(make._module).variables if x.category == "result"]
    assert result.name.startswith("linalg.copy at ")
    assert memory_report(make._module).data_peak.dense().tolist() == [69, 4, 4, 4]
