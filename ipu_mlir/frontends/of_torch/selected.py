"""What programs select of tensors of PyTorch by masks, read and write by it, and ask for the places of."""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ipu_mlir.frontends.aten.custom_ops import counts
from ipu_mlir.frontends.of_torch.known_values import computed, value_of
from ipu_mlir.frontends.of_torch.selected_columns import (
    Columns,
    applied_to_columns,
    columns_of,
    order_of,
    part_of_columns,
    read_columns,
    transposed,
)
from ipu_mlir.frontends.of_torch.selected_rows import applied, by_rows
from ipu_mlir.frontends.of_torch.selection import Selection, beside, refused, together
from ipu_mlir.frontends.support.selecting import words

_OPERATORS = words("add sub mul truediv floordiv mod pow matmul and or xor lt le gt ge eq ne neg abs invert")
_PLACES = (torch.int64, torch.int32)
_KNOWN = frozenset(("dtype", "device", "layout", "requires_grad", "is_sparse", "is_quantized"))


class Selected(Selection):
    """A selection in a program: functions of PyTorch compute with its rows."""

    def __getitem__(self, index: Any) -> Any:
        return read(self, index if isinstance(index, tuple) else (index,))

    def __setitem__(self, index: Any, value: Any) -> None:
        raise refused("a part of what a mask selects, which is a copy,")

    def __getattr__(self, name: str) -> Any:
        return _attribute(self, self.rows, name)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class SelectedColumns(Columns):
    """Such a selection in a program."""

    def __getitem__(self, index: Any) -> Any:
        return _as_users_have(part_of_columns(self, index if isinstance(index, tuple) else (index,)))

    __setitem__ = Selected.__setitem__

    def __getattr__(self, name: str) -> Any:
        return _attribute(self, self.chosen.rows, name)

    __torch_function__ = Selected.__torch_function__


def _attribute(x: Any, rows: Tensor, name: str) -> Any:
    if name in _KNOWN or name.startswith("is_"):
        return getattr(rows, name)
    found = getattr(Tensor, name)
    if name in ("T", "mT"):
        return _as_users_have(transposed(columns_of(x), order_of(name, x.dim()) or ()))
    if not callable(found):
        raise refused(f"{name} of what a mask selects")
    return lambda *args, **kwargs: _computed(found, (x, *args), kwargs)


