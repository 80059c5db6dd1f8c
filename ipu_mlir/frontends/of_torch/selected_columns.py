"""What a mask selects of another dimension than the first: ``x[:, mask]``."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ipu_mlir.frontends.of_torch.selected_rows import applied, dims_of, is_along, is_of_rows
from ipu_mlir.frontends.of_torch.selection import Selection, is_same, refused, together


class Columns:
    """A selection ``chosen``, whose rows stand along dimension ``place``."""

    def __init__(self, chosen: Any, place: int) -> None:
        self.chosen, self.place = chosen, place

    @property
    def shape(self) -> tuple[Any, ...]:
        count, *others = self.chosen.shape
        return *others[: self.place], count, *others[self.place :]

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def numel(self) -> Any:
        return self.chosen.numel()

    def dim(self) -> int:
        return self.chosen.dim()

    ndim = property(dim)

    @property
    def whole(self) -> Tensor:
        """The rows that are selected in front, and others, along their dimension."""
        return self.chosen.packed().rows.movedim(0, self.place)

    def where(self, neutral: Any) -> Tensor:
        return self.chosen.where(neutral).movedim(0, self.place)

    def inside(self, dim: int) -> int:
        """The dimension of ``chosen`` that is ``dim`` here."""
        return 0 if dim == self.place else dim + (dim < self.place)


def placed(chosen: Any, place: int) -> Any:
    return Columns(chosen, place) if place else chosen


def columns_of(x: Any) -> Any:
    return Columns(x, 0) if isinstance(x, Selection) else x


def transposed(x: Any, order: Sequence[int]) -> Any:
    """``x.permute(order)``."""
    order = [each % x.dim() for each in order]
    rows = x.chosen.rows.permute(0, *(x.inside(each) for each in order if each != x.place))
    return placed(x.chosen.like(rows), order.index(x.place))


def order_of(name: str, rank: int, *given: Any, **named: int) -> list[int] | None:
    """The order of dimensions in which a function of this name puts them; None for another function."""
    order = list(range(rank))
    if name in ("T", "t"):
        return order[::-1]
    if name == "permute":
        return list(given[0] if len(given) == 1 else given)
    if name not in ("mT", "transpose", "swapaxes", "swapdims"):
        return None
    one, other = (-2, -1) if name == "mT" else (*given, *named.values())
    order[one], order[other] = order[other], order[one]
    return order


def applied_to_columns(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func`` of arguments of which some are ``Columns``."""
    name = getattr(func, "__name__", str(func)).strip("_")
    x = columns_of(args[0])
    if isinstance(x, Columns) and (order := order_of(name, x.dim(), *args[1:], **kwargs)) is not None:
        return transposed(x, order)
    if name in ("matmul", "mm", "rmatmul"):
        left, right = map(columns_of, args[:2] if name != "rmatmul" else args[1::-1])
        return _product(left, right)
    if isinstance(x, Columns) and is_along(name):
        return _along(func, name, x, args, kwargs)
    if is_of_rows(name):
        return _by_elements(func, args, kwargs)
    raise refused(f"{name} of what a mask selects of a dimension that is not the first")


