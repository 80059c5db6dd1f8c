"""The targets that have a name: ``ipu1`` (GC2), ``ipu2`` (GC200) and ``ipu21`` (Bow)."""

from dataclasses import fields

from ipu_mlir.dialects.machine.machine import MACHINES, Machine
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.errors import Settings, TargetError


def target_named(name: str, ipus: int = 1) -> Target:
    """``ipus`` chips of the kind that is called ``name``.

    Raises:
        TargetError: there is no such kind, or less than one chip.

    >>> target_named("ipu21", ipus=4).num_tiles
    5888
    """
    if name not in MACHINES:
        others = Settings(tiles_per_ipu=None)
        raise TargetError(
            f"no target is called '{name}'; there are {', '.join(MACHINES)}, and {others} for others",
            settings=(others,),
        )
    shared = {field.name for field in fields(Target)} & {field.name for field in fields(Machine)}
    return Target(ipus=ipus, **{field: getattr(MACHINES[name], field) for field in shared})
