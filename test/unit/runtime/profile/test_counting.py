"""How often blocks run: from the text where it says so, and in a run that counts."""

from collections.abc import Sequence

import numpy as np

from ipu_mlir.dialects.analysis.program.build_program import program_tree
from ipu_mlir.dialects.analysis.program.tree import sequences
from ipu_mlir.dialects.ipu import context
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.runtime.profile.counting import block_counts, count_entries, open_blocks

HEAD = """
#h = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#s = #ipu.mapping<1, [[1, 1, 1, 0]], 0, 0>
#twice = affine_map<(d0) -> (d0)>
#scalar = affine_map<() -> ()>
module attributes {ipu.target = #ipu.target<{tiles_per_ipu = 4}>} {
"""
TWICE = """"ipu.compute_set"() ({ "ipu.vertices"() ({
    linalg.add ins(%x, %x : memref<4xf32, #h>, memref<4xf32, #h>) outs(%out : memref<4xf32, #h>)
  }) {codelet = "add_f32", parts = #ipu.parts<[[2, 4, 1]], 0>} : () -> () }) : () -> ()
"""
READ = '%n = "ipu.read_control"(%count) : (memref<index, #s>) -> index\n'


def function(body: str, others: str = "") -> str:
    return f"""{HEAD} {others}
func.func @main(%x: memref<4xf32, #h>, %count: memref<index, #s>) -> memref<4xf32, #h> {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %out = memref.alloc() : memref<4xf32, #h>
  {TWICE}
  {body}
  return %out : memref<4xf32, #h>
}}}}
"""


def counts(text: str, count: int | None = None) -> tuple[list[int], int]:
    """Executions of every block in order, and how many places nobody knows about."""
    with context():
        module = ir.Module.parse(text)
        assert module.operation.verify()
        entered = None
        if count is not None:
            entered = count_entries(module.operation, "main", [np.ones(4, np.float32), np.array(count, np.int64)])
        tree = program_tree(module)
        found = block_counts(tree, entered)
        assert found.measured is (count is not None)
        return [found.of.get(block.number, 0) for block in sequences(tree)], len(found.unknown)


def test_constant_bounds_are_known_without_a_run() -> None:
    text = function(f"scf.for %i = %c0 to %c3 step %c1 {{ scf.for %j = %c1 to %c3 step %c1 {{ {TWICE} }} }}")
    assert counts(text) == ([1, 3, 6], 0)
    assert counts(text, count=0) == ([1, 3, 6], 0)


def test_bounds_that_are_read_are_counted() -> None:
    inner = f"scf.for %j = %c0 to %c3 step %c1 {{ {TWICE} }}"
    text = function(f"{READ} scf.for %i = %c0 to %n step %c1 {{ {inner} }}")
    assert counts(text) == ([1, 1, 3], 1)
    assert counts(text, count=5) == ([1, 5, 15], 0)
    assert counts(text, count=0) == ([1, 0, 0], 0)


def test_a_while_loop_looks_at_its_condition_once_more() -> None:
    text = function(f"""{READ}
  %end = scf.while (%i = %c0) : (index) -> index {{
    %goes_on = arith.cmpi slt, %i, %n : index
    scf.condition(%goes_on) %i : index
  }} do {{
  ^bb0(%i: index):
    {TWICE}
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }}""")
    assert counts(text) == ([1, 2, 1], 1)
    assert counts(text, count=4) == ([1, 5, 4], 0)


def test_only_one_arm_of_a_branch_runs() -> None:
    text = function(f"""{READ}
  %some = arith.cmpi sgt, %n, %c1 : index
  scf.for %i = %c0 to %c3 step %c1 {{
    scf.if %some {{ {TWICE} }} else {{ scf.if %some {{ {TWICE} }} }}
  }}""")
    assert counts(text) == ([1, 3, 3, 3, 3], 2)
    assert counts(text, count=2) == ([1, 3, 3, 0, 0], 0)
    assert counts(text, count=0) == ([1, 3, 0, 3, 0], 0)


def test_a_switch_runs_one_case_or_the_default() -> None:
    text = function(f"{READ} scf.index_switch %n case 2 {{ {TWICE} scf.yield }} case 7 {{ scf.yield }} default {{ }}")
    assert counts(text) == ([1, 1, 1, 1], 1)
    assert [counts(text, count)[0] for count in (2, 7, 1)] == [[1, 0, 1, 0], [1, 0, 0, 1], [1, 1, 0, 0]]


def test_a_function_runs_for_each_of_its_calls() -> None:
    callee = f"""
func.func private @step(%x: memref<4xf32, #h>, %out: memref<4xf32, #h>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {{ {TWICE} }}
  return
}}"""
    call = "func.call @step(%x, %out, {}) : (memref<4xf32, #h>, memref<4xf32, #h>, index) -> ()\n"
    loop = f"scf.for %k = %c0 to %c3 step %c1 {{ {call.format('%k')} }}"
    text = function(f"{READ} {call.format('%n')} {loop}", callee)
    assert counts(text)[0] == [1, 4, 4, 3]
    assert counts(text, count=10) == ([1, 4, 10 + 0 + 1 + 2, 3], 0)


def test_arguments_and_results_may_have_attributes() -> None:
    """As JAX writes them; a function and a call have a list of one entry for each."""
    callee = f"""
func.func private @step(%x: memref<4xf32, #h> {{k.a}}, %out: memref<4xf32, #h>, %n: index) -> (index {{k.r}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {{ {TWICE} }}
  return %c0 : index
}}"""
    call = """%zero = "func.call"(%x, %out, %n) {callee = @step, arg_attrs = [{k.a}, {}, {}], res_attrs = [{k.r}]}
      : (memref<4xf32, #h>, memref<4xf32, #h>, index) -> index"""
    text = function(f"{READ} {call}", callee)
    text = text.replace("-> memref<4xf32, #h> {", '-> (memref<4xf32, #h> {jax.result_info = "result"}) {')
    assert text.count("{jax.result_info") == 1
    assert counts(text, count=5) == ([1, 1, 5], 0)


def test_a_run_that_counts_leaves_the_program_as_it_was() -> None:
    text = function(f"{READ} scf.for %i = %c0 to %n step %c1 {{ {TWICE} }}")
    with context():
        module = ir.Module.parse(text)
        before = str(module)
        inputs: Sequence[np.ndarray] = [np.ones(4, np.float32), np.array(2, np.int64)]
        assert count_entries(module.operation, "main", inputs) == {1: 2}
        assert str(module) == before
        assert [block.number for block in open_blocks(program_tree(module))] == [1]
