"""Constants in other types: the same elements in another encoding."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES


def retype_constant(op: ir.Operation, wanted: Any) -> None:
    """Give the tensor of the ``arith.constant`` ``op`` the type ``wanted``: the same elements, another encoding."""
    value = op.attributes["value"]
    if value.is_splat:
        op.attributes["value"] = ir.DenseElementsAttr.get_splat(wanted, value.get_splat_value())
    elif str(wanted.element_type) in ML_DTYPES:  # the bindings cannot hand these to NumPy
        text = str(value)
        op.attributes["value"] = ir.Attribute.parse(f"{text[: text.rindex(' : tensor<')]} : {wanted}")
    else:
        op.attributes["value"] = ir.DenseElementsAttr.get(np.asarray(value), type=wanted)
    op.results[0].set_type(wanted)
