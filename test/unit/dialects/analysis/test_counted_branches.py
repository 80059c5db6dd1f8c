"""How often branches are taken that the counter of a loop decides."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.counted_branches import times_taken
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.support.rewriting import list_ops

PROGRAM = """
func.func @main(%given: index, %flag: i1) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c1 to %c10 step %c2 {{
    {condition}
    scf.if %p {{
    }}
  }}
  return
}}
"""


def taken(condition: str) -> tuple[int, int] | None:
    module = parse_module(PROGRAM.format(condition=condition), ipu.context())
    (branch,) = list_ops(module.operation, "scf.if")
    return times_taken(branch)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("%p = arith.cmpi slt, %i, %c3 : index", (1, 4)),
        ("%p = arith.cmpi sge, %c3, %i : index", (2, 3)),
        ("%h = arith.floordivsi %i, %c2 : index\n %p = arith.cmpi eq, %h, %c2 : index", (1, 4)),
        (
            "%a = arith.cmpi sge, %i, %c2 : index\n %b = arith.cmpi ne, %i, %c3 : index\n %p = arith.andi %a, %b : i1",
            (3, 2),
        ),
        ("%p = arith.cmpi slt, %i, %given : index", None),
        ("%p = arith.cmpi ult, %i, %c3 : index", None),
        ("%h = arith.floordivsi %i, %c0 : index\n %p = arith.cmpi eq, %h, %c2 : index", None),
    ],
)
def test_branch_in_a_loop_of_five_iterations(condition, found):
    assert taken(condition) == found


def test_branch_outside_of_loops():
    text = "func.func @main(%p: i1) {\n scf.if %p {\n }\n return\n}"
    module = parse_module(text, ipu.context())
    (branch,) = list_ops(module.operation, "scf.if")
    assert times_taken(branch) is None
