"""What a mask selects of a tensor of PyTorch: a row for every place of the mask, and which of them are selected."""

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor

from ipu_mlir.dialects.support.errors import CompileError

_OTHERS = "keep the shape, torch.where(mask, x, 0), or use torch.compile, which leaves such a line to Python"


class Selection:
    """The rows of ``rows``, ``(n, ...)``, that ``mask``, ``(n,)``, selects; the others are copies of the first of them.

    So nothing is computed of numbers that the program does not have, such as the logarithm of one that is masked.

    Args:
        source: the mask of the program, by which two selections are known to be of the same rows.
        is_packed: whether the rows that are selected are those in front.
    """

    def __init__(self, rows: Tensor, mask: Tensor, source: Any = None, is_packed: bool = False) -> None:
        self.rows, self.mask, self.source = rows, mask, mask if source is None else source
        self.is_packed = is_packed

    @classmethod
    def of(cls, x: Tensor, mask: Tensor) -> Self:
        """``x[mask]``."""
        rows, flat = x.reshape(mask.numel(), *x.shape[mask.dim() :]), mask.reshape(-1)
        if not len(rows):
            return cls(rows, flat, mask)
        first = rows.detach().index_select(0, flat.to(torch.int32).argmax().reshape(1))
        neutral = torch.ones_like(first) if x.is_floating_point() or x.is_complex() else torch.zeros_like(first)
        return cls(torch.where(beside(flat, rows), rows, torch.where(flat.any(), first, neutral)), flat, mask)

    @classmethod
    def filled(cls, rows: Tensor, mask: Tensor, source: Any = None, is_packed: bool = False) -> Self:
        """``rows`` that ``mask``, ``(n,)``, selects, with copies of the first of them in the place of the others."""
        return cls(cls.of(rows, mask).rows, mask, source, is_packed)

    @property
    def shape(self) -> tuple[Any, ...]:
        count = self.mask.sum()
        count.of_selected = self
        return count, *self.rows.shape[1:]

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> Any:
        return self.mask.sum() * self.rows.shape[1:].numel()

    def dim(self) -> int:
        return self.rows.dim()

    ndim = property(dim)

    def __len__(self) -> int:
        raise refused("the len() of what a mask selects", "x.shape[0] is a tensor")

    def __iter__(self) -> Any:
        raise refused("a loop over what a mask selects")

    def __bool__(self) -> bool:
        raise refused("what a mask selects, as a condition,")

    def packed(self) -> Any:
        """The same with its rows in front."""
        if self.is_packed or not len(self.mask):
            return self
        places = torch.nonzero_static(self.mask, size=len(self.mask), fill_value=0)[:, 0]
        mask = torch.arange(len(self.mask)) < self.mask.sum()
        return type(self)(self.rows.index_select(0, places), mask, is_packed=True)

    def like(self, rows: Any) -> Any:
        """Other rows of the same selection."""
        return type(self)(rows, self.mask, self.source, self.is_packed)

    def counted(self, count: int) -> Tensor:
        """The rows, of which the program says that there are ``count``."""
        if count > len(self.mask):
            raise CompileError(f"a mask of {len(self.mask)} elements does not select {count}")
        return self.packed().rows[:count]

    def where(self, neutral: Any) -> Tensor:
        """All rows, ``neutral`` in the place of those that are not selected."""
        return torch.where(beside(self.mask, self.rows), self.rows, neutral)


def together(chosen: Sequence[Any]) -> tuple[list[Tensor], Tensor, Any]:
    """The rows of several, side by side, and their mask: those of other masks have as many by the program."""
    if not all(is_same(each.source, chosen[0].source) and each.is_packed is chosen[0].is_packed for each in chosen):
        chosen = [each.packed() for each in chosen]
        size = min(len(each.mask) for each in chosen)
        return [each.rows[:size] for each in chosen], chosen[0].mask[:size], None
    return [each.rows for each in chosen], chosen[0].mask, chosen[0].source


def is_same(one: Any, other: Any) -> bool:
    """True if two sources are one mask, or are made of the same masks in the same way."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(is_same, one, other))
    return one is other or (isinstance(one, str | int) and one == other)


def beside(mask: Tensor, x: Tensor) -> Tensor:
    """A mask of the first dimensions of ``x``, for its elements."""
    return mask.reshape(*mask.shape, *[1] * (x.dim() - mask.dim()))


def refused(what: str, more: str = _OTHERS) -> CompileError:
    """The error of what has no size that is known."""
    return CompileError(f"{what} would be as large as values say; {more}")
