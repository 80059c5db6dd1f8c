"""Views of a tensor of ``i32`` in many forms, as text of programs.

The whole tensor holds ``WHOLE``, its elements in order, so that every other row, and every round of a loop, adds the
same number to each element of a view: a program that is given the view as a whole tensor computes the same.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
from support.tensor_text import generic

SHAPE = (4, 6)
WHOLE = np.arange(prod(SHAPE)).reshape(SHAPE)
ROUNDS = 3


@dataclass(frozen=True)
class View:
    """A view ``%v`` of ``%w``.

    Attributes:
        text: the ops that make it; ``%at`` is an index of 1 that is known at run time, ``%round`` that of a loop.
        numpy: the same of an array, in the first round.
        step: by how much its elements are greater in each next round.
    """

    text: str
    numpy: Callable[[np.ndarray], np.ndarray]
    step: int = 0

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numpy(WHOLE).shape


def _slice(text: str, shape: str, source: str = "w:4x6", name: str = "v") -> str:
    """``text`` are the offsets, sizes and steps."""
    whole, _, sizes = source.partition(":")
    return f"%{name} = tensor.extract_slice %{whole}{text} : tensor<{sizes}xi32> to tensor<{shape}i32>"


def _reshaped(kind: str, groups: str, source: str, shape: str) -> str:
    """A slice ``%s`` of the sizes ``source`` as ``shape``; ``kind`` is collapse or expand."""
    sizes = f" output_shape {[int(size) for size in shape.split('x')]}" if kind == "expand" else ""
    return f"%v = tensor.{kind}_shape %s {groups}{sizes} : tensor<{source}xi32> into tensor<{shape}xi32>"


def _transposed(source: str, sizes: str, name: str) -> str:
    turned = "x".join(reversed(sizes.split("x")))
    return (
        f"%{name}0 = tensor.empty() : tensor<{turned}xi32>\n%{name} = linalg.transpose "
        f"ins(%{source} : tensor<{sizes}xi32>) outs(%{name}0 : tensor<{turned}xi32>) permutation = [1, 0]"
    )


VIEWS = {
    "row": View(_slice("[1, 0] [1, 6] [1, 1]", "6x"), lambda x: x[1]),
    "first row": View(_slice("[0, 0] [1, 6] [1, 1]", "6x"), lambda x: x[0]),
    "row that stays one": View(_slice("[2, 0] [1, 6] [1, 1]", "1x6x"), lambda x: x[2:3]),
    "column": View(_slice("[0, 2] [4, 1] [1, 1]", "4x"), lambda x: x[:, 2]),
    "first columns": View(_slice("[0, 0] [4, 4] [1, 1]", "4x4x"), lambda x: x[:, :4]),
    "middle rows": View(_slice("[1, 0] [2, 6] [1, 1]", "2x6x"), lambda x: x[1:3]),
    "middle columns": View(_slice("[0, 1] [4, 4] [1, 1]", "4x4x"), lambda x: x[:, 1:5]),
    "every other row": View(_slice("[0, 0] [2, 6] [2, 1]", "2x6x"), lambda x: x[::2]),
    "every other column": View(_slice("[0, 1] [4, 2] [1, 2]", "4x2x"), lambda x: x[:, 1:5:2]),
    "inner box": View(_slice("[1, 1] [2, 4] [1, 1]", "2x4x"), lambda x: x[1:3, 1:5]),
    "element": View(_slice("[1, 2] [1, 1] [1, 1]", ""), lambda x: x[1, 2]),
    "element that stays a box": View(_slice("[3, 5] [1, 1] [1, 1]", "1x1x"), lambda x: x[3:, 5:]),
    "slice of a slice": View(
        _slice("[0, 2] [4, 4] [1, 1]", "4x4x", name="s") + "\n" + _slice("[2, 0] [2, 4] [1, 1]", "2x4x", "s:4x4"),
        lambda x: x[2:, 2:],
    ),
    "row as a matrix": View(
        _slice("[3, 0] [1, 6] [1, 1]", "6x", name="s") + "\n" + _reshaped("expand", "[[0, 1]]", "6", "2x3"),
        lambda x: x[3].reshape(2, 3),
    ),
    "rows in a row": View(
        _slice("[2, 0] [2, 6] [1, 1]", "2x6x", name="s") + "\n" + _reshaped("collapse", "[[0, 1]]", "2x6", "12"),
        lambda x: x[2:].reshape(12),
    ),
    "columns in a row": View(
        _slice("[0, 0] [4, 4] [1, 1]", "4x4x", name="s") + "\n" + _reshaped("collapse", "[[0, 1]]", "4x4", "16"),
        lambda x: x[:, :4].reshape(16),
    ),
    "whole in a row": View(
        _slice("[0, 0] [4, 6] [1, 1]", "4x6x", name="s") + "\n" + _reshaped("collapse", "[[0, 1]]", "4x6", "24"),
        lambda x: x.reshape(24),
    ),
    "transposed slice": View(
        _slice("[0, 2] [4, 2] [1, 1]", "4x2x", name="s") + "\n" + _transposed("s", "4x2", "v"), lambda x: x[:, 2:4].T
    ),
    "slice of a transpose": View(
        _transposed("w", "4x6", "t") + "\n" + _slice("[1, 0] [2, 4] [1, 1]", "2x4x", "t:6x4"), lambda x: x.T[1:3]
    ),
    "reversed row": View(
        _slice("[1, 0] [1, 6] [1, 1]", "6x", name="s")
        + "\n"
        + generic("%v", "i", [("%s", "6xi32[5 - i]")], "6xi32[i]", "arith.ori %x0, %x0 : i32"),
        lambda x: x[1, ::-1],
    ),
    "row at a run-time place": View(_slice("[%at, 0] [1, 6] [1, 1]", "6x"), lambda x: x[1]),
    "columns at a run-time place": View(_slice("[0, %at] [4, 2] [1, 1]", "4x2x"), lambda x: x[:, 1:3]),
    "row of the round": View(_slice("[%round, 0] [1, 6] [1, 1]", "6x"), lambda x: x[0], step=SHAPE[1]),
    "columns of the round": View(_slice("[0, %round] [4, 2] [1, 2]", "4x2x"), lambda x: x[:, :3:2], step=1),
    "row that is overwritten later": View(
        _slice("[1, 0] [1, 6] [1, 1]", "6x")
        + "\n%later = tensor.insert_slice %v into %w[0, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<4x6xi32>"
        + "\n%now = tensor.insert_slice %v into %later[1, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<4x6xi32>",
        lambda x: x[1],
    ),
    "nothing": View(_slice("[1, 0] [0, 6] [1, 1]", "0x6x"), lambda x: x[1:1]),
}
