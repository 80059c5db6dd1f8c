"""What the writer of a program says about placement, and why it may be refused."""

from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.target import Target

MAP = "ipu.map"
"""Attribute with the home mapping of an argument, a constant or an empty tensor."""

PARTS = "ipu.parts"
"""Attribute with the parts of a structured op."""


def broken_home_rule(mapping: Mapping, elements: int, target: Target) -> str | None:
    """Why ``mapping`` cannot be the home of a tensor of ``elements`` on ``target``, as the end of a sentence.

    >>> broken_home_rule(Mapping(4), 6, Target())
    'is mapped as an allocation of 4 elements, but has 6'
    """
    if mapping.elements != elements:
        return f"is mapped as an allocation of {mapping.elements} elements, but has {elements}"
    if not mapping.in_bounds():
        return f"is mapped beyond its {elements} elements"
    if not mapping.tiles_are_distinct():
        return "has a mapping that puts two parts on one tile"
    if not mapping.is_disjoint():
        return "has a home mapping that puts an element on several tiles; a home holds each element once"
    if not mapping.covers():
        return "has a mapping that leaves elements on no tile; a home holds every element"
    if mapping.max_tile >= target.num_tiles or mapping.min_tile < 0:
        return (
            f"is mapped to tiles {mapping.min_tile} to {mapping.max_tile}, but the target has tiles 0 to "
            f"{target.num_tiles - 1}"
        )
    return None
