"""Recurrent layers of PyTorch and their gradients as one op each: PyTorch writes step after step otherwise."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch._C import DispatchKey, _SetExcludeDispatchKeyGuard
from torch._C._functorch import TransformType, peek_interpreter_stack
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

SPACE = "ipu_mlir"
"""The namespace of our ops."""

_NAMES = {"lstm": "(Tensor, Tensor, Tensor)", "gru": "(Tensor, Tensor)"}
_NAMES |= {"rnn_tanh": _NAMES["gru"], "rnn_relu": _NAMES["gru"]}
_LIBRARY = torch.library.Library(SPACE, "DEF")


def _define(name: str, results: str) -> tuple[Any, Any]:
    """The op of PyTorch, and ours that takes and gives the same; another one of ours gives its gradients."""
    theirs, ours = getattr(torch.ops.aten, name).input, f"{SPACE}::{name}"
    states = "Tensor[] hx" if name == "lstm" else "Tensor hx"
    arguments = (
        f"Tensor input, {states}, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
        "bool bidirectional, bool batch_first"
    )
    _LIBRARY.define(f"{name}({arguments}) -> {results}")
    _LIBRARY.impl(name, theirs, "CompositeExplicitAutograd")
    torch.library.register_fake(ours, _shapes)
    _LIBRARY.define(f"{name}_gradient(Tensor[] cotangents, {arguments}) -> Tensor[]")
    _LIBRARY.impl(f"{name}_gradient", partial(_gradient, theirs), "CompositeExplicitAutograd")
    torch.library.register_fake(f"{ours}_gradient", _shapes_of_gradient)
    torch.library.register_autograd(ours, partial(_backward, f"{name}_gradient"), setup_context=_keep)
    return theirs, getattr(getattr(torch.ops, SPACE), name).default


def _shapes(x: Any, states: Any, weights: Any, has_biases: bool, layers: int, *options: Any) -> Any:
    states = states if isinstance(states, list | tuple) else [states]
    directions = states[0].shape[0] // layers
    return x.new_empty([*x.shape[:2], directions * states[0].shape[2]]), *(torch.empty_like(each) for each in states)


def _shapes_of_gradient(cotangents: Any, *args: Any) -> list[torch.Tensor]:
    return [torch.empty_like(leaf) for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor)]


def _gradient(theirs: Any, cotangents: Any, *args: Any) -> list[torch.Tensor]:
    """The gradients of PyTorch's op by its tensors, step by step."""
    leaves, form = pytree.tree_flatten(args)
    with torch.enable_grad(), _SetExcludeDispatchKeyGuard(DispatchKey.AutogradFunctionality, False):
        given = [leaf.detach().requires_grad_() if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        results = theirs(*pytree.tree_unflatten(given, form))
        tensors = [leaf for leaf in given if isinstance(leaf, torch.Tensor)]
        return list(torch.autograd.grad(results, tensors, cotangents))


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    tensors, ctx.others, ctx.form = _apart(inputs)
    ctx.save_for_backward(*tensors)


def _backward(name: str, ctx: Any, *cotangents: Any) -> Any:
    args = _joined(ctx.saved_tensors, ctx.others, ctx.form)
    found = iter(getattr(getattr(torch.ops, SPACE), name)(list(cotangents), *args))
    return tuple(pytree.tree_unflatten([next(found) if each is None else None for each in ctx.others], ctx.form))


_OURS = dict(_define(name, results) for name, results in _NAMES.items())


class _InTransform(torch.autograd.Function):
    """An op of ours as ``torch.func`` takes it: a function of its tensors, which are given in a row."""

    @staticmethod
    def forward(ours: Any, form: Any, others: Any, *tensors: torch.Tensor) -> Any:
        return ours(*_joined(tensors, others, form))

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.ours, ctx.form, ctx.others, *tensors = inputs
        ctx.save_for_backward(*tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        name = f"{ctx.ours.name().split('::')[1]}_gradient"
        args = _joined(ctx.saved_tensors, ctx.others, ctx.form)
        return None, None, None, *getattr(getattr(torch.ops, SPACE), name)(list(cotangents), *args)


def _apart(args: Any) -> tuple[list[torch.Tensor], list[Any], Any]:
    """The tensors of ``args``, what else is in them with None in the places of tensors, and how they are nested."""
    leaves, form = pytree.tree_flatten(args)
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    return tensors, [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], form


def _joined(tensors: Any, others: Any, form: Any) -> Any:
    rest = iter(tensors)
    return pytree.tree_unflatten([next(rest) if other is None else other for other in others], form)


def _is_kept(args: Any) -> bool:
    """False for layers with dropout between them, whose numbers PyTorch draws."""
    *_, layers, dropout, train, _, _ = args
    return not (train and dropout and layers > 1)


class WholeSequences(TorchFunctionMode):
    """In the block, recurrent layers on whole sequences are called as ops of ours."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        theirs = getattr(torch.ops.aten, getattr(func, "__name__", ""), None)
        ours = _OURS.get(getattr(theirs, "input", None))
        if ours is None or kwargs or len(args) != 9 or not _is_kept(args):
            return func(*args, **(kwargs or {}))
        transform = peek_interpreter_stack()
        if transform is None:
            return ours(*args)
        if transform.level() != 1 or transform.key() != TransformType.Grad:
            return func(*args)
        tensors, others, form = _apart(args)  # ``torch.func`` does not take ops of others
        return _InTransform.apply(ours, form, others, *tensors)


@contextmanager
def with_whole_sequences(graph: torch.fx.Graph) -> Iterator[None]:
    """In the block, recurrent layers in ``graph`` are ops of ours."""
    before = {node: node.target for node in graph.nodes if node.target in _OURS and _is_kept(node.args)}
    for node, target in before.items():
        node.target = _OURS[target]
    try:
        yield
    finally:
        for node, target in before.items():
            node.target = target
