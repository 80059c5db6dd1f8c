"""The settings that a sweep goes through."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from ipu_mlir.dialects.support.counted import counted

PROPORTIONS = (0.05, 0.1, 0.2, 0.4, 0.6)
PartialsType = Literal["f32", "native"]
PARTIALS_TYPES: tuple[PartialsType, ...] = ("f32", "native")
DEFAULT_PROPORTION = 0.6
"""Of ``ipu-partition``."""
MACHINE_AXES = ("chip", "ipus", "replicas", "io_tiles")
"""What of the machine may vary, besides the tiles of an IPU."""
_COUNTED = {"ipus": "IPU", "replicas": "replica", "io_tiles": "I/O tile"}


@dataclass(frozen=True)
class Setting:
    """One way to compile the program.

    Attributes:
        proportion: the ``available-memory-proportion``.
        tiles: of each IPU.
        most_partials: into how many partial results a reduction may be split; None for no limit.
        partials_type: of sums of 16 and 8 bits that are not complete.
        machine: those of ``MACHINE_AXES`` that vary, with their values.
    """

    proportion: float
    tiles: int
    most_partials: int | None
    partials_type: PartialsType = PARTIALS_TYPES[0]
    machine: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        partials = "" if self.most_partials is None else f", at most {counted(self.most_partials, 'partial')}"
        return f"{self.machine_text}proportion {self.proportion:g}, {counted(self.tiles, 'tile')}{partials}{self._type}"

    @property
    def machine_text(self) -> str:
        """What of the machine varies, with a comma behind each."""
        texts = (counted(value, _COUNTED[name]) if name in _COUNTED else str(value) for name, value in self.machine)
        return "".join(f"{text}, " for text in texts)

    @property
    def _type(self) -> str:
        return "" if self.partials_type == PARTIALS_TYPES[0] else f", {self.partials_type} partials"


def partials_text(most_partials: int | None) -> str:
    """As on the command line."""
    return "none" if most_partials is None else str(most_partials)


def settings(
    proportions: Sequence[float] | None,
    tiles: Sequence[int] | None,
    most_partials: Sequence[int | None] | None,
    tiles_of_target: int,
    partials_types: Sequence[PartialsType] | None = None,
    machine: Mapping[str, Any] | None = None,
) -> Iterator[Setting]:
    """All combinations of what is given; what is not stays at its default, but something varies.

    >>> [setting.proportion for setting in settings(None, None, None, 1472)]
    [0.05, 0.1, 0.2, 0.4, 0.6]
    >>> print(*settings(None, [8, 16], None, 1472), sep="; ")
    proportion 0.6, 8 tiles; proportion 0.6, 16 tiles
    >>> print(*settings(None, None, None, 1472, machine={"chip": "bow", "ipus": 2}))
    bow, 2 IPUs, proportion 0.6, 1,472 tiles
    """
    varied = tuple((machine or {}).items())
    if proportions is None:
        nothing = tiles is None and most_partials is None and partials_types is None and not varied
        proportions = PROPORTIONS if nothing else (DEFAULT_PROPORTION,)
    types = partials_types or PARTIALS_TYPES[:1]
    combinations = product(types, tiles or (tiles_of_target,), most_partials or (None,), proportions)
    return (Setting(proportion, count, most, each, varied) for each, count, most, proportion in combinations)
