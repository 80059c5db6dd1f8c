"""Where an op comes from, in a few words."""

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.analysis.locations import name_scope, place_of
from ipu_mlir.dialects.support.bindings import ir


@pytest.mark.parametrize(
    "text,place,scope",
    [
        ('"/home/me/mlp.mlir":14:8', "mlp.mlir:14:8", ""),
        ('"jit(mlp)/dot_general"("mlp.py":3:1)', "mlp.py:3:1", "jit(mlp)/dot_general"),
        ('"matmul"', "matmul", "matmul"),
        ('fused["add"("a.mlir":1:2), "b.mlir":3:4]', "a.mlir:1:2", "add"),
        ('callsite("inner"("a.mlir":1:2) at "b.mlir":3:4)', "a.mlir:1:2", "inner"),
        ("unknown", "", ""),
    ],
)
def test_a_location_in_a_few_words(text: str, place: str, scope: str) -> None:
    with ipu.context():
        location = ir.Module.parse(f"module {{}} loc({text})").operation.location
        assert (place_of(location), name_scope(location)) == (place, scope)
