"""``ipu.place``: a value lies where the writer of the program says."""

from typing import Any

from ipu_mlir.dialects.attributes import MappingAttr
from ipu_mlir.dialects.bindings import ext
from ipu_mlir.dialects.dialect import Ipu


class PlaceOp(Ipu.Operation, name="place", traits=[ext.Pure]):
    """The same value, with a hint where it lies; the placing pass honours it or refuses with a reason.

    %y = "ipu.place"(%x) {mapping = #ipu.mapping<...>} : (tensor<4xf32>) -> tensor<4xf32>
    """

    source: ext.Operand[Any]
    mapping: MappingAttr
    placed: ext.Result[Any]
