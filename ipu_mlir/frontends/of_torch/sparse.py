"""Products with sparse matrices of PyTorch in programs: rows of the other factor, times the elements, are added."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import disable_proxy_modes_tracing

from ipu_mlir.dialects.support.errors import CompileError


@dataclass(frozen=True)
class Coo:
    """A sparse matrix: ``values[n]`` is added at ``places[0][n], places[1][n]``."""

    places: tuple[Tensor, Tensor]
    values: Tensor
    shape: tuple[int, int]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise CompileError(
            f"{getattr(func, '__name__', func)} of a sparse matrix is no product; make it of x.to_dense()"
        )

    def __getattr__(self, name: str) -> Any:
        raise CompileError(f"x.{name} of a sparse matrix is no product; make it of x.to_dense()")

    def t(self) -> "Coo":
        return Coo((self.places[1], self.places[0]), self.values, (self.shape[1], self.shape[0]))

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    def coalesce(self) -> "Coo":
        return self

    def to_dense(self) -> Tensor:
        row, column = self.places
        flat = self.values.new_zeros(self.shape[0] * self.shape[1])
        return flat.index_add(0, row * self.shape[1] + column, self.values).reshape(self.shape)

    def __matmul__(self, x: Any) -> Any:
        row, column = self.places
        x = x.to_dense() if isinstance(x := _opened(x), Coo) else x
        values = self.values.reshape(-1, *[1] * (x.dim() - 1))
        products = values * x.index_select(0, column)
        return products.new_zeros(self.shape[0], *x.shape[1:]).index_add(0, row, products)

    mm = matmul = mv = __matmul__

    def __rmatmul__(self, x: Tensor) -> Tensor:
        return (self.t() @ x.t()).t()


def _opened(x: Any) -> Any:
    """A sparse matrix whose elements are known as what they are; others as they are."""
    if not isinstance(x, Tensor) or x.layout == torch.strided:
        return x
    with disable_proxy_modes_tracing(), unset_fake_temporarily():
        known = x.detach().to_sparse_coo().coalesce()
        row, column = known.indices()
        return Coo((row.clone(), column.clone()), known.values().clone(), (known.shape[0], known.shape[1]))


def _made(func: Callable[..., Any], places: Any, values: Any, size: Any = None, **options: Any) -> Any:
    if size is None or len(size) != 2 or not isinstance(values, Tensor) or values.dim() != 1:
        return func(places, values, *([] if size is None else [size]), **options)
    return Coo((places[0], places[1]), values, tuple(size))


def _product(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    found = list(map(_opened, args))
    if len(found) != 2 or kwargs or not any(isinstance(each, Coo) for each in found):
        return func(*args, **kwargs)
    return found[0] @ found[1]


def _to_dense(func: Callable[..., Any], x: Tensor, *args: Any, **kwargs: Any) -> Any:
    found = _opened(x)
    return found.to_dense() if isinstance(found, Coo) else func(x, *args, **kwargs)


_TENSOR = torch.Tensor
_PRODUCTS: Sequence[Any] = (
    *(torch.sparse.mm, torch.spmm, torch.mm, torch.matmul, torch.mv),
    *(_TENSOR.matmul, _TENSOR.mm, _TENSOR.mv, _TENSOR.__matmul__),
)
PLAIN = {
    torch.sparse_coo_tensor: partial(_made, torch.sparse_coo_tensor),
    _TENSOR.to_dense: partial(_to_dense, _TENSOR.to_dense),
    **{each: partial(_product, each) for each in _PRODUCTS},
}
"""Functions of PyTorch, and those that take their places while programs are traced."""
