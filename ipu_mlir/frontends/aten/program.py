"""A graph of PyTorch as linalg on tensors, op by op."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch._decomp import decomposition_table
from torch.export import default_decompositions
from torch.utils import _pytree as pytree

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.frontends.aten import custom_ops, lists, resampling
from ipu_mlir.frontends.aten.library import RULES, rule_of
from ipu_mlir.frontends.aten.orders import check_of_values
from ipu_mlir.frontends.aten.rules import Later, Made, constant, to_numpy, to_numpy_dtype
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.graph import Symbol, Trace
from ipu_mlir.tracing.surface.tensor import Tensor
from ipu_mlir.tracing.user_places import Place


def drop_checks(graph: torch.fx.Graph) -> None:
    """Take checks of values out of ``graph``, and what is computed for them alone, such as ``x.max().item() <= 8``."""
    for node in reversed(graph.nodes):
        if rule_of(node.target) is check_of_values:
            graph.erase_node(node)
    graph.eliminate_dead_code()


def without_rule(graph: torch.fx.Graph) -> Iterator[str]:
    """The ops of ``graph`` that have no rule, or give what is as large as values say."""
    for node in graph.nodes:
        if not all(map(_is_known, pytree.tree_leaves(node.meta.get("val")))) or (
            node.op == "call_function"
            and rule_of(node.target) is None
            and not (_is_python(node.target) or _is_of_numbers(node))
        ):
            yield f"{node.target}"
        elif node.op == "get_attr" and (body := _body(node)) is not None:
            yield from without_rule(body)


def _is_python(target: Any) -> bool:
    return getattr(target, "__name__", "") == "getitem"


def _is_of_numbers(node: torch.fx.Node) -> bool:
    """True for an op without tensors, such as a window, which gives the same in every run."""
    tags = getattr(node.target, "tags", (torch.Tag.nondeterministic_seeded,))
    return not node.all_input_nodes and torch.Tag.nondeterministic_seeded not in tags


def _is_known(made: Any) -> bool:
    if isinstance(made, torch.Tensor):
        return made.layout == torch.strided and all(isinstance(each, int) for each in made.shape)
    return not isinstance(made, torch.SymInt | torch.SymFloat | torch.SymBool)


def _body(node: torch.fx.Node) -> torch.fx.Graph | None:
    """The graph of a loop's body or of a branch, if ``node`` names one; others name tensors."""
    held: Any = getattr(node.graph.owning_module, str(node.target), None)
    return held.graph if isinstance(held, torch.fx.GraphModule) else None


def traced(graph: torch.fx.Graph, name: str, constants: Sequence[np.ndarray]) -> ir.Module:
    """The module of ``graph``, whose last arguments are ``constants``.

    Raises:
        TraceError: a rule does not take the arguments of an op.
    """
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    free = inputs[: len(inputs) - len(constants)]
    trace = Trace(name, "main", [(node.name, _spec(node)) for node in free], Tensor)
    values: dict[torch.fx.Node, Any] = dict(zip(free, trace.arguments, strict=True))
    places = _Places()
    with trace.running():
        for node, array in zip(inputs[len(free) :], constants, strict=True):
            with trace.at(node.name, places.of(node)):
                values[node] = trace.constant(np.ascontiguousarray(array).reshape(array.shape))
        trace.finish(_results(graph, values, trace, places))
    return trace.module


def _results(graph: torch.fx.Graph, values: dict[torch.fx.Node, Any], trace: Trace, places: "_Places") -> list[Any]:
    """What ``graph`` gives, for the ``values`` of its arguments."""

    def of_body(body: torch.fx.Graph) -> Callable[..., tuple[Any, ...]]:
        inputs = [each for each in body.nodes if each.op == "placeholder"]
        return lambda *given: tuple(_results(body, dict(zip(inputs, given, strict=True)), trace, places))

    for node in graph.nodes:
        if node.op == "get_attr":
            body = _body(node)
            values[node] = _held(node) if body is None else of_body(body)
        elif node.op == "call_function":
            with trace.at(*places.scope_and_place(node)):
                values[node] = _apply(node, values, of_body)
    (results,) = graph.output_node().args
    return [values[each] for each in pytree.tree_leaves(results) if isinstance(each, torch.fx.Node)]


def _held(node: torch.fx.Node) -> Any:
    """The tensor that a body holds, or a generator of random numbers, as it is."""
    held = getattr(node.graph.owning_module, str(node.target))
    return constant(to_numpy(held, held.dtype)) if isinstance(held, torch.Tensor) else held


def _spec(node: torch.fx.Node) -> TensorSpec:
    tensor = node.meta["val"]
    return TensorSpec(tuple(tensor.shape), to_numpy_dtype(tensor.dtype))


