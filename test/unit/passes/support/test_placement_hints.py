"""Why a placement may be refused."""

import pytest

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.build import blocks, linear, one_tile
from ipu_mlir.dialects.mapping.mapping import Mapping, MappingLoop
from ipu_mlir.passes.support.placement_hints import broken_home_rule

FOUR_TILES = Target(tiles_per_ipu=4)
TWO_IPUS = Target(ipus=2, tiles_per_ipu=4)


@pytest.mark.parametrize(
    ("mapping", "elements"),
    [(linear(8, 4), 8), (one_tile(8, tile=3), 8), (blocks((4, 6), (2, 3)), 24), (Mapping(1), 1), (linear(5, 2, 4), 5)],
)
def test_homes_are_accepted(mapping, elements):
    assert broken_home_rule(mapping, elements, FOUR_TILES) is None


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (linear(9, 4), "is mapped as an allocation of 9 elements, but has 8"),
        (Mapping(8, (MappingLoop(2, 8, 1, 1),), offset=1), "is mapped beyond its 8 elements"),
        (Mapping(8, (MappingLoop(2, 8, 1, 0),)), "has a mapping that puts two parts on one tile"),
        (Mapping(8, (MappingLoop(1, 2, 0, 1), MappingLoop(8, 8, 1, 0))), "puts an element on several tiles"),
        (Mapping(8, (MappingLoop(2, 6, 1, 1),)), "leaves elements on no tile"),
        (linear(8, 4, first_tile=1), "is mapped to tiles 1 to 4, but the target has tiles 0 to 3"),
        (Mapping(8, (MappingLoop(4, 8, 1, -1),)), "is mapped to tiles -1 to 0"),
    ],
)
def test_what_is_no_home_is_refused(mapping, message):
    assert message in broken_home_rule(mapping, 8, FOUR_TILES)


def test_tiles_count_on_over_the_ipus():
    assert broken_home_rule(linear(8, 4, first_tile=4), 8, TWO_IPUS) is None
