import pytest

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute


def test_types_without_numbers():
    with ir.Context(), ir.Location.unknown():
        complex_type = ir.ComplexType.get(ir.F32Type.get())
        with pytest.raises(TypeError, match=r"0 is no complex<f32>; give the type of a float, an integer or an index"):
            scalar_attribute(complex_type, 0)
