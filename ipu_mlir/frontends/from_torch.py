"""PyTorch: modules, functions on tensors, exported programs."""

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from torch._export.utils import _compiling_state_context
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.fx.experimental.proxy_tensor import make_fx
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils import _pytree as pytree

from ipu_mlir.dialects.support.bindings import extra, ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.frontends.aten import program as by_rules
from ipu_mlir.frontends.aten.sequences import WholeSequences, with_whole_sequences
from ipu_mlir.frontends.of_torch.calls import TorchCall, bits_and_parts, in_other_form, to_numpy
from ipu_mlir.frontends.of_torch.constants import bind_last_arguments, constants_last, without_state
from ipu_mlir.frontends.of_torch.decompositions import decompositions
from ipu_mlir.frontends.of_torch.dialect import TO_LINALG, context, import_safely, lower
from ipu_mlir.frontends.table import Imported
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.errors import TraceError

_LOG = logging.getLogger("ipu_mlir.torch")
_WITHOUT_CHECKS = {torch.ops.aten._linalg_check_errors.default: lambda *_, **__: None}
"""Checks of values, whose order an exported program would keep."""
_TO_TORCH = "func.func(torch-match-quantized-custom-ops), torchdynamo-export-to-torch-backend-pipeline"


def import_program(source: Any, args: Any, kwargs: Mapping[str, Any]) -> Imported:
    """A module or function for ``args``, or an exported program, whose parameters become constants of the program.

    Raises:
        CompileError: torch cannot export it, or torch-mlir cannot import what it exports.
    """
    if isinstance(source, ExportedProgram):
        return _imported(source, source.call_spec.in_spec, pytree.tree_leaves(source.example_inputs))
    if args is None:
        raise CompileError(f"{type(source).__name__} is traced for given shapes; pass args=[torch.zeros(...), ...]")
    args, kwargs = pytree.tree_map(_example, (tuple(args), dict(kwargs)))
    leaves, in_spec = pytree.tree_flatten((args, kwargs))
    if isinstance(source, torch.nn.Module):
        return _imported(_export(source, args, kwargs), in_spec, leaves)
    graph, call = _traced(source, leaves, in_spec, _WITHOUT_CHECKS)
    tensors = tuple(leaf for leaf in leaves if isinstance(leaf, torch.Tensor))
    if (module := _of_function(graph, tensors)) is not None:
        return Imported(module, call)
    return Imported(_module(_export(graph, tensors, {})), call)


def as_function(source: Any) -> Any:
    """A module as a function of its parameters, by their names, and of what it takes; buffers stay as they are."""
    if not isinstance(source, torch.nn.Module):
        return source

    def run(parameters: Mapping[str, torch.Tensor], *args: Any, **kwargs: Any) -> Any:
        return torch.func.functional_call(source, dict(parameters), args, kwargs)

    run.__name__ = type(source).__name__
    return run


def parameters_of(module: torch.nn.Module) -> Any:
    """The parameters of a module, by their names; of a ``Sequential``, a list with those of each child."""
    return [_named(child) for child in module] if isinstance(module, torch.nn.Sequential) else _named(module)


def _named(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: np.array(to_numpy(each, each.dtype)) for name, each in module.named_parameters()}


def import_graph(graph: torch.fx.GraphModule, args: Sequence[Any]) -> Imported:
    """A graph of ops without state, for ``args``: what ``torch.compile`` hands to its backends.

    Raises:
        CompileError: torch-mlir cannot import it.
    """
    leaves, in_spec = pytree.tree_flatten((tuple(args), {}))
    for known in (by_rules.decompositions(), decompositions()):
        traced, call = _traced(graph, leaves, in_spec, known)
        if (module := _by_rules("graph", traced.graph, lambda graph: constants_last(graph, {}))) is not None:
            return Imported(module, call)
    _refuse_bodies(traced.graph)
    _refuse_lost_signs(traced.graph)
    constants = constants_last(traced.graph, {})
    return Imported(_linalg("the PyTorch graph", "<graph>", traced.graph, constants), call)


