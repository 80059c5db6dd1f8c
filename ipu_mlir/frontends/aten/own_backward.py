"""What has a backward of its own in PyTorch, ``torch.autograd.Function`` and ops of programs, with that gradient."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch._library.custom_ops import OPDEFS
from torch._subclasses.functional_tensor import dispatch_functionalize
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import _disable_current_modes

from ipu_mlir.frontends.aten.rules import Made, rule
from ipu_mlir.frontends.aten.sequences import SPACE
from ipu_mlir.specs.tensor_types import is_made_of_floats
from ipu_mlir.tracing.control.custom_gradients import custom_vjp
from ipu_mlir.tracing.elementwise import conjugated


@dataclass(frozen=True)
class _Function:
    """What a call of one computes.

    Attributes:
        forward: from its tensors, its results and what ``backward`` needs of the way to them.
        backward: from that, and a cotangent for each result that has one, those of the tensors that have one.
    """

    name: str
    forward: GraphModule
    backward: GraphModule


_FUNCTIONS: list[_Function] = []


def name_with_own_backward(op: Any) -> str | None:
    """The name of an op of a program (``torch.library.custom_op``) that has a backward; None for anything else."""
    own = OPDEFS.get(getattr(op, "_qualified_op_name", None) or getattr(getattr(op, "_schema", None), "name", ""))
    return None if own is None or own._backward_fn is None else own._name


def with_own_backward(
    name: str,
    function: Callable[..., Any],
    args: tuple[Sequence[Any], Mapping[str, Any]],
    results: Any,
    known: Mapping[Any, Any],
    without_rule: Callable[[Graph], Iterable[str]],
) -> Any:
    """``results`` of ``function`` for ``args``, whose gradient is what its backward says.

    Args:
        known: decompositions by op.
        without_rule: the ops of a graph that have none.

    Raises:
        ValueError: it writes to what it takes, or its ``backward`` cannot be traced by itself.
    """
    leaves, form = pytree.tree_flatten(args)
    given = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    made, spec = pytree.tree_flatten(results)
    tensors = [each for each in made if isinstance(each, torch.Tensor)]
    if any(each is other for each in tensors for other in given):
        raise ValueError(f"{name} writes to what it takes")

    def joint(*both: torch.Tensor) -> list[torch.Tensor]:
        with torch.enable_grad():
            own = [_as_leaf(each) for each in both[: len(given)]]
            rest = iter(own)
            nested = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
            positional, named = pytree.tree_unflatten(nested, form)
            found = pytree.tree_leaves(function(*positional, **named))
            found = [each for each in found if isinstance(each, torch.Tensor)]
            slopes = zip([each for each in found if _has_slopes(each)], both[len(given) :], strict=True)
            pairs = [(each, slope) for each, slope in slopes if each.requires_grad]
            by = [each for each in own if _has_slopes(each)]
            back: Sequence[Any] = [None] * len(by)
            if pairs and by:
                of, slopes = zip(*pairs, strict=True)
                back = torch.autograd.grad(of, by, slopes, allow_unused=True)
        return [*found, *(torch.zeros_like(x) if dx is None else dx for x, dx in zip(by, back, strict=True))]

    both = [*given, *(each for each in tensors if _has_slopes(each))]
    try:
        with _disable_current_modes():
            like = [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype) for each in both]
            graph = make_fx(dispatch_functionalize(joint), dict(known), tracing_mode="fake")(*like)
    except Exception as error:  # of any kind: what it does is the user's
        raise ValueError(f"{name}: {error}") from error
    if missing := ", ".join(without_rule(graph.graph)):
        raise ValueError(f"{name}: {missing}")
    _FUNCTIONS.append(_Function(name, *_parted(graph, len(given), len(tensors))))
    found = iter(_with_backward(given, tensors, len(_FUNCTIONS) - 1))
    whole = [next(found) if isinstance(each, torch.Tensor) else each for each in made]
    return pytree.tree_unflatten(whole, spec)


def _has_slopes(x: torch.Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def _as_leaf(x: torch.Tensor) -> torch.Tensor:
    return x.requires_grad_() if _has_slopes(x) else x


def _parted(joint: GraphModule, given: int, results: int) -> tuple[GraphModule, GraphModule]:
    """The forward and the backward part of a graph, which takes and gives what belongs to the former first."""
    nodes: list[Node] = list(joint.graph.nodes)
    inputs = [each for each in nodes if each.op == "placeholder"]
    late = set(inputs[given:])
    for node in nodes:
        if not late.isdisjoint(node.all_input_nodes) and node.op != "output":
            late.add(node)
    found: Any = joint.graph.output_node().args[0]
    read = {each for node in late for each in node.all_input_nodes} | set(found[results:])
    held = {each for each in nodes if each.op == "get_attr"}
    kept = [each for each in nodes if each in read and each not in late and each not in held]
    early = [each for each in nodes if each not in late]
    return (
        _copied(joint, inputs[:given], early, [*found[:results], *kept]),
        _copied(joint, [*kept, *inputs[given:]], [each for each in nodes if each in late | held], found[results:]),
    )


def _copied(joint: GraphModule, inputs: Sequence[Node], nodes: Iterable[Node], results: Sequence[Node]) -> GraphModule:
    graph, made = Graph(), dict[Node, Node]()
    for each in inputs:
        made[each] = graph.placeholder(each.name)
        made[each].meta.update(each.meta)
    for node in nodes:
        if node not in made and node.op != "output":
            made[node] = graph.node_copy(node, made.__getitem__)
    graph.output([made[each] for each in results])
    graph.eliminate_dead_code()
    return GraphModule(joint, graph)


@torch.library.custom_op(f"{SPACE}::with_backward", mutates_args=())
def _with_backward(given: list[torch.Tensor], results: list[torch.Tensor], which: int) -> list[torch.Tensor]:
    """``results``, which gradients take for what ``_FUNCTIONS[which]`` gives for ``given``."""
    raise NotImplementedError("it is traced only")


@torch.library.register_fake(f"{SPACE}::with_backward")
def _(given: list[torch.Tensor], results: list[torch.Tensor], which: int) -> list[torch.Tensor]:
    return [torch.empty_like(each) for each in results]


def _back(ctx: Any, slopes: list[Any]) -> tuple[Any, ...]:
    """The gradient that PyTorch computes itself in a program goes through the results."""
    return [None] * ctx.count, slopes, None


def _note(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.count = len(inputs[0])


torch.library.register_autograd(f"{SPACE}::with_backward", _back, setup_context=_note)


@rule(f"{SPACE}.with_backward.default")
def _called(given: Sequence[Any], results: Sequence[Any], which: int, *, made: Made) -> Any:
    assert made.of_graph is not None, "it is an op of a program"
    function = _FUNCTIONS[which]
    forward, backward = made.of_graph(function.forward.graph), made.of_graph(function.backward.graph)
    count = len(results)

    def plain(*values: Any) -> Any:
        return forward(*values)[:count]

    def keep(*values: Any) -> Any:
        found = forward(*values)
        return found[:count], found[count:]

    def back(kept: Any, slopes: Any) -> Any:  # which PyTorch has as conjugates of those of JAX
        found = iter(backward(*kept, *(conjugated(each) for each in slopes if each is not None)))
        return tuple(conjugated(next(found)) if is_made_of_floats(each.dtype) else None for each in given)

    plain.__name__ = function.name
    whole = custom_vjp(plain)
    whole.defvjp(keep, back)
    return whole(*given)
