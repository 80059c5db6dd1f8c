"""``ipu.exchange``: data moves between tiles."""

from typing import Any

from ipu_mlir.dialects.bindings import ext
from ipu_mlir.dialects.dialect import Ipu


class ExchangeOp(Ipu.Operation, name="exchange"):
    """Give ``dest`` the elements of ``source``, on the tiles that ``dest``'s mapping names.

        "ipu.exchange"(%a, %b) : (memref<4xf32, #home>, memref<4xf32, #operand>) -> ()
    """

    source: ext.Operand[Any]
    dest: ext.Operand[Any]
