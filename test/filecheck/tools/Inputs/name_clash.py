"""A pass that takes the name of one of ours."""

from ipu_mlir.passes.core.base import Pass


class Clash(Pass):
    """Never runs."""

    name = "ipu-set-target"
