"""Errors of the per-tile executor: programs that a real machine could not run, or would run to garbage."""

from ipu_mlir.dialects.support.errors import RunError


class LocalityError(RunError):
    """A vertex touches an element that is not on its tile."""


class UnwrittenError(RunError):
    """A program reads an element that nothing has written."""


class RaceError(RunError):
    """Two vertices of one compute set touch one element, and one of them writes it."""


class IncoherentError(RunError):
    """Two tiles hold different values for one element of one buffer."""


class DivergenceError(RunError):
    """Replicas go different ways, or have different values where the program says that they have one."""
