"""Constants in other types: the same elements in another encoding, or the same values in a narrower one."""

from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.narrow_floats import ML_DTYPES
from ipu_mlir.dialects.support.scalar_attributes import scalar_attribute


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


def unfit_constant(value: Any, wanted: ir.Type) -> str | None:
    """Why the constant ``value`` does not fit into the element type ``wanted``, as the end of a sentence, or None."""
    if not isinstance(value, ir.IntegerAttr | ir.FloatAttr | ir.DenseElementsAttr):
        return "has a constant whose elements are not in the program; write them as dense<...>"
    elements = _elements(value)
    narrow = _narrowed(elements, wanted)
    if isinstance(wanted, ir.FloatType):
        lost = (np.isinf(narrow) & ~np.isinf(elements)) | ((narrow == 0) & (elements != 0))
    else:
        lost = narrow != elements
    return f"holds {elements[lost][0]}, which does not fit into {wanted}" if lost.any() else None


def narrow_constant(op: ir.Operation, wanted: Any) -> None:
    """Give the ``arith.constant`` ``op``, which fits, the type ``wanted``: a scalar, or a tensor of its shape."""
    value = op.attributes["value"]
    element = getattr(wanted, "element_type", wanted)
    if isinstance(value, ir.DenseElementsAttr):
        elements = _narrowed(_elements(value), element)
        if value.is_splat:
            op.attributes["value"] = ir.DenseElementsAttr.get_splat(wanted, scalar_attribute(element, elements[0]))
        else:
            op.attributes["value"] = ir.DenseElementsAttr.get(elements.reshape(wanted.shape), type=wanted)
    else:
        op.attributes["value"] = scalar_attribute(element, _narrowed(_elements(value), element)[0])
    op.results[0].set_type(wanted)


def _elements(value: Any) -> np.ndarray[Any, Any]:
    """The elements of a constant of i64 or f64 in a row; one for all that are equal."""
    if isinstance(value, ir.DenseElementsAttr) and not value.is_splat:
        return np.asarray(value).reshape(-1)
    scalar = value.get_splat_value() if isinstance(value, ir.DenseElementsAttr) else value
    return np.array([scalar.value], np.int64 if isinstance(scalar, ir.IntegerAttr) else np.float64)


def _narrowed(elements: np.ndarray[Any, Any], wanted: ir.Type) -> np.ndarray[Any, Any]:
    with np.errstate(over="ignore", under="ignore"):
        return elements.astype(np.float32 if isinstance(wanted, ir.FloatType) else np.int32)
