"""The line of the user's program that we are in, for the locations of ops and for errors."""

import os
import sys
from dataclasses import dataclass
from itertools import islice
from types import FrameType

import numpy as np

# Frames of these folders are ours and NumPy's, not the user's. (``passes`` and the like never call the user.)
_NOT_THE_USERS = tuple(
    os.path.dirname(os.path.abspath(file)) + os.sep for file in (os.path.dirname(__file__), np.__file__)
)


@dataclass(frozen=True)
class Place:
    """A place in a Python file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def is_users(frame: FrameType) -> bool:
    """True if the code of ``frame`` is the user's."""
    return not frame.f_code.co_filename.startswith(_NOT_THE_USERS)


def user_place() -> Place:
    """The place in the innermost code of the user that is running now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not is_users(frame):
        frame = frame.f_back
    if frame is None:
        return Place("<unknown>", 0, 0)
    line, _, column, _ = next(islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    return Place(frame.f_code.co_filename, line or frame.f_lineno, (column or 0) + 1)
