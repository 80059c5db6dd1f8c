"""``place``: where a value of a traced function shall lie."""

import math
from typing import Any

from ipu_mlir.dialects.attributes.attributes import mapping_to_attr
from ipu_mlir.dialects.ipu import PlaceOp
from ipu_mlir.dialects.mapping.build import by_rows, one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Symbol


def place(x: Any, mapping: Mapping | None = None, *, tile: int | None = None, tiles: range | None = None) -> Any:
    """``x``, with the wish that it lies as said; the compiler honours it, or refuses with a reason.

        w = ipu.place(w, tiles=range(64, 128))      # whole rows, in equal blocks over these tiles

    Args:
        x: a traced tensor.
        mapping: for any placement: which tile holds which elements.
        tile: all of ``x`` on one tile.
        tiles: whole rows of the first dimension in equal blocks over consecutive tiles.

    Raises:
        TypeError: ``x`` is no traced tensor, or not exactly one placement is given.
        ValueError: the mapping is for another number of elements, or the tiles are not consecutive.
    """
    if not isinstance(x, Symbol):
        raise TraceTypeError(f"place takes a traced tensor, got {type(x).__name__}; call it inside an @ipu.function")
    if sum(given is not None for given in (mapping, tile, tiles)) != 1:
        raise TraceTypeError(f"place of {x} needs exactly one of mapping, tile= and tiles=")
    elements = math.prod(x.shape)
    if tile is not None:
        mapping = one_tile(elements, tile)
    elif tiles is not None:
        if not isinstance(tiles, range) or tiles.step != 1 or not tiles:
            raise TraceValueError(f"place of {x}: tiles has to be a range of consecutive tiles, got {tiles!r}")
        mapping = by_rows(x.shape, len(tiles), 1, tiles.start)
    assert mapping is not None
    if mapping.elements != elements:
        raise TraceValueError(
            f"place of {x}: the mapping is for {mapping.elements} elements, the tensor has {elements}"
        )
    with x.program.emit("place"):
        op = PlaceOp(x.value, mapping_to_attr(mapping), x.value.type)
        return x.program.wrap(op.placed, x.shape, x.dtype)