def _computed(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    is_moved = isinstance(args[0], Selected) and order_of(getattr(func, "__name__", ""), 2, 0, 1) is not None
    if is_moved or any(isinstance(each, Columns) for each in args):
        return _as_users_have(applied_to_columns(func, args, kwargs))
    return applied(func, args, kwargs)


def _as_users_have(found: Any) -> Any:
    return pytree.tree_map_only(Columns, lambda each: SelectedColumns(each.chosen, each.place), found)


def _operators() -> None:
    for name in _OPERATORS:
        for dunder in (f"__{name}__", f"__r{name}__"):
            of = getattr(Tensor, dunder, None)
            if of is not None:
                for kind in (Selected, SelectedColumns):
                    setattr(kind, dunder, lambda self, *other, of=of: _computed(of, (self, *other), {}))


_operators()


def nonzero(x: Tensor, *, as_tuple: bool = False) -> Any:
    """The indices of what is not zero, as PyTorch gives them."""
    if isinstance(x, Selected):
        x = x.packed().where(0)
    if (known := value_of(x)) is not None:
        return computed(torch.nonzero, known, as_tuple=as_tuple)
    if not x.numel():
        empty = torch.zeros(0, x.dim(), dtype=torch.int64)
        return empty.unbind(1) if as_tuple else empty
    x = x.reshape(1) if as_tuple and not x.dim() else x
    mask = x if x.dtype == torch.bool else x != 0
    if not x.dim():
        return Selected(torch.zeros(1, 0, dtype=torch.int64), mask.reshape(1), mask)
    found = [Selected.of(each, mask) for each in torch.meshgrid(*map(torch.arange, x.shape), indexing="ij")]
    return tuple(found) if as_tuple else Selected(torch.stack([each.rows for each in found], 1), found[0].mask, mask)


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements that are not equal, in order, as ``torch.unique`` gives them."""
    if dim is not None or value_of(input) is not None:
        return _of_values(torch.unique, input, sorted, return_inverse, return_counts, dim)
    values, order = torch.sort(input.reshape(-1), stable=True)
    found = unique_consecutive(values, return_inverse, return_counts)
    if return_inverse:
        inverse = torch.zeros_like(order).scatter(0, order, found[1]).reshape(input.shape)
        found = (found[0], inverse, *found[2:])
    return found


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The elements that differ from those before them, as ``torch.unique_consecutive`` gives them."""
    if dim is not None or value_of(input) is not None:
        return _of_values(torch.unique_consecutive, input, return_inverse, return_counts, dim)
    flat = input.reshape(-1)
    is_new = torch.cat([torch.ones_like(flat[:1], dtype=torch.bool), flat[1:] != flat[:-1]])
    values, number = Selected.of(flat, is_new).packed(), is_new.cumsum(0) - 1
    results = [values, *([number.reshape(input.shape)] if return_inverse else [])]
    if return_counts:
        counts = torch.zeros_like(number).index_add(0, number, torch.ones_like(number))
        results.append(Selected.filled(counts, values.mask, values.source, values.is_packed))
    return tuple(results) if len(results) > 1 else values


def masked_select(x: Tensor, mask: Tensor) -> Any:
    """The elements that ``mask`` selects, in a row."""
    wide = torch.broadcast_shapes(x.shape, mask.shape) or (1,)
    return read(x.expand(wide), (mask if mask.shape == wide else mask.expand(wide),))


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each number below ``minlength`` is there; there are as many as values say where it is not given."""
    if (known := value_of(x)) is not None:
        if weights is None:
            return computed(torch.bincount, known, minlength=minlength)
        minlength = max(minlength, int(computed(torch.max, known)) + 1 if x.numel() else 0)
    if not minlength:
        raise refused("the result of bincount", "give minlength, the number of counts, and let all numbers be below it")
    if weights is not None and weights.dtype != torch.float32:
        weights = weights.double()
    return counts(x, weights, minlength)


def read(x: Any, entries: Sequence[Any]) -> Any:
    """``x[entries]`` if a mask is the first of them, or something is selected; ``NotImplemented`` else."""
    first, rest = entries[0], tuple(entries[1:])
    if isinstance(x, Selected):
        if isinstance(first, Selected) and first.dtype == torch.bool:
            (rows, chosen), mask, _ = together([x, first])
            return Selected(Selected.of(rows, mask & chosen).rows, mask & chosen)
        if isinstance(first, Selected) and not any(isinstance(each, Tensor | Selected) for each in rest):
            return first.like(x.packed().rows[(first.rows, *rest)])
        kept = x.dim() > sum(each is not None for each in rest) if first is ... else first == slice(None)
        if kept and not any(isinstance(each, Tensor) for each in entries):
            return x.like(x.rows[tuple(entries)])
        if isinstance(first, int) and first >= 0:
            return x.packed().rows[tuple(entries)]
        if (
            isinstance(first, slice)
            and first.step is None
            and all((each or 0) >= 0 for each in (first.start, first.stop))
        ):
            x = x.packed()
            return Selected.filled(x.rows[tuple(entries)], x.mask[first], is_packed=True)
        if isinstance(first, Tensor) and first.dtype in _PLACES and not rest:
            place: Any = first
            return x.packed().rows[torch.where(place < 0, place + x.mask.sum(), place)]
        raise refused("such a part of what a mask selects")
    if isinstance(first, Selected):
        return by_rows(lambda *key: x[key], entries, {})
    if any(isinstance(each, Selected) for each in entries) and not _is_mask(first):
        raise refused("what a mask selects of a dimension that is not the first")
    if not _is_mask(first):
        masks = [each for each in rest if _is_mask(each)]
        if not masks or not isinstance(x, Tensor):
            return NotImplemented
        if all(value_of(each) is not None for each in masks):
            return x[tuple(place for each in entries for place in _places(each))]
        return _as_users_have(read_columns(x, entries, Selected.of))
    if value_of(first) is not None:
        return x[(*_places(first), *rest)]
    if any(isinstance(each, Tensor | Selected) for each in rest):
        return read(x, (*nonzero(first, as_tuple=True), *rest))
    found = Selected.of(x, first)
    return Selected(found.rows[(slice(None), *rest)], found.mask, first) if rest else found


def write(x: Tensor, entries: Sequence[Any], value: Any) -> Any:
    """``x[entries] = value`` if a mask is the first of them, or something is selected; ``NotImplemented`` else."""
    first = entries[0]
    if isinstance(first, Selected):
        keys = [each for each in (*entries, value) if isinstance(each, Selected)]
        rows, mask, _ = together(keys)
        found = iter(rows)
        place, *others = [next(found) if isinstance(each, Selected) else each for each in entries]
        longer = torch.cat([x, x[:1]])  # its last row takes what is not selected
        longer[(torch.where(mask, place, len(x)), *others)] = next(found, value)
        x.copy_(longer[:-1])
    elif _is_mask(first) and len(entries) == 1 and isinstance(value, Selected) and value.source is first:
        x.copy_(torch.where(beside(first, x), value.rows.reshape(x.shape).to(x.dtype), x))
    elif _is_mask(first) and len(entries) == 1 and _is_row_each(x, first, value):
        rows = value.packed().rows if isinstance(value, Selected) else value
        x.masked_scatter_(beside(first, x).expand(x.shape), rows.to(x.dtype))
    elif isinstance(value, SelectedColumns) and any(each is value.chosen.source for each in entries):
        dims, mask = len(entries), value.chosen.source
        is_plain = all(each is mask or each == slice(None) for each in entries) and entries[value.place] is mask
        if not is_plain or mask.dim() > 1 or dims > x.dim():
            raise refused("such an assignment of what a mask selects")
        return write(x.movedim(value.place, 0), (mask,), value.chosen)
    elif any(isinstance(each, Selected | Columns) for each in (*entries, value)):
        raise refused("such an assignment of what a mask selects")
    else:
        return NotImplemented
    return None


def _is_row_each(x: Tensor, mask: Tensor, value: Any) -> bool:
    """True if ``value`` has a row for each that ``mask`` selects of ``x``, not one for all."""
    if isinstance(value, Selected):
        return value.dim() == x.dim() - mask.dim() + 1
    return isinstance(value, Tensor) and value.dim() == x.dim() - mask.dim() + 1 and len(value) != 1


def _places(entry: Any) -> tuple[Any, ...]:
    """Entries of an index in the place of one: of a mask whose values are known, what it selects."""
    known = value_of(entry) if _is_mask(entry) else None
    return (entry,) if known is None else computed(torch.nonzero, known, as_tuple=True)


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, Tensor) and entry.dtype == torch.bool and entry.dim() > 0


def _of_values(func: Callable[..., Any], x: Tensor, *more: Any) -> Any:
    """``func``, whose result is as large as values say, of a tensor whose values are known."""
    known = value_of(x)
    if known is None:
        raise refused(f"the result of {getattr(func, '__name__', func)}")
    return computed(func, known, *more)
