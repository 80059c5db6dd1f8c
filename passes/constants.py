"""Constants of tensors in other types."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.bindings import ir


def retype_constant(op: ir.Operation, wanted: Any) -> None:
    """Give the tensor of the ``arith.constant`` ``op`` the type ``wanted``: the same elements, another encoding."""
    value = op.attributes["value"]
    if value.is_splat:
        op.attributes["value"] = ir.DenseElementsAttr.get_splat(wanted, value.get_splat_value())
    else:
        op.attributes["value"] = ir.DenseElementsAttr.get(np.asarray(value), type=wanted)
    op.results[0].set_type(wanted)
