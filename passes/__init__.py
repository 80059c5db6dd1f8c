"""Every pass of the project, by name: the classes in the files of the phases."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipu_mlir.passes.core.registry import PassesByName

    PASSES: PassesByName


def __getattr__(name: str) -> Any:
    """Look for the files of ``PASSES`` when it is first asked for: who needs one module of a phase need not."""
    if name != "PASSES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ipu_mlir.passes.core.registry import PassesByName

    globals()["PASSES"] = found = PassesByName(__path__, __name__)
    return found
