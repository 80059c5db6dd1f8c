"""``ipu-set-target``: the machine that the module is for."""

from dataclasses import dataclass, replace
from typing import Any

from ipu_mlir.dialects.attributes.attributes import TARGET, module_target, target_to_attr
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass


@dataclass(frozen=True)
class SetTarget(Pass):
    """Name the machine that the module is compiled for.

    Options: ``chip`` (ipu1, ipu2 or ipu21; mk1, mk2 or bow), ``tiles`` per IPU, ``ipus``, ``io-tiles`` (the last tiles
    of an IPU, that no op runs on), ``selection-order`` (auto, zigzag, snake or hoof: which IPU each shard is),
    ``emulated`` (memory that is too small is warned of, and no error).

    Needs:  a module.
    Leaves: the module attribute ``ipu.target``. A target that the module names already stays, unless one is asked for.
    """

    name = "ipu-set-target"

    target: Target | None = None
    chip: str | None = None
    tiles: int | None = None
    ipus: int | None = None
    io_tiles: int | None = None
    selection_order: str | None = None
    emulated: bool | None = None

    def run(self, module: ir.Operation) -> None:
        given = {
            "tiles_per_ipu": self.tiles,
            "ipus": self.ipus,
            "io_tiles": self.io_tiles,
            "selection_order": self.selection_order,
            "emulated": self.emulated,
        }
        asked: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if TARGET in module.attributes and self.target is None and self.chip is None and not asked:
            return
        if (
            asked
            and asked.keys() <= {"emulated", "io_tiles", "selection_order"}
            and self.target is None
            and self.chip is None
        ):
            base = module_target(module)
        else:
            base = self.target or (Target.named(self.chip) if self.chip else Target())
        with module.context:
            module.attributes[TARGET] = target_to_attr(replace(base, **asked))
