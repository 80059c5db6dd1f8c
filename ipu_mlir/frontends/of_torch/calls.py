"""How programs of PyTorch are called: nested arguments and results, as tensors and as NumPy's arrays."""

import copy
import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from ipu_mlir.dialects.support.arguments import as_argument, check_constant, refuse_type
from ipu_mlir.dialects.support.errors import CompileError, RunError
from ipu_mlir.dialects.support.narrow_floats import host_dtype
from ipu_mlir.frontends.aten.rules import to_numpy, to_numpy_dtype
from ipu_mlir.frontends.of_torch.selected import Selected, SelectedColumns
from ipu_mlir.frontends.of_torch.sparse import Coo
from ipu_mlir.specs.tensor_types import as_for_users, as_in_programs


@dataclass(frozen=True)
class TorchCall:
    """Arguments and results of a PyTorch function, nested in tuples, lists and dicts.

    Attributes:
        in_spec, out_spec: how ``(args, kwargs)`` and the results are nested.
        types: of every leaf of the arguments, PyTorch's type; None for what is part of the program.
        known: the values of what is part of the program, by the numbers of the leaves.
        constants: results that are part of the program, by their numbers.
        made: by the numbers of the results, PyTorch's types of those that the program has in another form.
    """

    in_spec: Any
    out_spec: Any
    types: tuple[torch.dtype | None, ...]
    known: Mapping[int, Any]
    constants: Mapping[int, Any]
    made: Mapping[int, torch.dtype] = field(default_factory=dict)

    def flatten(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[np.ndarray]:
        """The flat inputs of a call.

        Raises:
            RunError: the arguments are not nested as those that the program was compiled for.
        """
        leaves, spec = pytree.tree_flatten((tuple(args), dict(kwargs)))
        if spec != self.in_spec:
            raise RunError(f"the arguments are {spec}, the program was compiled for {self.in_spec}")
        for place, known in self.known.items():
            check_constant(leaves[place], known, functools.partial(self._name, place))
        return [self._array(leaf, place) for place, leaf in enumerate(leaves) if place not in self.known]

    def _array(self, leaf: Any, place: int) -> np.ndarray:
        kind = self.types[place]
        assert kind is not None, "known leaves are no arguments"
        if not isinstance(leaf, torch.Tensor):
            leaf = from_numpy(as_argument(leaf, None, to_numpy_dtype(kind), lambda: self._name(place)))
        elif leaf.dtype != kind:
            raise refuse_type(self._name(place), leaf.dtype, kind, f"convert it with .to({kind})")
        try:
            return bits_and_parts(to_numpy(leaf, kind))
        except (TypeError, RuntimeError) as error:
            raise RunError(f"{self._name(place)} has no elements in memory: {error}; give a dense tensor") from error

    def _name(self, place: int) -> str:
        """Where a leaf stands: ``argument args[0]['w']``."""
        positional, named = pytree.tree_unflatten(range(self.in_spec.num_leaves), self.in_spec)
        leaves, _ = pytree.tree_flatten_with_path({"args": positional, "kwargs": named})
        path = next(path for path, leaf in leaves if leaf == place)
        return f"argument {path[0].key}{pytree.keystr(path[1:])}"

    def unflatten(self, results: Sequence[np.ndarray]) -> Any:
        """The results as tensors, nested as the function has them."""
        rest = iter(results)
        count = self.out_spec.num_leaves
        leaves = []
        for place in range(count):
            if place in self.constants:
                leaves.append(self.constants[place])
            elif place in self.made:
                leaves.append(to_torch(as_for_users(next(rest), to_numpy_dtype(self.made[place]))))
            else:
                leaves.append(to_torch(next(rest)))
        return pytree.tree_unflatten(leaves, self.out_spec)

    def taken(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """The leaves of the arguments, of any kind, that the program takes."""
        leaves, _ = pytree.tree_flatten((tuple(args), dict(kwargs)))
        return [leaf for place, leaf in enumerate(leaves) if place not in self.known]

    def nested(self, results: Sequence[Any]) -> Any:
        """Results of any kind, nested as the function has them."""
        rest = iter(results)
        count = self.out_spec.num_leaves
        leaves = [self.constants[place] if place in self.constants else next(rest) for place in range(count)]
        return pytree.tree_unflatten(leaves, self.out_spec)

    @property
    def result_names(self) -> list[str]:
        """Where each result stands."""
        count = self.out_spec.num_leaves
        return [f"result{place}" for place in range(count) if place not in self.constants]


class _Opened:
    """An object of a class that PyTorch's trees do not know, by those of its attributes that hold tensors."""

    def __init__(self, original: Any, attributes: dict[str, Any]) -> None:
        self.original, self.attributes = original, attributes


def _closed(children: Iterable[Any], context: Any) -> Any:
    made = copy.copy(context[0])
    vars(made).update(zip(context[1], children, strict=True))
    return made


pytree.register_pytree_node(
    _Opened, lambda each: (list(each.attributes.values()), (each.original, list(each.attributes))), _closed
)


class _Counted:
    """Rows of a result, along ``place``, of which the first are those that the program gives."""

    def __init__(self, rows: Any, count: Any, place: int = 0) -> None:
        self.rows, self.count, self.place = rows, count, place


class _Number:
    """A result that is a number of Python."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _read(children: Iterable[Any], _: Any) -> Any:
    (value,) = children
    return value.item() if isinstance(value, torch.Tensor) else _Number(value)


def _cut(children: Iterable[Any], place: Any) -> Any:
    rows, count = children
    return rows.narrow(place, 0, int(count)) if isinstance(count, torch.Tensor) else _Counted(rows, count, place)


pytree.register_pytree_node(_Number, lambda each: ([each.value], None), _read)
pytree.register_pytree_node(_Counted, lambda each: ([each.rows, each.count], each.place), _cut)


def opened(results: Any, around: tuple[int, ...] = ()) -> Any:
    """``results`` as a tree whose leaves have all tensors: of objects of other classes, their attributes.

    Such a tree, when it is put together again, has objects of the same classes.
    """

    def of_leaf(leaf: Any) -> Any:
        if isinstance(leaf, Selected):
            packed = leaf.packed()
            return _Counted(packed.rows, packed.mask.sum())
        if isinstance(leaf, SelectedColumns):
            return _Counted(leaf.whole, leaf.chosen.mask.sum(), leaf.place)
        if isinstance(leaf, Coo):
            raise CompileError("a result is a sparse matrix; give x.to_dense()")
        if getattr(leaf, "is_python_number", False):
            return _Number(leaf)
        if (
            isinstance(leaf, torch.Tensor | torch.nn.Module | type)
            or not hasattr(leaf, "__dict__")
            or type(leaf).__module__.startswith(("torch.fx.", "torch._"))  # of a trace, which has all of it inside
            or id(leaf) in around
        ):
            return leaf
        inside = {name: opened(each, (*around, id(leaf))) for name, each in vars(leaf).items()}
        held = {name: each for name, each in inside.items() if any(map(torch.is_tensor, pytree.tree_leaves(each)))}
        return _Opened(leaf, held) if held else leaf

    return pytree.tree_map(of_leaf, results)


def call_of_the_rest(call: TorchCall, count: int) -> TorchCall:
    """How a function of ``(state, args, kwargs)``, which gives ``(state, result)``, is called without its state.

    Args:
        count: of the tensors of the state.
    """
    positional, _ = call.in_spec.children()
    args, kwargs = positional.children()[1:]
    return replace(
        call,
        in_spec=pytree.treespec_tuple([args, kwargs]),
        out_spec=call.out_spec.child(1),
        types=call.types[count:],
        known=_later(call.known, count),
        constants=_later(call.constants, count),
        made=_later(call.made, count),
    )


def _later(by_place: Mapping[int, Any], count: int) -> dict[int, Any]:
    return {place - count: each for place, each in by_place.items() if place >= count}


def from_numpy(array: np.ndarray) -> torch.Tensor:
    return to_torch(np.array(array))  # PyTorch warns of arrays that cannot be written, and takes no negative strides


def to_torch(result: np.ndarray) -> torch.Tensor:
    """A result, which nobody else has, as a tensor."""
    if result.dtype == host_dtype("bf16"):
        return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(result)


def bits_and_parts(array: np.ndarray) -> np.ndarray:
    """``array`` as programs have it: integers without a sign as bits, complex numbers as their parts."""
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else as_in_programs(array, array.dtype)


def in_other_form(results: Sequence[Any]) -> dict[int, torch.dtype]:
    """The types of those results that a program has as their bits or as their parts, by their numbers."""
    types = {place: getattr(each, "dtype", None) for place, each in enumerate(results)}
    return {place: kind for place, kind in types.items() if kind is not None and (kind.is_complex or kind in UNSIGNED)}


UNSIGNED = frozenset((torch.uint8, torch.uint16, torch.uint32, torch.uint64))
