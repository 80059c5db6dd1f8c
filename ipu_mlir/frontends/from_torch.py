"""PyTorch: modules, functions on tensors, exported programs."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch._C._functorch import peek_interpreter_stack
from torch._export.utils import _compiling_state_context
from torch._subclasses.fake_tensor import FakeTensor
from torch.autograd.function import _SingleLevelFunction
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.counted import counted
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.aten import program as by_rules
from ipu_mlir.frontends.aten.own_backward import name_with_own_backward, with_own_backward
from ipu_mlir.frontends.aten.rules import to_numpy
from ipu_mlir.frontends.aten.sequences import WholeSequences, with_whole_sequences
from ipu_mlir.frontends.of_torch.calls import TorchCall, in_other_form, opened
from ipu_mlir.frontends.of_torch.constants import constants_last, without_state
from ipu_mlir.frontends.of_torch.layer_names import LayerNames
from ipu_mlir.frontends.of_torch.replacing import call_with, written_buffers
from ipu_mlir.frontends.of_torch.tracing import PADDED, PlainFunctions, know_numbers, trace_plainly, why
from ipu_mlir.frontends.table import Imported, OpenProgram
from ipu_mlir.specs.specs import TensorSpec

_WITHOUT_CHECKS = {torch.ops.aten._linalg_check_errors.default: lambda *_, **__: None}
"""Checks of values, whose order an exported program would keep."""
_OF_LEAVES = "We found a fake tensor in the exported program constant's list"
"""How ``torch.export`` refuses ``torch.autograd.grad`` by a tensor that the module has made a leaf."""
_OF_PACKED_WEIGHTS = "'__obj_flatten__'"
"""How it refuses weights of quantized layers, which are packed in objects."""


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """A module or function for ``args``, or an exported program, whose parameters become constants of the program.

    Raises:
        CompileError: torch cannot export it, or it has ops without a rule.
    """
    if isinstance(source, ExportedProgram):
        if source.range_constraints:
            return _for_any_sizes(source)
        return _imported(source, source.call_spec.in_spec, pytree.tree_leaves(source.example_inputs))
    if args is None:
        raise CompileError(f"{type(source).__name__} is traced for given shapes; pass args=[torch.zeros(...), ...]")
    args, kwargs = pytree.tree_map(_example, (tuple(args), dict(kwargs)))
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    if isinstance(source, torch.jit.ScriptModule):
        source = functools.partial(source)  # torch.export takes none
    if isinstance(source, torch.nn.Module):
        seen: list[Any] = []
        try:
            with patch.object(source, "forward", _flat(source.forward, seen)):
                program = _export(source, args, kwargs)
            return Imported(_module(program), TorchCall(in_spec, seen[0][0], *_inputs(leaves), *seen[0][1:]))
        except CompileError as error:
            if not any(each in str(error) for each in (_OF_LEAVES, _OF_PACKED_WEIGHTS)):
                raise  # else it is traced as a function
    graph, call = _traced(source, leaves, in_spec, _WITHOUT_CHECKS)
    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    if (module := _of_function(graph, tensors)) is not None:
        return Imported(module, call)
    return Imported(_module(_export(graph, tensors, {})), call)


def as_function(source: Any, has_state: bool = False) -> Any:
    """A module as a function of its parameters, by their names, and of what it takes; buffers stay as they are.

    One with a state takes buffers by their names before that, and gives them as they are afterwards, and its result.
    ``own_backward`` of it has the names of each ``torch.autograd.Function`` whose backward it cannot take.
    """
    is_module, left = isinstance(source, torch.nn.Module), set[str]()

    def run(*args: Any, **kwargs: Any) -> Any:
        with torch.enable_grad(), _own_derivatives(left):
            if not is_module:
                return source(*args, **kwargs)
            state = {name: each.clone() for name, each in args[0].items()} if has_state else {}
            parameters, *rest = args[has_state:]
            parameters = _by_name(source, parameters)
            result = call_with(source, {**parameters, **state}, rest, kwargs)
            return (state, result) if has_state else result

    run.__name__ = type(source).__name__ if is_module else getattr(source, "__name__", "function")
    run.own_backward = left  # pyright: ignore[reportFunctionMemberAccess]
    return run


def changed_buffers(source: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The buffers, as they are, that a module writes to when ``as_function`` runs it with what has these specs."""
    if not isinstance(source, torch.nn.Module) or not any(True for _ in source.buffers()):
        return {}

    def run(buffers: Mapping[str, torch.Tensor]) -> None:
        parameters, *rest = pytree.tree_map(_numbers, tuple(args))
        call_with(source, {**_by_name(source, parameters), **buffers}, rest, pytree.tree_map(_numbers, dict(kwargs)))

    try:
        written = written_buffers(source, run)
    except Exception:  # of any kind: what the module does is the user's, and its import says it
        return {}
    return {name: np.array(to_numpy(each, each.dtype)) for name, each in source.named_buffers() if name in written}


