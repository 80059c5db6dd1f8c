"""Rules of ops, and the element types in which ops compute."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import _disable_current_modes

from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.tracing.graph import Symbol, current_trace

Rule = Callable[..., Any]
_BODIES = "higher_order."
"""The namespace of ops with bodies, which have no overloads."""
_SPACES = ("prims.", f"{SPACE}.")


@dataclass(frozen=True)
class Made:
    """What an op gives, as PyTorch says.

    Attributes:
        shape, dtype: of its first result.
        every: shape and type of each result.
        strides: in elements, of the first result.
        taken: strides of each argument that is a tensor, None for others.
        of_graph: gives what a graph computes as a function; of ops in programs.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    every: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    strides: tuple[int, ...] = ()
    taken: tuple[tuple[int, ...] | None, ...] = ()
    of_graph: Callable[[torch.fx.Graph], Callable[..., tuple[Any, ...]]] | None = None


class Later:
    """A result that is computed when something uses it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    @cached_property
    def value(self) -> Any:
        return self._make()


@dataclass(frozen=True)
class OpRule:
    """How ops come to NumPy on traced tensors; other rules call it as the function that it is.

    Attributes:
        names: ``add.Tensor`` of ``aten``, ``prims.sum.default``, ``ipu_mlir.gru.default``, ``higher_order.cond``;
            ``sum`` for all overloads.
        function: as it is written.
        apply: the function for what an op gets, which may have other types.
        takes_made: whether it takes ``made``.
    """

    names: tuple[str, ...]
    function: Rule
    apply: Rule
    takes_made: bool = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.function(*args, **options)

    def ops(self) -> Iterator[Any]:
        """The ops that ``names`` says, without those that write to their arguments.

        Those that this release of PyTorch lacks are left out: 2.14 has no ``cholesky`` any more.
        """
        for name in self.names:
            if name.startswith(_BODIES):
                yield getattr(torch.ops.higher_order, name.removeprefix(_BODIES))
                continue
            space, _, rest = name.partition(".") if name.startswith(_SPACES) else ("aten", "", name)
            packet, _, overload = rest.partition(".")
            found = getattr(getattr(torch.ops, space), packet, None)
            for each in [overload] if overload else found.overloads() if found is not None else ():
                op = getattr(found, each, None)
                if op is not None and not op._schema.is_mutable:
                    yield op


def rule(*names: str) -> Callable[[Rule], OpRule]:
    """Make a function the rule of ops."""
    return lambda function: OpRule(names, function, function, "made" in inspect.signature(function).parameters)


def elementwise(*names: str, count: int | None = None, kind: str = "same") -> Callable[[Rule], OpRule]:
    """Make a function the rule of ops on elements, whose first ``count`` arguments come to it in one type.

    Args:
        count: of the arguments that are numbers; all of them if it is not given.
        kind: ``same``; ``float`` for what makes floats of integers, ``wide`` for what computes with floats of at least
            32 bits; the result takes its own type in any case.
    """
    return lambda function: OpRule(names, function, in_one_type(kind, count)(function))


def in_one_type(kind: str = "same", count: int | None = None) -> Callable[[Rule], Rule]:
    """Let a function take its first ``count`` arguments in the type that they have in common; as ``elementwise``."""

    def changed(function: Rule) -> Rule:
        def apply(*args: Any, **options: Any) -> Any:
            given = args[: len(args) if count is None else count]
            numbers = [options.pop(name) for name in ("other", "min", "max", "weight", "end") if name in options]
            dtype = common_dtype((*given, *numbers))
            if (kind != "same" and dtype.kind in "biu") or (kind == "wide" and dtype.itemsize < 4):
                dtype = np.dtype(np.float32)
            return function(*(as_operand(each, dtype) for each in (*given, *numbers)), *args[len(given) :], **options)

        return apply

    return changed


def as_operand(value: Any, dtype: np.dtype[Any]) -> Any:
    """A tensor of ``dtype``, or a number as one of Python's that takes on the type of what it meets."""
    if isinstance(value, Symbol):
        return value.astype(dtype)
    if isinstance(value, int) and dtype.kind in "iu":  # wraps, as in PyTorch
        return int(np.asarray(value & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").view(dtype))
    return None if value is None else _NUMBERS.get(dtype.kind, float)(value)


_NUMBERS: dict[str, Callable[[Any], Any]] = {"b": bool, "i": int, "u": int, "c": complex}
"""By kind of element type, Python's numbers; floats of all types are one of the rest."""


def common_dtype(values: Sequence[Any]) -> np.dtype[Any]:
    """The type that PyTorch computes in: tensors come before those without dimensions, and these before numbers.

    A later one counts if it is of a higher kind: bools, integers, floats, complex numbers.
    """
    ranks: list[list[torch.dtype]] = [[], [], []]
    for value in values:
        if isinstance(value, Symbol):
            ranks[0 if value.shape else 1].append(to_torch_dtype(value.dtype))
        elif value is not None:
            ranks[2].append(_of_number(value))
    found = [reduce(torch.promote_types, each) for each in ranks if each]
    best = found[0]
    for other in found[1:]:
        if _category(other) > _category(best):
            if other.is_complex and best.is_floating_point:
                best = torch.complex128 if best == torch.float64 else torch.complex64
            else:
                best = torch.promote_types(best, other) if _category(best) else other
    return to_numpy_dtype(best)


def _of_number(value: Any) -> torch.dtype:
    if isinstance(value, bool):
        return torch.bool
    if isinstance(value, int):
        return torch.int64
    return torch.complex64 if isinstance(value, complex) else torch.float32


def _category(dtype: torch.dtype) -> int:
    if dtype.is_complex:
        return 3
    return 2 if dtype.is_floating_point else int(dtype != torch.bool)


def to_numpy(leaf: torch.Tensor, kind: torch.dtype) -> np.ndarray:
    """A tensor as NumPy's array, of the memory of the tensor where there is such a type."""
    tensor = leaf.detach().cpu().resolve_conj().resolve_neg()
    if kind == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(host_dtype("bf16"))
    to_numpy_dtype(tensor.dtype)
    return tensor.numpy()


@cache
def to_numpy_dtype(dtype: torch.dtype) -> np.dtype[Any]:
    """NumPy's type of the elements of a tensor.

    Raises:
        NotImplementedError: there is none.
    """
    if dtype == torch.bfloat16:
        return host_dtype("bf16")
    with _disable_current_modes():  # an export has tensors without values only
        try:
            return torch.empty(0, dtype=dtype).numpy().dtype
        except TypeError as error:
            raise NotImplementedError(f"there are no tensors of {dtype} here; use another type, x.to(...)") from error


@cache
def to_torch_dtype(dtype: np.dtype[Any]) -> torch.dtype:
    """PyTorch's type for one of NumPy's."""
    return torch.bfloat16 if dtype == host_dtype("bf16") else torch.from_numpy(np.empty(0, dtype)).dtype


def wide(x: Any) -> Any:
    """A float tensor of 16 bits as float32, in which sums over many of its elements are made."""
    narrow = x.dtype.kind not in "biuc" and x.dtype.itemsize < 4
    return x.astype(np.float32) if narrow else x


def constant(array: Any, dtype: Any = None) -> Any:
    """A tensor of known numbers."""
    trace = current_trace()
    assert trace is not None, "rules are applied while a graph is traced"
    return trace.constant(np.asarray(array, dtype))


def axes(dims: Any, x: Any) -> tuple[int, ...]:
    """The dimensions that ``dims`` names, from the front; all of them for None and for an empty list."""
    rank = len(x.shape)
    if dims is None or (not isinstance(dims, int) and not len(dims)):
        return tuple(range(rank))
    return tuple(each % rank for each in ([dims] if isinstance(dims, int) else dims)) if rank else ()
