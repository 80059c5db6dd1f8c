"""``compile``: from a source of any kind to an ``Executable``."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, overload

from ipu_mlir.compilation.dynamic_shapes import DynamicExecutable, ReimportedExecutable
from ipu_mlir.compilation.entry import entry_name, entry_of
from ipu_mlir.compilation.executable import Executable, lower_together
from ipu_mlir.compilation.lowering import Lowering, Pipeline, level_of, plan_lowering
from ipu_mlir.compilation.programs import Programs, put_together
from ipu_mlir.compilation.sources import read_module, with_quotes
from ipu_mlir.dialects.analysis.queues import queues_in
from ipu_mlir.dialects.analysis.variables import variables_in
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.dialects.support.remembered import remembering
from ipu_mlir.frontends.replicated import is_replicated, on_replicas
from ipu_mlir.frontends.stablehlo import import_stablehlo
from ipu_mlir.frontends.table import Call, OpenProgram, front_end_called, front_end_of, import_program
from ipu_mlir.passes.importing.dynamic_types import dynamic_sizes
from ipu_mlir.programs.host_function import HostFunction
from ipu_mlir.runtime.translator.statements.options import KERNELS

if TYPE_CHECKING:
    import os
    from typing import TypedDict, Unpack

    from ipu_mlir.compilation.function import Function
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.programs.trace_all import Declared

    One = str | os.PathLike[str] | ir.Module | Function | Callable[..., Any]
    Source = One | Mapping[str, Callable[..., Any]]

    class _Options(TypedDict, total=False):
        """The arguments of ``compile`` that say nothing about what it gives."""

        kwargs: Mapping[str, Any] | None
        target: Target | None
        pipeline: Pipeline | None
        planner: Callable[..., Any] | None
        available_memory_proportion: float | None
        merge_collectives: int | None
        merge_remote_buffers: str | None
        float_modes: str | Mapping[str, Any] | None
        partials_type: str | None
        kernels: str | None


@overload
def compile(
    source: "One", *, entry: str | None = None, args: Sequence[Any] | None = None, **options: "Unpack[_Options]"
) -> Executable | Any: ...  # a DynamicExecutable where sizes are not known
@overload
def compile(
    source: "One",
    *,
    entry: list[str] | tuple[str, ...],
    args: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    **options: "Unpack[_Options]",
) -> Programs: ...
@overload
def compile(
    source: Mapping[str, Callable[..., Any]],
    *,
    entry: str | Sequence[str] | None = None,
    args: Mapping[str, Sequence[Any]] | None = None,
    **options: "Unpack[_Options]",
) -> Programs: ...
def compile(
    source: "Source",
    *,
    entry: str | Sequence[str] | None = None,
    args: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    target: "Target | None" = None,
    pipeline: Pipeline | None = None,
    planner: Callable[..., Any] | None = None,
    available_memory_proportion: float | None = None,
    merge_collectives: int | None = None,
    merge_remote_buffers: str | None = None,
    float_modes: str | Mapping[str, Any] | None = None,
    partials_type: str | None = None,
    kernels: str | None = None,
) -> Executable | DynamicExecutable | Programs:
    """Compile a program for the IPU.

    A program with ``?`` sizes is compiled for the sizes of each call when they come for the first time. Several
    functions are compiled together: they share variables.

    Args:
        source: a path to MLIR text or bytecode, MLIR text, an ``ir.Module`` (stays as it is), an ``@ipu.function``,
            or a Python function on tensors, which is traced as one; or several of them by name. MLIR may be StableHLO.
            Programs of other frameworks too: a function of JAX or its export, a module of PyTorch or its export, a
            function of TensorFlow, a model of Keras or ONNX; a plain function belongs to the framework of the arrays in
            ``args``, or to JAX or TensorFlow if it calls them with arrays of NumPy.
        entry: the function that runs; by default the only public one, or of several the one called ``main``. A list of
            names for several.
        args: for a Python function its arguments, a ``TensorSpec`` or an example array for each tensor; of several
            functions, those of each by its name.
        kwargs: its arguments by name, for functions of other frameworks.
        target: the machine; without one that which the module or the ``@ipu.function`` names, or one IPU of the default
            kind.
        pipeline: pipeline text or a list of passes that replaces the default passes.
        planner: a callable that decides the partition of each op instead of the default.
        available_memory_proportion: the share of a tile's memory that operands brought to it and partial results of one
            op may take, more than 0 and at most 1; 0.6 by default. ``ipu-partition`` has one per kind of op.
        merge_collectives: how many bytes collectives of replicas may give together that wait for each other to have one
            sync; 0 by default: each has its own.
        merge_remote_buffers: which variables in remote memory become rows of one buffer: ``beneficial``, those that
            outlined functions take in one place, which is the default; ``all`` of one form; or ``none``.
        float_modes: how operations on floats behave, by name or as text, such as ``{"rounding": "stochastic"}``.
            ``rounding`` of f16 and bf16 is ``nearest``, ``stochastic``, or ``identical``: at random only where all
            replicas have one value. ``overflow``: what is beyond the largest f16 becomes ``infinity``, ``clip``
            (65504) or ``nan``. ``exceptions``: those of ``inv``, ``div0``, ``oflo`` that end a run. ``seed``: of the
            rounding. By default floats are rounded to the nearest, overflow to infinity and raise nothing.
        partials_type: of sums of floats of 16 and 8 bits that are not complete: ``f32``, the default, or ``native``,
            that of their result, which takes fewer cycles and bytes and rounds each term.
        kernels: what runs as machine code of LLVM: ``auto`` (or what ``IPU_KERNELS`` in the environment says) for what
            loops of the program and loops over blocks repeat, ``never`` for nothing, ``always`` for all that can; the
            rest is calls of NumPy. ``checked`` is ``always``, slower, with kernels and blocks held to what they say.

    Raises:
        CompileError: the program does not parse, has ops that are not supported (all of them are listed), or a pass
            refuses it.
        TargetError: the target cannot hold it.
    """
    try:
        if kernels not in (None, *KERNELS):
            raise CompileError(f"kernels={kernels!r} is none of {', '.join(map(repr, KERNELS))}")
        lowering = plan_lowering(
            _named_target(source) if target is None else target,
            pipeline,
            planner,
            available_memory_proportion,
            merge_collectives,
            merge_remote_buffers,
            float_modes,
            partials_type,
        )
        lowering = replace(lowering, kernels=kernels)
        return _compile(source, entry, args, kwargs or {}, lowering)
    except IpuError as error:
        raise for_the_user(error, source) from error.__cause__


def _named_target(source: Any) -> "Target | None":
    """The target that functions name, if ``source`` is one of them or several."""
    functions = [each for each in (source.values() if isinstance(source, Mapping) else [source]) if callable(each)]
    if not functions:
        return None
    from ipu_mlir.tracing.surface.traced import TracedFunction  # what programs of other kinds never need

    named = [each.target for each in functions if isinstance(each, TracedFunction) and each.target is not None]
    if any(each != named[0] for each in named):
        raise CompileError("functions that are compiled together name different targets; pass target=")
    return named[0] if named else None


def for_the_user(error: IpuError, source: Any) -> IpuError:
    """``error`` about the program ``source`` as users see it: with lines of theirs, and no frames of ours."""
    from ipu_mlir.tracing.errors import at_the_users_line  # what most programs never need

    return at_the_users_line(with_quotes(error, source))


def _takes_nothing(function: Callable[..., Any]) -> bool:
    try:
        return not inspect.signature(function).parameters
    except (TypeError, ValueError):  # one that is written in C
        return False


def _compile(
    source: Any,
    entry: str | Sequence[str] | None,
    args: Sequence[Any] | Mapping[str, Sequence[Any]] | None,
    kwargs: Mapping[str, Any],
    lowering: Lowering,
) -> Executable | DynamicExecutable | Programs:
    if isinstance(source, Mapping):
        from ipu_mlir.programs.trace_all import trace_all

        traced = trace_all(source, args)
        return compile_together(traced.module, list(source), lowering, traced.calls, traced.declared)
    if args is None and callable(source) and (kwargs or _takes_nothing(source)):
        args = ()
    front_end = None if isinstance(args, Mapping) else front_end_of(source, (args, kwargs))
    if front_end is None and callable(source):
        from ipu_mlir.tracing.errors import OfAFrameworkError

        try:
            return _compile_traced(source, entry, args, lowering)
        except OfAFrameworkError as error:  # with arrays of NumPy, which it takes as well
            front_end = front_end_called(error.framework)
            if front_end is None or hasattr(source, "trace_call"):
                raise
    if front_end is not None:
        if entry is not None and not isinstance(entry, str):
            raise CompileError("several entries are for a module; compile one function of another framework at a time")
        from ipu_mlir.tracing.graph import by_another_framework

        try:
            with by_another_framework():
                imported = import_program(front_end, source, args, kwargs)
        except IpuError as error:
            if kwargs or not _is_of_ours(error) or front_end_of(source) is not None:
                raise
            return _compile_traced(source, entry, args, lowering)
        if isinstance(imported.program, OpenProgram):
            return ReimportedExecutable(imported.program, lowering, imported.call)
        lowering = lowering.on_replicas(imported.replicas)
        functions = {name: HostFunction(name, each) for name, each in imported.functions.items()}
        module, call = read_module(imported.program), imported.call
        if is_replicated((args, kwargs)):
            replicas = lowering.target.replicas if lowering.target else 1
            given = [] if args is None else list(args)
            call = on_replicas(entry_of(module, entry_name(module, entry)), call, (given, kwargs), replicas)
        return compile_module(module, entry, lowering, call, functions)
    if args is not None:
        raise CompileError("args= is for a Python function; a module has the types of its arguments in it")
    module = read_module(source)
    if entry is not None and not isinstance(entry, str):
        return compile_together(module, [entry_name(module, each) for each in entry], lowering)
    return compile_module(module, entry, lowering)


def _is_of_ours(error: BaseException | None) -> bool:
    """True if a framework has traced what only functions that we trace can do."""
    from ipu_mlir.tracing.errors import OfOursError

    return error is not None and (isinstance(error, OfOursError) or _is_of_ours(error.__cause__))


def _compile_traced(
    source: Callable[..., Any], entry: str | Sequence[str] | None, args: Any, lowering: Lowering
) -> Executable | DynamicExecutable:
    """A Python function on traced tensors."""
    from ipu_mlir.programs.trace_all import trace_all

    if args is None or isinstance(args, Mapping):
        raise CompileError(f"{source!r} is traced for given shapes; pass args=[TensorSpec(...), ...]")
    if entry is not None and not isinstance(entry, str):
        raise CompileError("several entries are for a module; give Python functions by name: compile({...})")
    name = entry or "main"
    traced = trace_all({name: source}, {name: args})
    return compile_module(traced.module, name, lowering, traced.calls[name], traced.declared)


def compile_together(
    module: ir.Module,
    entries: Sequence[str],
    lowering: Lowering,
    calls: Mapping[str, Call] | None = None,
    declared: "Mapping[str, Declared] | None" = None,
) -> Programs:
    """Several functions of a module, lowered at once: their variables lie in one place.

    Args:
        calls: for traced functions how their arguments and results are nested.
        declared: the variables and queues that Python made.
    """
    for entry in entries:
        _refuse_unknown_sizes(module, entry)
    import_stablehlo(module.operation)
    lowering = lowering.beginning_at(level_of(entry_of(module, entries[0])))
    with remembering():
        lower = cache(partial(lower_together, module, entries, lowering))
        programs = {
            name: Executable(module, name, lowering, (calls or {}).get(name), declared, entries, lower)
            for name in entries
        }
    return put_together(programs, declared or {})


def _refuse_unknown_sizes(module: ir.Module, entry: str) -> None:
    kinds = entry_of(module, entry).attributes["function_type"].value.inputs
    if any(dynamic_sizes(each) for each in kinds):
        raise CompileError(
            f"@{entry} has arguments of unknown sizes; programs with variables or queues have fixed ones"
        )


def compile_module(
    module: ir.Module,
    entry: str | None,
    lowering: Lowering,
    call: Call | None = None,
    declared: "Mapping[str, Declared] | None" = None,
) -> Executable | DynamicExecutable:
    """The executable of a module that nobody else changes.

    Args:
        call: for a traced function, or one of another framework, how its arguments and results are nested.
        declared: the variables and queues that Python made.
    """
    entry = entry_name(module, entry)
    function = entry_of(module, entry)
    if any(dynamic_sizes(each) for each in function.attributes["function_type"].value.inputs):
        if variables_in(module.operation) or queues_in(module.operation):
            _refuse_unknown_sizes(module, entry)
        return DynamicExecutable(module, entry, lowering, call)
    import_stablehlo(module.operation)
    function = entry_of(module, entry)
    with remembering():
        return Executable(module, entry, lowering.beginning_at(level_of(function)), call, declared)
