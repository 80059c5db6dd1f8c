"""Floating-point operations of vertices."""

import numpy as np
import pytest

from ipu_mlir.dialects.codelets.codelet import CodeletCall
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.costs.elementwise import ScalarOp, Shape
from ipu_mlir.dialects.costs.flops import flops_of, flops_of_parts
from ipu_mlir.dialects.costs.work import Contraction, Elementwise, Move, Preparation, Reduction, Window
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts

ADD = ScalarOp(Shape.BINARY, "add", "f32")
TANH = ScalarOp(Shape.UNARY, "tanh", "f32")
FREE = (
    ScalarOp(Shape.BINARY, "compare", "f32"),
    ScalarOp(Shape.SELECT, "select", "f32"),
    ScalarOp(Shape.CAST, "cast", "f32", "f16"),
    ScalarOp(Shape.INTEGER, "plain", "i32"),
)


def rows(codelet: str, dtype: str) -> CodeletCall:
    """A codelet that works on rows."""
    return CodeletCall(
        codelet_named(codelet),
        (dtype, dtype),
        ((3, 4, 5), (3, 4, 5)),
        ((0, 1, 2), (0, 1, 2)),
        kept=(0, 1),
        reduced=(2,),
    )


@pytest.mark.parametrize(
    ("work", "flops"),
    [
        (Contraction("f16", (), (0,), (1,), (2,), ()), 2 * 60),
        (Contraction("i8", (), (0,), (1,), (2,), ()), 0),
        (Contraction("f32", (), (0,), (1,), (2,), (), (Preparation((TANH,), (0, 2)),)), 2 * 60 + 15),
        (Elementwise((ADD, TANH, *FREE)), 2 * 60),
        (Reduction("f32", "f32", (0,), (1, 2), True, (TANH,), ADD), 2 * 60),
        (Reduction("i32", "i32", (0,), (1, 2), True, FREE, None), 0),
        (Window("f32", "max", (0,), (1,), (2,)), 60),
        (rows("sort", "f32"), 0),
        (rows("scan_add", "f32"), 60),
        (rows("scan_max", "i32"), 0),
        (Move("copy", "f32", (0, 1, 2)), 0),
    ],
    ids=str,
)
def test_operations_of_one_vertex(work, flops: int) -> None:
    assert flops_of(work, np.array([[3, 4, 5], [6, 8, 10]]))[0] == flops
    parts = Parts((PartLoop(2, 3, 1), PartLoop(3, 4, 2), PartLoop(5, 5, 0)))
    assert flops_of_parts(work, parts) == flops
