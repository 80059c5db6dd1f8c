"""A pass that takes the name of one of ours."""

from dataclasses import dataclass

from ipu_mlir.passes.core.base import Pass


@dataclass(frozen=True)
class Clash(Pass):
    """Never runs."""

    name = "ipu-set-target"