def _along(func: Any, name: str, x: Columns, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    rank = x.dim()
    dims, place = dims_of(name, rank, args, kwargs)
    if place is None:
        found = applied(func, (x.chosen, *args[1:]), kwargs)
    else:
        inside = tuple(map(x.inside, dims))
        given: Any = inside[0] if len(inside) == 1 else inside
        rest = [given if number == place else each for number, each in enumerate(args)][1:]
        named = {key: given if key == place else each for key, each in kwargs.items()}
        found = applied(func, (x.chosen, *rest), named)
    left = x.place - sum(each < x.place for each in dims)

    def back(each: Any) -> Any:
        is_whole = each.dim() == rank
        if isinstance(each, Selection):
            return placed(each, x.place if is_whole else left)
        return each.movedim(0, x.place) if is_whole and rank else each

    return pytree.tree_map(back, found)


def _by_elements(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """``func``, which computes an element from those at the same place."""
    args = [columns_of(each) for each in args]
    ranks = [each.dim() for each in args if isinstance(each, Tensor | Columns)]
    rank = max(ranks)
    places = {each.place - each.dim() for each in args if isinstance(each, Columns)}
    at = next(iter(places))
    if len(places) > 1:
        raise refused("a function of what masks select of several dimensions")

    def in_front(each: Any) -> Any:
        if isinstance(each, Columns):
            rows = each.chosen.rows
            return each.chosen.like(rows.reshape(len(rows), *[1] * (rank - rows.dim()), *rows.shape[1:]))
        if not isinstance(each, Tensor) or each.dim() < -at:
            return each
        if each.shape[at] != 1:
            raise refused("a tensor beside what a mask selects of the same dimension")
        return each.reshape(*[1] * (rank - each.dim()), *each.shape).movedim(at, 0)

    return placed(applied(func, [in_front(each) for each in args], kwargs), rank + at)


def _product(left: Any, right: Any) -> Any:
    sums = [isinstance(left, Columns) and left.place == left.dim() - 1]
    sums.append(isinstance(right, Columns) and right.place == max(right.dim() - 2, 0))
    if all(sums):
        chosen = [left.chosen, right.chosen]
        if not is_same(chosen[0].source, chosen[1].source):
            (one, other), mask, source = together(chosen)
            left, right = (
                Columns(type(left.chosen)(rows, mask, source, True), each.place)
                for rows, each in zip((one, other), (left, right), strict=True)
            )
        return torch.matmul(left.where(0), right.where(0))
    if isinstance(left, Columns) and isinstance(right, Tensor) and not sums[0] and right.dim() == 2:
        return placed(left.chosen.like(left.chosen.rows @ right), left.place)
    if isinstance(right, Columns) and isinstance(left, Tensor) and left.dim() == right.dim() == 2 and not sums[1]:
        return Columns(right.chosen.like(right.chosen.rows @ left.mT), 1)
    raise refused("such a product of what a mask selects of a dimension that is not the first")


def read_columns(x: Any, entries: Sequence[Any], of: Callable[[Tensor, Tensor], Any]) -> Any:
    """``x[entries]``, of which one is a mask, others are numbers and slices; ``NotImplemented`` for other entries.

    Args:
        of: selects rows of a tensor by a mask.
    """
    masks = [each for each in entries if isinstance(each, Tensor) and each.dtype == torch.bool and each.dim()]
    basic = [each for each in entries if each is ... or type(each) in (int, slice)]
    if len(masks) != 1 or len(basic) + 1 != len(entries) or sum(each is ... for each in entries) > 1:
        return NotImplemented
    (mask,) = masks
    number = next(place for place, each in enumerate(entries) if each is mask)
    missing = x.dim() - mask.dim() - sum(each is not ... for each in basic)
    before = _without_dots(entries[:number], missing)
    after = _without_dots(entries[number + 1 :], missing)
    part = x[(*before, *[slice(None)] * mask.dim(), *after)]
    place = sum(type(each) is slice for each in before)
    return placed(of(part.movedim([*range(place, place + mask.dim())], [*range(mask.dim())]), mask), place)


def _without_dots(entries: Sequence[Any], missing: int) -> list[Any]:
    return [each for entry in entries for each in ([slice(None)] * missing if entry is ... else [entry])]


def part_of_columns(x: Columns, entries: Sequence[Any]) -> Any:
    """``x[entries]``, numbers and slices of the other dimensions."""
    if sum(each is ... for each in entries) > 1 or not all(
        each is ... or type(each) in (int, slice) for each in entries
    ):
        raise refused("such a part of what a mask selects")
    missing = x.dim() - sum(each is not ... for each in entries)
    whole = _without_dots(entries if ... in entries else [*entries, ...], missing)
    own = whole.pop(x.place)
    if own != slice(None):
        raise refused("such a part of what a mask selects")
    left = x.place - sum(type(each) is int for each in whole[: x.place])
    return placed(x.chosen.like(x.chosen.rows[(slice(None), *whole)]), left)