def _numbers(leaf: Any) -> Any:
    """An example of a leaf, whose floats are not all alike, as statistics of them would be 0."""
    made = _example(leaf)
    return torch.randn_like(made) if isinstance(leaf, TensorSpec) and made.is_floating_point() else made


@contextmanager
def _own_derivatives(left: set[str]) -> Iterator[None]:
    """In the block, functions have the derivatives that PyTorch's autograd has for them."""
    with _OwnDerivatives(left) as mode:

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            theirs: Any = super(_SingleLevelFunction, cls)
            return mode.called(cls.__name__, theirs.apply, args, kwargs)

        with patch.object(_SingleLevelFunction, "apply", classmethod(apply)):  # which all go through, however held
            yield


class _OwnDerivatives(TorchFunctionMode):
    """In the block, what is computed under ``torch.no_grad`` is detached, which a graph tells, and that it does not;
    what has a backward of its own is called as that.

    Args:
        left: takes the names of what has a ``backward`` that cannot be traced by itself.
    """

    def __init__(self, left: set[str]) -> None:
        super().__init__()
        self._left, self._is_in_function, self._known = left, False, by_rules.decompositions()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if (name := name_with_own_backward(func)) is not None:
            return self.called(name, func, args, kwargs or {})
        result = func(*args, **(kwargs or {}))
        is_constant = isinstance(result, torch.Tensor) and not torch.is_grad_enabled() and not self._is_in_function
        return result.detach() if is_constant else result

    def called(self, name: str, function: Any, args: Any, kwargs: Any) -> Any:
        """What ``function`` gives, which computes without gradients; it is no constant for that."""
        if self._is_in_function:
            return function(*args, **kwargs)
        self._is_in_function = True
        try:
            results = function(*args, **kwargs)
            if peek_interpreter_stack() is not None:  # a transform of PyTorch's, which asks for the backward itself
                return results
            try:
                return with_own_backward(name, function, (args, kwargs), results, self._known, by_rules.without_rule)
            except ValueError:
                self._left.add(name)
                return results
        finally:
            self._is_in_function = False


def parameters_of(module: torch.nn.Module) -> Any:
    """The parameters of a module, by their names; of a ``Sequential``, a list with those of each child."""
    if not isinstance(module, torch.nn.Sequential):
        return _named(module)
    whose: dict[torch.nn.Parameter, int] = {}
    for place, child in enumerate(module):
        for name, each in child.named_parameters():
            if whose.setdefault(each, place) != place:
                raise CompileError(
                    f"children {whose[each]} and {place} have one parameter in common, {name!r} of the latter, which "
                    "would be two that are trained apart; take ipu.parameters_of each child, give both stages the same "
                    "tensor, and add their gradients"
                )
    return [_named(child) for child in module]


def _by_name(module: torch.nn.Module, parameters: Any) -> Mapping[str, Any]:
    """Parameters by their names, of a ``Sequential`` also where ``parameters_of`` has given those of each child."""
    if not isinstance(module, torch.nn.Sequential) or not isinstance(parameters, list | tuple):
        return parameters
    children = zip(module._modules, parameters, strict=True)
    return {f"{child}.{name}": each for child, own in children for name, each in own.items()}


def _named(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: np.array(to_numpy(each, each.dtype)) for name, each in module.named_parameters()}


def import_graph(graph: torch.fx.GraphModule, args: Sequence[Any]) -> Imported:
    """A graph of ops without state, for ``args``: what ``torch.compile`` hands to its backends.

    Raises:
        CompileError: it has ops without a rule.
    """
    leaves, in_spec = pytree.tree_flatten((tuple(args), {}))
    traced, call = _traced(graph, leaves, in_spec, by_rules.decompositions())
    return Imported(_by_rules("graph", traced.graph, constants_last(traced.graph, {})), call)