def _apply(node: torch.fx.Node, values: Mapping[torch.fx.Node, Any], of_graph: Callable[..., Any]) -> Any:
    """The value of ``node``, or a tuple of them, with the shapes and types that PyTorch says."""
    args, kwargs = torch.fx.node.map_arg((node.args, dict(node.kwargs)), values.__getitem__)
    if _is_python(node.target):
        part = args[0][args[1]]
        return _as_said(node, part.value, *_made(node).every[0]) if isinstance(part, Later) else part
    rule, made = rule_of(node.target), _made(node)
    if rule is None:
        assert _is_of_numbers(node), f"{node.target} has a rule, or the program is refused"
        op: Any = node.target
        found = op(*args, **_without_device(kwargs))
        return _as_said(node, constant(to_numpy(found, found.dtype)), made.shape, made.dtype)
    more = {"made": replace(made, of_graph=of_graph)} if rule.takes_made else {}
    result = rule.apply(*args, **_without_device(kwargs), **more)
    if result is None:
        return None
    if isinstance(result, Symbol):
        return _as_said(node, result, made.shape, made.dtype)
    several = zip(result, made.every, strict=True)
    return tuple(_as_said(node, each, *said) if isinstance(each, Symbol) else each for each, said in several)


def _as_said(node: torch.fx.Node, value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    assert value.shape == shape, f"the rule of {node.target} gives {value.shape}, PyTorch {shape}"
    return value.astype(dtype)


def _made(node: torch.fx.Node) -> Made:
    given = node.meta.get("val")
    given = list(given) if isinstance(given, list | tuple) else [given]
    every = tuple(((), np.dtype(bool)) if each is None else _type(each) for each in given)
    taken = tuple(
        tuple(each.meta["val"].stride())
        if isinstance(each, torch.fx.Node) and isinstance(each.meta.get("val"), torch.Tensor)
        else None
        for each in node.args
    )
    return Made(*every[0], every, tuple(given[0].stride()) if isinstance(given[0], torch.Tensor) else (), taken)


def _type(tensor: torch.Tensor) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return tuple(tensor.shape), to_numpy_dtype(tensor.dtype)


_OF_STORAGE = frozenset(("device", "layout", "pin_memory", "memory_format", "generator"))


def _without_device(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for name, each in options.items() if name not in _OF_STORAGE}


_OF_A_FILE = re.compile(r'  File "(?!<)').match
"""True of lines of a trace, but for those of code that PyTorch has written itself."""


class _Places:
    """Where the ops of a graph come from: the module that calls them, and the line of the program."""

    def __init__(self) -> None:
        self._last = Place("", 0, 0)

    def scope_and_place(self, node: torch.fx.Node) -> tuple[str, Place]:
        stack = node.meta.get("nn_module_stack") or {}
        paths = [str(path) for path, _ in stack.values()]
        scope = _plain_path(paths[-1]) if paths else ""
        return scope, self.of(node)

    def of(self, node: torch.fx.Node) -> Place:
        """The innermost line in the trace of ``node``; of what has none, that of the op before."""
        lines = [line for line in (node.meta.get("stack_trace") or "").splitlines() if _OF_A_FILE(line)]
        if lines:
            file, _, rest = lines[-1].strip().removeprefix('File "').partition('", line ')
            number = rest.partition(",")[0]
            if number.isdecimal():
                self._last = Place(file, int(number), 1)
        return self._last


def _plain_path(path: str) -> str:
    """``layer3.0.conv2`` of ``L['self'].layer3.0.conv2`` and the like."""
    return path.removeprefix("L['self']").removeprefix("L__self__").strip("._").replace("_modules.", "")


def decompositions() -> Mapping[Any, Callable[..., Any]]:
    """For all ops that have no rule: PyTorch's own, of ops that its compilers have kernels for, and of custom ops."""
    return {**_known(), **{op: how for op, how in custom_ops.decompositions().items() if rule_of(op) is None}}


@cache
def _known() -> Mapping[Any, Callable[..., Any]]:
    from torch._inductor.inductor_prims import fma

    every: dict[Any, Any] = {**decomposition_table, **dict(default_decompositions().items()), **lists.decompositions()}
    every[fma] = lambda a, b, c: a * b + c
    every[torch.ops.aten._weight_norm_interface_backward.default] = (
        torch.ops.aten._weight_norm_differentiable_backward.default
    )
    every[torch.ops.aten._new_zeros_with_same_feature_meta.default] = lambda x, like, *, self_num_batch_dims=0: (
        x.new_zeros((*x.shape[:self_num_batch_dims], *like.shape))
    )
    every[torch.ops.aten._linalg_check_errors.default] = lambda *_, **__: None
    return {op: how for op, how in every.items() if op not in RULES} | resampling.decompositions(every)
