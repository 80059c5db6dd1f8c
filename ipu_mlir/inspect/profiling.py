"""Profiles of programs that have no executable."""

from typing import TYPE_CHECKING

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.runtime.profile.build_profile import profile_of
from ipu_mlir.runtime.profile.profile import Profile

if TYPE_CHECKING:
    from ipu_mlir.passes.supersteps.checks.check_memory import OutOfMemoryError


def profile_of_failure(error: "OutOfMemoryError") -> Profile:
    """The profile of the program that does not fit; its loops and branches are not counted."""
    return profile_of(parse_module(error.module_text, ipu.context()), error.entry)
