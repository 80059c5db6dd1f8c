"""Values of tensors that a program makes of none of its arguments, which its lines may ask for."""

import operator
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast
from unittest.mock import patch

import torch
from torch import Tensor, fx
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack
from torch.fx.experimental import proxy_tensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

_ASK = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default, torch.ops.aten.is_nonzero.default)
_MOST_ELEMENTS = 1 << 20
"""Larger tensors are not computed while a program is traced."""


def trace_known_values(settings: ExitStack) -> None:
    """Let PyTorch answer a program that asks for a number which depends on none of its arguments.

    Such is ``if mask.any()`` of a mask that is all ones where none was given.
    """
    theirs = proxy_tensor.proxy_call

    def call(mode: Any, func: Any, pre_dispatch: bool, args: Any, kwargs: Any) -> Any:
        if func in _ASK and (known := _in(mode, args[0])) is not None and known.numel() == 1:
            return computed(func, known)
        return theirs(mode, func, pre_dispatch, args, kwargs)

    settings.enter_context(patch.object(proxy_tensor, "proxy_call", call))


def value_of(x: Any) -> Tensor | None:
    """``x`` with its values, if the program that is being traced makes it of none of its arguments; else None."""
    mode = proxy_tensor.get_proxy_mode()
    while isinstance(x, Tensor) and torch._C._functorch.is_gradtrackingtensor(x):
        x = torch._C._functorch.get_unwrapped(x)
    if mode is None or not isinstance(x, Tensor) or torch._C._functorch.is_functorch_wrapped_tensor(x):
        return None
    if proxy_tensor.get_proxy_slot(x, mode.tracer, None) is None:
        return x if type(x) is Tensor else None
    return _in(mode, x)


def computed(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What ``func`` gives for values, without a trace of it in the program."""
    with torch._C.DisableTorchFunction(), temporarily_clear_interpreter_stack(), _disable_current_modes():
        return func(*args, **kwargs)


def _in(mode: Any, x: Tensor) -> Tensor | None:
    slot = proxy_tensor.get_proxy_slot(x, mode.tracer, None)
    if slot is None:
        return None
    return vars(mode.tracer).setdefault("known_values", _Values(mode.tracer)).of(slot.proxy.node)


class _Values:
    """The tensors of a graph that is being traced, as far as they are known."""

    def __init__(self, tracer: Any) -> None:
        self._tracer, self._known, self._last = tracer, dict[fx.Node, Any](), tracer.graph._root

    def of(self, node: fx.Node) -> Tensor | None:
        """The value of ``node``; None where it depends on an argument or on numbers drawn."""
        while self._last.next is not self._tracer.graph._root:
            self._last = self._last.next
            self._compute(self._last)
        return self._known.get(node)

    def _compute(self, node: fx.Node) -> None:
        if node.op == "get_attr":
            held = cast(Any, getattr(self._tracer.root, str(node.target), None))
            if type(held) is Tensor:
                self._known[node] = computed(lambda: held.detach().clone())
        elif node.op == "call_function" and all(each in self._known for each in node.all_input_nodes):
            if _is_sure(node):
                args, kwargs = fx.node.map_arg((node.args, node.kwargs), self._known.__getitem__)
                self._known[node] = computed(cast(Any, node.target), *args, **kwargs)
        elif isinstance(node.target, torch._ops.OpOverload):
            self._forget_what_is_written(node, node.target)

    def _forget_what_is_written(self, node: fx.Node, op: torch._ops.OpOverload) -> None:
        given = {each.name: node.args[at] for at, each in enumerate(op._schema.arguments[: len(node.args)])}
        for each in op._schema.arguments:
            if each.alias_info is not None and each.alias_info.is_write:
                written: Any = self._known.get(cast(Any, {**given, **node.kwargs}.get(each.name)))
                if isinstance(written, Tensor):
                    place = written.untyped_storage().data_ptr()
                    self._known = {at: x for at, x in self._known.items() if place not in _storages(x)}


def _storages(known: Any) -> list[int]:
    return [each.untyped_storage().data_ptr() for each in pytree.tree_leaves(known) if isinstance(each, Tensor)]


def _is_sure(node: fx.Node) -> bool:
    """True of an op of PyTorch, or a part of its results, that gives the same whenever it runs, and is not large."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return node.target is operator.getitem
    if torch.Tag.nondeterministic_seeded in node.target.tags:
        return False
    made = pytree.tree_leaves(node.meta.get("val"))
    return all(not isinstance(each, Tensor) or each.numel() <= _MOST_ELEMENTS for each in made)
