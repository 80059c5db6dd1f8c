"""The tree of a program: its steps and blocks, in the order of the text."""

from typing import Any

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import (
    Branch,
    Call,
    Node,
    Repeat,
    Sequence,
    Step,
    While,
    children,
    sequences,
    steps,
)
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.parsing import parse_module

ALIASES = """
#home = #ipu.mapping<4, [[1, 4, 1, 1]], 0, 0>
#tile = #ipu.mapping<4, [[4, 4, 1, 0]], 0, 0>
#one = #ipu.mapping<1, [], 0, 0>
"""
SEND = '"ipu.exchange"(%x, %a) : (memref<4xf32, #home>, memref<4xf32, #tile>) -> ()\n'
COMPUTE = """"ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.fill ins(%f : f32) outs(%x : memref<4xf32, #home>)
}) {codelet = "fill_f32", parts = #ipu.parts<[[1, 4, 1]], 0>} : () -> () }) : () -> ()
"""
READ = '%c = "ipu.read_control"(%flag) : (memref<i1, #one>) -> i1\n'
BEGIN = """
  %x = memref.alloc() : memref<4xf32, #home>
  %a = memref.alloc() : memref<4xf32, #tile>
  %flag = memref.alloc() : memref<i1, #one>
  %f = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
"""


def tree(body: str, others: str = "", entry: str = "main") -> Sequence:
    text = f"{ALIASES}\nfunc.func @main(%n: index) {{\n{BEGIN}\n{body}\nreturn }}\n{others}"
    return program_tree(parse_module(text, ipu.context()), entry)


def outline(node: Node) -> Any:
    """The tree as nested lists of kinds; a step is its number and kind."""
    if isinstance(node, Step):
        return f"{node.number} {node.kind}"
    name = type(node).__name__.lower()
    if isinstance(node, Sequence):
        name = f"block {node.number}"
    return [name, *map(outline, children(node))]


def test_steps_are_numbered_in_the_order_of_the_text() -> None:
    assert outline(tree(SEND + COMPUTE + READ)) == ["block 0", "0 exchange", "1 compute", "2 control"]


def test_a_loop_has_one_body() -> None:
    found = tree(f"{SEND} scf.for %i = %c0 to %c5 step %c1 {{ {COMPUTE} {SEND} }} {SEND}")
    assert outline(found) == ["block 0", "0 exchange", ["repeat", ["block 1", "1 compute", "2 exchange"]], "3 exchange"]


def test_a_while_loop_has_a_condition_and_a_body() -> None:
    found = tree(f"scf.while : () -> () {{ {READ} scf.condition(%c) }} do {{ {COMPUTE} scf.yield }}")
    assert outline(found) == ["block 0", ["while", ["block 1", "0 control"], ["block 2", "1 compute"]]]
    assert isinstance(found.children[0], While)


def test_a_branch_has_the_bodies_that_are_there() -> None:
    found = tree(f"{READ} scf.if %c {{ {SEND} }} scf.if %c {{ {SEND} }} else {{ {COMPUTE} }}")
    first, second = found.children[1:]
    assert isinstance(first, Branch) and isinstance(second, Branch)
    assert outline(first) == ["branch", ["block 1", "1 exchange"]]
    assert outline(second) == ["branch", ["block 2", "2 exchange"], ["block 3", "3 compute"]]


def test_the_default_of_a_switch_comes_first() -> None:
    found = tree(f"scf.index_switch %n case 3 {{ {SEND} scf.yield }} default {{ {COMPUTE} scf.yield }}")
    assert outline(found)[1] == ["branch", ["block 1", "0 compute"], ["block 2", "1 exchange"]]


CALLED = f"func.func private @f() {{ {BEGIN} {SEND} return }}"


def test_calls_of_one_function_share_its_steps() -> None:
    found = tree(f"func.call @f() : () -> () {COMPUTE} func.call @f() : () -> ()", CALLED)
    first, _, second = found.children
    assert isinstance(first, Call) and isinstance(second, Call)
    assert first.body is second.body and first.callee == "f"
    assert [step.kind for step in steps(found)] == ["exchange", "compute"]
    assert [block.number for block in sequences(found)] == [0, 1]
    assert outline(tree("", CALLED, entry="f")) == ["block 0", "0 exchange"]


def test_a_function_can_be_asked_for_itself() -> None:
    module = parse_module(f"{ALIASES} func.func @g() {{ {BEGIN} {SEND} return }}", ipu.context())
    assert outline(program_tree(module.body.operations[0])) == ["block 0", "0 exchange"]


@pytest.mark.parametrize(
    "bounds,count",
    [
        ("%c0 to %c5 step %c1", 5),
        ("%c1 to %c5 step %c5", 1),
        ("%c5 to %c0 step %c1", 0),
        ("%c0 to %n step %c1", None),
        ("%c0 to %c5 step %c0", None),
    ],
)
def test_the_count_of_a_loop_follows_from_constant_bounds(bounds: str, count: int | None) -> None:
    (loop,) = tree(f"scf.for %i = {bounds} {{ {SEND} }}").children
    assert isinstance(loop, Repeat) and loop.count == count


@pytest.mark.parametrize("unsigned,count", [("", 0), ("unsigned", 77)])
def test_an_unsigned_loop_counts_unsigned(unsigned: str, count: int) -> None:
    bounds = "%low = arith.constant 100 : i8 %end = arith.constant -2 : i8 %step = arith.constant 2 : i8"
    (loop,) = tree(f"{bounds} scf.for {unsigned} %i = %low to %end step %step : i8 {{ {SEND} }}").children
    assert isinstance(loop, Repeat) and loop.count == count


def test_what_no_tree_can_have_is_refused() -> None:
    with pytest.raises(CompileError, match="no function 'step'; it has main, f"):
        tree("", CALLED, entry="step")
    with pytest.raises(CompileError, match=r"<text>:\d+:\d+: error: '@f' calls itself"):
        tree("func.call @f() : () -> ()", "func.func private @f() { func.call @f() : () -> () return }")
    with pytest.raises(CompileError, match=r"<text>:\d+:\d+: error: '@g' has 0 blocks"):
        tree("func.call @g() : () -> ()", "func.func private @g()")
