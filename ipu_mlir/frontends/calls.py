"""``imported``: functions of JAX and modules of PyTorch that traced functions call; such as stages of pipelines."""

import contextlib
import functools
import inspect
import warnings
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

from ipu_mlir.dialects.analysis.matchers import symbol_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.frontends.stablehlo import import_stablehlo
from ipu_mlir.frontends.support import drawing
from ipu_mlir.frontends.table import (
    FRONT_ENDS,
    FrontEnd,
    Imported,
    OpenProgram,
    front_end_of,
    import_program,
    module_of,
)
from ipu_mlir.programs.variable import Variable
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import spec_of_type
from ipu_mlir.tracing.control.bodies import Tree, spec_of_leaf, spread, tree, values_of
from ipu_mlir.tracing.control.private_functions import new_name
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError, of_a_framework
from ipu_mlir.tracing.graph import Trace, own_trace

func = upstream("func")

_NUMBERS = count()
_STATES: WeakKeyDictionary[Any, dict[str, Variable]] = WeakKeyDictionary()
"""By module, the variables that stand for its buffers, by their names."""
_CALLED = ("jax", "torch")
"""Front ends whose programs keep the nesting of arguments and results."""


def imported(source: Any, framework: str | None = None) -> Callable[..., Any]:
    """A function of another framework as one that traced functions call, and that has gradients there.

        layer = ipu.imported(jax.jit(lambda w, x: jax.nn.relu(x @ w)))

    A module of PyTorch becomes a function of its parameters, in a dict by their names, and of what it takes;
    ``ipu.parameters_of`` gives that dict. Buffers that it writes to, such as the statistics of norms in training, are
    variables, and keep what a run leaves in them for the next one; ``ipu.buffers_of`` gives them. Where the other
    framework takes a value for a constant, gradients do so here. Derivatives that JAX and PyTorch have been given
    come along (``jax.custom_jvp``, ``jax.custom_vjp``; ``torch.autograd.Function``, ``register_autograd`` of ops); of
    other functions what they compute is differentiated.

    Args:
        source: a jitted function of JAX, a module or function of PyTorch, or a model of ONNX, whose weights are
            constants.
        framework: ``jax`` or ``torch``, for a plain Python function.

    Raises:
        CompileError: it is of no such framework.
    """
    front_end = _front_end(source, framework)
    module = module_of(front_end)
    variables = _STATES.setdefault(source, {}) if hasattr(source, "named_buffers") else {}
    programs: dict[Any, Imported] = {}

    def call(*args: Any, **kwargs: Any) -> Any:
        trace = own_trace()
        if trace is None:
            raise TraceValueError("what is imported runs in a function that is compiled: @ipu.function, ipu.compile")
        taken = tree((args, kwargs), "arguments")
        specs = tuple(spec_of_leaf(leaf) for leaf in taken.leaves)
        changed = module.changed_buffers(source, *taken.nested(specs)) if hasattr(module, "changed_buffers") else {}
        for name, begin in changed.items():
            variables.setdefault(name, Variable(begin, f"{_name(source)}_{next(_NUMBERS)}.{name}"))
        if variables:
            taken = tree((({name: each.value for name, each in variables.items()}, *args), kwargs), "arguments")
            specs = tuple(spec_of_leaf(leaf) for leaf in taken.leaves)
        key = taken.structure, specs, tuple(changed)
        if key not in programs:
            function = module.as_function(source, True) if variables else module.as_function(source)
            try:
                programs[key] = import_program(front_end, function, *taken.nested(specs))
            except IpuError as error:
                raise TraceTypeError(str(error)) from error
            for each in sorted(getattr(function, "own_backward", ())):
                warnings.warn(
                    f"{each} has a backward of its own, which cannot be traced by itself; gradients here are those of "
                    "its forward code. Let it take all tensors that it reads and write to none of them, write it as a "
                    "traced function with ipu.custom_vjp, or train by ipu_mlir.torch.training_step",
                    stacklevel=2,
                )
            if programs[key].functions:
                raise TraceTypeError(f"{_name(source)} calls back to Python, which only a program of its own does")
        result = _called(trace, _name(source), programs[key], taken, specs)
        if not variables:
            return result
        state, result = result
        for name in changed:
            variables[name].assign(state[name])
        return result

    named: Any = call
    named.__name__ = _name(source)
    with contextlib.suppress(TypeError, ValueError):  # of some Python does not know what they take
        named.__signature__ = _signature(source)
    return named


def _signature(source: Any) -> inspect.Signature:
    """What the function of ``source`` takes: of a module its parameters come first."""
    if not hasattr(source, "named_parameters"):
        return inspect.signature(source)
    own = inspect.signature(source.forward)
    parameters = inspect.Parameter("parameters", inspect.Parameter.POSITIONAL_ONLY)
    return own.replace(parameters=[parameters, *own.parameters.values()])


def parameters_of(module: Any) -> Any:
    """The parameters of a module of PyTorch as arrays, by their names.

    Of a ``torch.nn.Sequential``, it is a list with those of each child.

    Raises:
        CompileError: ``module`` is of another framework.
    """
    front_end = front_end_of(module)
    if front_end is None or front_end.name != "torch":
        raise CompileError(f"parameters_of({module!r}): give a torch.nn.Module")
    return module_of(front_end).parameters_of(module)


def buffers_of(module: Any) -> dict[str, Any]:
    """The buffers of a module of PyTorch that programs write to, as arrays, by their names, as runs have left them.

    Those of the modules inside of it that programs call are among them, such as the children of a ``Sequential`` that
    are stages of a pipeline. ``module.load_state_dict(..., strict=False)`` takes them as tensors.

    Raises:
        CompileError: ``module`` is of another framework.
    """
    if not hasattr(module, "named_modules"):
        raise CompileError(f"buffers_of({module!r}): give a torch.nn.Module")
    return {
        f"{path}.{name}" if path else name: variable.value
        for path, each in module.named_modules()
        for name, variable in _STATES.get(each, {}).items()
    }