def _traced(source: Any, leaves: list[Any], in_spec: Any, known: Mapping[Any, Any]) -> tuple[Any, TorchCall]:
    """The graph of ``source`` on the tensors among ``leaves``, and how it is called."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    seen: list[Any] = []

    def nested(*given: torch.Tensor) -> Any:
        rest = iter(given)
        whole = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        positional, named = pytree.tree_unflatten(whole, in_spec)
        return source(*positional, **named)

    try:
        with ExitStack() as settings:
            trace_plainly(settings)
            know_numbers(settings, tensors)
            settings.enter_context(_compiling_state_context())  # models ask this before they branch on values
            settings.enter_context(torch.random.fork_rng(devices=[]))  # numbers drawn while tracing are nobody's
            settings.enter_context(WholeSequences())
            LayerNames().trace(settings)
            graph = make_fx(
                _flat(nested, seen), decomposition_table=dict(known), tracing_mode="fake", _allow_non_fake_inputs=True
            )(*tensors)
    except Exception as error:  # of any kind: what the function does is the user's
        raise CompileError(f"PyTorch cannot trace {_name_of(source)}: {why(error)}") from error
    if any(isinstance(held, FakeTensor) for held in (*vars(graph).values(), *graph.buffers())):
        raise CompileError(
            f"PyTorch cannot trace {_name_of(source)}: it computes a tensor where PyTorch does not see it, such as in "
            "another thread; compute it in the thread that calls ipu.compile"
        )
    return graph, TorchCall(in_spec, seen[0][0], *_inputs(leaves), *seen[0][1:])


def _name_of(source: Any) -> str:
    return getattr(source, "__name__", None) or type(source).__name__


def _flat(function: Any, seen: list[Any]) -> Any:
    """``function``, which gives the tensors of its results in a row; how these are nested and what else they have, the
    last three fields of a call, are left in ``seen``.
    """

    @functools.wraps(function)
    def flat(*args: Any, **kwargs: Any) -> list[torch.Tensor]:
        with PlainFunctions():
            results, out = pytree.tree_flatten(opened(function(*args, **kwargs)))
        constants = {place: each for place, each in enumerate(results) if not isinstance(each, torch.Tensor)}
        seen[:] = [(out, constants, in_other_form(results))]
        return [each for each in results if isinstance(each, torch.Tensor)]

    return flat


def _of_function(graph: torch.fx.GraphModule, tensors: Sequence[torch.Tensor]) -> ir.Module | None:
    """The module of a function's graph; None if an op has no rule, such as one that writes to an argument."""
    run = torch.func.functionalize(torch.fx.Interpreter(graph).run, remove="mutations")
    with ExitStack() as settings:
        trace_plainly(settings)
        settings.enter_context(torch.fx.traceback.preserve_node_meta())
        settings.enter_context(torch.no_grad())  # gradients that the function computes are in the graph
        known = dict(by_rules.decompositions())
        try:
            pure = make_fx(run, known, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
        except Exception:  # of any kind: torch.export says it
            return None
    pure.graph.eliminate_dead_code()
    if any(by_rules.without_rule(pure.graph)):
        return None
    return _by_rules(type(graph).__name__, pure.graph, constants_last(pure.graph, {}))


def _example(leaf: Any) -> Any:
    """What PyTorch traces for a leaf of the arguments: a tensor of its own, because tracing knows tensors apart by who
    they are, and one that is given twice would be one argument.
    """
    if isinstance(leaf, torch.Tensor) and leaf.is_nested:
        raise CompileError(f"an argument is a nested tensor, whose rows have no size in common; {PADDED}")
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)
    if isinstance(leaf, TensorSpec):
        return torch.zeros(leaf.shape, dtype=getattr(torch, str(leaf.dtype)))
    return torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf


def _export(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ExportedProgram:
    try:
        with ExitStack() as settings:
            trace_plainly(settings)
            know_numbers(settings, (args, kwargs))
            return torch.export.export(module, args, dict(kwargs), strict=False)
    except Exception as error:  # of any kind: what the module does is the user's
        raise CompileError(f"torch.export cannot export {type(module).__name__}: {why(error)}") from error


def _imported(program: ExportedProgram, in_spec: Any, leaves: list[Any]) -> Imported:
    outputs = [each.arg for each in program.graph_signature.output_specs]
    constants = {place: each.value for place, each in enumerate(outputs) if isinstance(each, ConstantArgument)}
    nodes: Any = program.graph_module.graph.output_node().args[0]
    made = in_other_form([each.meta.get("val") if isinstance(each, torch.fx.Node) else each for each in nodes])
    call = TorchCall(in_spec, program.call_spec.out_spec, *_inputs(leaves), constants, made)
    return Imported(_module(program), call)


def _inputs(leaves: list[Any]) -> tuple[tuple[torch.dtype | None, ...], dict[int, Any]]:
    """The types of the tensors among ``leaves``, and the others."""
    types = tuple(leaf.dtype if isinstance(leaf, torch.Tensor) else None for leaf in leaves)
    return types, {place: leaf for place, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)}