def _traced(source: Any, leaves: list[Any], in_spec: Any, known: Mapping[Any, Any]) -> tuple[Any, TorchCall]:
    """The graph of ``source`` on the tensors among ``leaves``, and how it is called."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    seen: list[Any] = []

    def flat(*given: torch.Tensor) -> list[Any]:
        rest = iter(given)
        whole = [next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        positional, named = pytree.tree_unflatten(whole, in_spec)
        results, out = pytree.tree_flatten(source(*positional, **named))
        constants = {n: each for n, each in enumerate(results) if not isinstance(each, torch.Tensor)}
        seen[:] = [(out, constants, in_other_form(results))]
        return [each for each in results if isinstance(each, torch.Tensor)]

    try:
        with ExitStack() as settings:
            trace_plainly(settings)
            settings.enter_context(_compiling_state_context())  # models ask this before they branch on values
            settings.enter_context(torch.random.fork_rng(devices=[]))  # numbers drawn while tracing are nobody's
            settings.enter_context(WholeSequences())
            graph = make_fx(flat, decomposition_table=dict(known))(*tensors)
    except Exception as error:  # of any kind: what the function does is the user's
        name = getattr(source, "__name__", None) or type(source).__name__
        raise CompileError(f"PyTorch cannot trace {name}: {error}") from error
    out_spec, constants, made = seen[0]
    return graph, TorchCall(in_spec, out_spec, *_inputs(leaves), constants, made)


def _of_function(graph: torch.fx.GraphModule, tensors: Sequence[torch.Tensor]) -> ir.Module | None:
    """The module of a function's graph, by rules; None where there are none, or where it writes to its arguments."""
    run = torch.func.functionalize(torch.fx.Interpreter(graph).run, remove="mutations")
    with ExitStack() as settings:
        trace_plainly(settings)
        settings.enter_context(torch.fx.traceback.preserve_node_meta())
        settings.enter_context(torch.no_grad())  # gradients that the function computes are in the graph
        known = dict(by_rules.decompositions())
        try:
            pure = make_fx(run, known, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
        except Exception as error:  # of any kind: torch.export says it
            _LOG.debug("%s is exported: %s", type(graph).__name__, error)
            return None
    pure.graph.eliminate_dead_code()
    return _by_rules(type(graph).__name__, pure.graph, lambda graph: constants_last(graph, {}))


def trace_plainly(settings: ExitStack) -> None:
    """Attention and recurrent layers as the ops that they are made of, not as kernels of one machine."""
    settings.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore")  # PyTorch warns of what it does itself while these are set
    settings.enter_context(sdpa_kernel(SDPBackend.MATH))
    settings.enter_context(torch.backends.mkldnn.flags(enabled=False))


def _example(leaf: Any) -> Any:
    """What PyTorch traces for a leaf of the arguments: a tensor of its own, because tracing knows tensors apart by who
    they are, and one that is given twice would be one argument.
    """
    if isinstance(leaf, torch.Tensor):
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)
    if isinstance(leaf, TensorSpec):
        return torch.zeros(leaf.shape, dtype=getattr(torch, str(leaf.dtype)))
    return torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf


def _export(module: torch.nn.Module, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ExportedProgram:
    try:
        with ExitStack() as settings:
            trace_plainly(settings)
            return torch.export.export(module, args, dict(kwargs), strict=False)
    except Exception as error:  # of any kind: what the module does is the user's
        raise CompileError(f"torch.export cannot export {type(module).__name__}: {error}") from error


def _imported(program: ExportedProgram, in_spec: Any, leaves: list[Any]) -> Imported:
    outputs = [each.arg for each in program.graph_signature.output_specs]
    constants = {place: each.value for place, each in enumerate(outputs) if isinstance(each, ConstantArgument)}
    (nodes,) = program.graph_module.graph.output_node().args
    made = in_other_form([each.meta.get("val") if isinstance(each, torch.fx.Node) else each for each in nodes])
    call = TorchCall(in_spec, program.call_spec.out_spec, *_inputs(leaves), constants, made)
    return Imported(_module(program), call)


def _inputs(leaves: list[Any]) -> tuple[tuple[torch.dtype | None, ...], dict[int, Any]]:
    """The types of the tensors among ``leaves``, and the others."""
    types = tuple(leaf.dtype if isinstance(leaf, torch.Tensor) else None for leaf in leaves)
    return types, {place: leaf for place, leaf in enumerate(leaves) if not isinstance(leaf, torch.Tensor)}


def _module(program: ExportedProgram) -> ir.Module:
    name = type(program.graph_module).__name__
    with with_whole_sequences(program.graph, are_ours=True):
        decomposed = _decomposed(program, by_rules.decompositions())
    _refuse_changes(decomposed)
    if (module := _by_rules(name, decomposed.graph, lambda _: without_state(decomposed)[1])) is not None:
        return module
    with with_whole_sequences(program.graph, are_ours=False):
        program = _decomposed(program, decompositions())
    _refuse_bodies(program.graph)
    _refuse_sizes_of_values(program.graph)
    _refuse_lost_signs(program.graph)
    return _linalg("the PyTorch program", name, *without_state(program))


def _decomposed(program: ExportedProgram, known: Mapping[Any, Any]) -> ExportedProgram:
    with ExitStack() as settings:
        trace_plainly(settings)
        return program.run_decompositions(dict(known))


def _by_rules(
    name: str, graph: torch.fx.Graph, constants: Callable[[torch.fx.Graph], list[torch.Tensor]]
) -> ir.Module | None:
    """The module of a graph whose ops all have rules; None if some have not, or do not take their arguments."""
    if missing := sorted(set(by_rules.without_rule(graph))):
        _LOG.debug("%s is imported by torch-mlir, there is no rule for %s", name, ", ".join(missing))
        return None
    values = [to_numpy(each, each.dtype) for each in constants(graph)]
    try:
        return by_rules.traced(graph, name, values)
    except (TraceError, NotImplementedError) as error:
        _LOG.debug("%s is imported by torch-mlir: %s", name, error)
        return None


def _refuse_changes(program: ExportedProgram) -> None:
    if changed := ", ".join(_changed(program)):
        raise CompileError(f"the program changes {changed}, which a program here cannot; let it return the new values")


def _changed(program: ExportedProgram) -> list[str]:
    """The arguments, parameters and buffers that a program writes to."""
    inputs = [each.arg.name for each in program.graph_signature.input_specs if each.kind == InputKind.USER_INPUT]
    targets = [each.target for each in program.graph_signature.output_specs if each.target is not None]
    return [f"argument {inputs.index(each)}" if each in inputs else each for each in targets]


_MOVES = {
    "_to_copy", "_unsafe_view", "alias", "argmax", "argmin", "cat", "clone", "constant_pad_nd",
    "convert_element_type", "detach", "empty_like", "expand", "flip", "full_like", "gather", "index", "index_select",
    "lift_fresh_copy", "new_full", "new_zeros", "ones_like", "permute", "repeat", "roll", "select", "slice", "split",
    "split_with_sizes", "squeeze", "stack", "t", "transpose", "unbind", "unfold", "unsqueeze", "view", "zeros_like",
}  # fmt: skip
_KEEPS_SIGN = {
    "add", "amax", "amin", "bitwise_and", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "clamp", "eq", "ge", "gt", "le", "lt", "masked_fill", "max", "maximum", "min", "minimum", "mul",
    "ne", "relu", "rsub", "sub", "where",
}  # fmt: skip
"""Ops that torch-mlir lowers right for numbers without a sign: all that move them, and these where all are uint8."""
_COMPARES = frozenset(("eq", "ge", "gt", "le", "lt", "ne"))


def _refuse_lost_signs(graph: torch.fx.Graph) -> None:
    for node in graph.nodes:
        if _loses_sign(node):
            raise CompileError(
                f"the program computes {node.target} with uint8, which torch-mlir takes for int8; "
                "convert to int32 first, x.int(), and its results back, y.byte()"
            )


def _refuse_sizes_of_values(graph: torch.fx.Graph) -> None:
    for node in graph.nodes:
        made = node.meta.get("val")
        if isinstance(made, torch.Tensor) and any(map(free_unbacked_symbols, made.shape)):
            raise CompileError(
                f"the program has {node.target}, whose result is as large as values say; keep the shape and mask it, "
                "torch.where(x > 0, x, 0), or use torch.compile, which leaves such an op to Python"
            )


def _refuse_bodies(graph: torch.fx.Graph) -> None:
    """Loops and branches, of which torch-mlir forgets conditions."""
    found = {str(node.target) for node in graph.nodes if isinstance(node.target, torch._ops.HigherOrderOperator)}
    if found:
        missing = sorted(set(by_rules.without_rule(graph)) - found)
        raise CompileError(
            f"the program has {', '.join(sorted(found))} with {', '.join(missing)}, for which there is no rule; let "
            "bodies carry tensors, torch.tensor(0) for 0, or use torch.compile, which leaves the rest to Python"
        )


def _loses_sign(node: torch.fx.Node) -> bool:
    """True if torch-mlir takes the numbers without a sign, with which ``node`` computes, for signed ones."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    name = node.target._schema.name.rpartition("::")[2]
    found = [each.meta.get("val") for each in node.all_input_nodes]
    types = {each.dtype for each in found if isinstance(each, torch.Tensor)}
    made = [each.dtype for each in pytree.tree_leaves(node.meta.get("val")) if isinstance(each, torch.Tensor)]
    if torch.uint8 not in types:
        return torch.uint8 in made[:1] and any(each.is_floating_point for each in types)
    if name in _MOVES:
        return False
    if name in _COMPARES and not all(isinstance(each, torch.fx.Node) or _fits_int8(each) for each in node.args):
        return True
    return name not in _KEEPS_SIGN or types - {torch.uint8, torch.bool} != set() or made[0] not in types | {torch.bool}


def _fits_int8(number: Any) -> bool:
    return isinstance(number, int) and 0 <= number < 128


def _linalg(what: str, name: str, graph: torch.fx.Graph, constants: Sequence[torch.Tensor]) -> ir.Module:
    """The module of ``graph``, whose last arguments are ``constants``; ``what`` and ``name`` are for messages.

    Raises:
        CompileError: a constant is complex, or torch-mlir cannot import the graph.
    """
    if (found := next((each for each in constants if each.is_complex()), None)) is not None:
        raise CompileError(
            f"{what} holds complex numbers, {found.dtype}{list(found.shape)}; give their parts, torch.view_as_real(x)"
        )
    module = import_safely(what, name, lambda: _lowered(graph))
    bind_last_arguments(module, [bits_and_parts(to_numpy(each, each.dtype)) for each in constants])
    return module


def _lowered(graph: torch.fx.Graph) -> ir.Module:
    fresh = context()
    importer = extra("fx_importer").FxImporter(context=fresh)
    importer.import_stateless_graph(graph, func_name="main")
    with fresh, ir.Location.unknown():
        lower(importer.module, _TO_TORCH, TO_LINALG)
    return importer.module