def stages_of(stages: Iterable[Any], loss: Any = None) -> list[Any]:
    """The stages of a pipeline, each a function that can be traced, or a list of such.

    Args:
        stages: functions, of Python or of another framework, or lists of them; or a ``torch.nn.Sequential``, which has
            a stage for each child.
        loss: of what the last stage gives and its data.

    Raises:
        TraceTypeError: the last stage is a list, and there is a loss.
    """
    found = [_traceable(each) if callable(each) else list(map(_traceable, each)) for each in stages]
    if loss is None or not found:
        return found
    *before, last = found
    if isinstance(last, list):
        raise TraceTypeError("the last stage of a pipeline with loss= is a list of functions; let it return the loss")
    has_parameters = _is_foreign(loss) and hasattr(loss, "parameters")
    own = _traceable(loss)

    def last_with_loss(parameters: Any, given: Any, *data: Any) -> Any:
        result = last(parameters, given)
        return own(*spread(own, [*([{}] if has_parameters else []), result, *data]))

    return [*before, last_with_loss]


def _traceable(function: Any) -> Any:
    """A stage as a function that can be traced: one of Python may turn out to be one of JAX."""
    if _is_foreign(function):
        return imported(function)

    @functools.wraps(function)
    def own_or_imported(*args: Any) -> Any:
        try:
            return function(*args)
        except Exception as error:  # of any kind: what the function does is the user's
            found = of_a_framework(error)
            if found is None or found.framework not in _CALLED:
                raise
            return imported(function, found.framework)(*args)

    return own_or_imported


def _is_foreign(stage: Any) -> bool:
    front_end = None if isinstance(stage, str) else front_end_of(stage)
    return front_end is not None and front_end.name in _CALLED


def _front_end(source: Any, framework: str | None) -> FrontEnd:
    found = front_end_of(source) if framework is None else None
    named = next((each for each in FRONT_ENDS if isinstance(framework, str) and each.name == framework), found)
    is_model = named is not None and named.name == "onnx" and hasattr(source, "graph")
    if named is None or not (is_model or (named.name in _CALLED and callable(source))):
        shown = f"a {type(source).__name__}" if hasattr(source, "graph") else repr(source)
        raise CompileError(
            f"imported({shown}, {framework!r}): give a jitted function of JAX, a module of PyTorch, a model of ONNX, "
            "or a function and 'jax' or 'torch'"
        )
    return named


def _name(source: Any) -> str:
    return getattr(source, "__name__", type(source).__name__)


def _called(trace: Trace, name: str, program: Imported, taken: Tree, specs: Sequence[TensorSpec]) -> Any:
    """The results of a call of ``program``, which becomes part of the module that is being traced."""
    call: Any = program.call
    given = values_of(trace, taken.leaves, specs)
    wrapped = [trace.wrap(value, spec.shape, spec.dtype) for value, spec in zip(given, specs, strict=True)]
    args, kwargs = taken.nested(wrapped)
    operands = call.taken(args, kwargs)
    with trace.emit(name):
        entry = _with_functions(trace, name, program)
        for operand, type_ in zip(operands, entry.type.inputs, strict=True):
            if operand.value.type != type_:
                raise TraceTypeError(
                    f"{name} gets {operand} and takes {spec_of_type(type_)}; JAX has 64 bits with "
                    "jax.config.update('jax_enable_x64', True), or use astype"
                )
        results = list(func.CallOp(entry, [each.value for each in operands]).operation.results)
        found = [spec_of_type(value.type) for value in results]
        tensors = [trace.wrap(value, spec.shape, spec.dtype) for value, spec in zip(results, found, strict=True)]
    return call.nested(tensors)


def _with_functions(trace: Trace, name: str, program: Imported) -> Any:
    """The entry of ``program``, whose functions become private ones of the module that is being traced."""
    if isinstance(program.program, OpenProgram):
        raise TraceValueError(f"{name} has sizes that are not known; give tensors of known sizes")
    if program.replicas > 1:
        raise TraceValueError(
            f"{name} runs on a mesh of {program.replicas} devices; compile it by itself, or call the function of one "
            "device and combine values by ipu.all_reduce"
        )
    source: Any = program.program
    if isinstance(source, ir.Module):  # of a context of its own
        here = str(ir.Location.current)  # for ops of which PyTorch does not say where they come from
        source = source.operation.get_asm(enable_debug_info=True).replace("loc(unknown)", here)
    module = parse_module(source, trace.context, f"<{name}>")
    import_stablehlo(module.operation)
    for op in module.body.operations:
        if op.operation.name == "ipu.variable" and symbol_of(op.operation) == drawing.STATE:
            drawing.declare_state()
    functions = [op for op in module.body.operations if op.operation.name == "func.func"]
    entry = next(place for place, op in enumerate(functions) if not _is_private(op.operation))
    names = {op.name.value: new_name(trace.module, f"{name}_{op.name.value}") for op in functions}
    for old, new in names.items():
        ir.SymbolTable.replace_all_symbol_uses(old, new, module.operation)
    for op in functions:
        ir.SymbolTable.set_symbol_name(op.operation, names[op.name.value])
        op.operation.attributes["sym_visibility"] = ir.StringAttr.get("private")
    with ir.InsertionPoint(trace.module.body):
        clones = [op.operation.clone() for op in functions]
    return clones[entry].opview


def _is_private(function: ir.Operation) -> bool:
    marked = "sym_visibility" in function.attributes
    return marked and ir.StringAttr(function.attributes["sym_visibility"]).value == "private"