def _for_any_sizes(program: ExportedProgram) -> Imported:
    """A program whose sizes are open: exported anew for those of each call."""
    in_spec: Any = program.call_spec.in_spec
    leaves = pytree.tree_leaves(program.example_inputs)
    placeholders = {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}
    given = [placeholders[each] for each in program.graph_signature.user_inputs if isinstance(each, str)]
    shapes = [
        tuple(size if isinstance(size, int) else None for size in each.shape)
        for each in given
        if isinstance(each, torch.Tensor)
    ]
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    inputs = tuple((shape, f"{leaf.dtype}{list(shape)}") for shape, leaf in zip(shapes, tensors, strict=True))

    def for_sizes(sizes: Sequence[int]) -> Imported:
        rest, left = iter(sizes), iter(shapes)
        known = [
            leaf.new_zeros([next(rest) if size is None else size for size in next(left)])
            if isinstance(leaf, torch.Tensor)
            else leaf
            for leaf in leaves
        ]
        args, kwargs = pytree.tree_unflatten(known, in_spec)
        return _imported(_export(program.module(), args, kwargs), in_spec, known)

    call = TorchCall(in_spec, program.call_spec.out_spec, *_inputs(leaves), {})
    return Imported(OpenProgram(inputs, for_sizes), call)


def _module(program: ExportedProgram) -> ir.Module:
    _refuse_sizes_of_values(program.graph)
    with ExitStack() as settings:
        trace_plainly(settings)
        settings.enter_context(with_whole_sequences(program.graph))
        program = program.run_decompositions(dict(by_rules.decompositions()))
    _refuse_changes(program)
    return _by_rules(type(program.graph_module).__name__, *without_state(program))


def _by_rules(name: str, graph: torch.fx.Graph, constants: Sequence[torch.Tensor]) -> ir.Module:
    """The module of ``graph``, whose last arguments are ``constants``.

    Raises:
        CompileError: some ops have no rule, or their rules do not take their arguments.
    """
    by_rules.drop_checks(graph)
    if missing := sorted(set(by_rules.without_rule(graph))):
        has_bodies = any(isinstance(node.target, torch._ops.HigherOrderOperator) for node in graph.nodes)
        raise CompileError(
            f"the PyTorch program has {counted(len(missing), 'op')} that cannot be imported: {', '.join(missing)}; "
            + ("let bodies carry tensors, torch.tensor(0) for 0; " if has_bodies else "")
            + "write them in other ops, or use torch.compile, and leave them to Python by torch.compiler.disable"
        )
    try:
        return by_rules.traced(graph, name, [to_numpy(each, each.dtype) for each in constants])
    except NotImplementedError as error:
        raise CompileError(f"the PyTorch program cannot be imported: {error}") from error


def _refuse_changes(program: ExportedProgram) -> None:
    if changed := ", ".join(_changed(program)):
        raise CompileError(
            f"the program changes {changed}, which a program here cannot; let it return the new values. Norms in "
            "training change their running means: make them with track_running_stats=False, which normalises by the "
            "batch as well, use .eval(), or train by ipu_mlir.torch.training_step"
        )


def _changed(program: ExportedProgram) -> list[str]:
    """The arguments, parameters and buffers that a program writes to."""
    inputs = [each.arg.name for each in program.graph_signature.input_specs if each.kind == InputKind.USER_INPUT]
    targets = [each.target for each in program.graph_signature.output_specs if each.target is not None]
    return [f"argument {inputs.index(each)}" if each in inputs else each for each in targets]


def _refuse_sizes_of_values(graph: torch.fx.Graph) -> None:
    for node in graph.nodes:
        made = node.meta.get("val")
        if isinstance(made, torch.Tensor) and any(map(free_unbacked_symbols, made.shape)):
            raise CompileError(
                f"the program has {node.target}, whose result is as large as values say; keep the shape and mask it, "
                "torch.where(x > 0, x, 0), or use torch.compile, which leaves such an op to Python"
            )
