"""``compile``: from a source of any kind to an ``Executable``."""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from ipu_mlir.compilation.executable import Executable
from ipu_mlir.compilation.how import How, Text
from ipu_mlir.dialects.support.errors import CompileError, IpuError
from ipu_mlir.frontends.table import Call, Imported, OpenProgram, front_end_called, front_end_of, import_program
from ipu_mlir.programs.host_function import HostFunction
from ipu_mlir.runtime.engine import program_cache
from ipu_mlir.runtime.translator.statements.options import KERNELS

if TYPE_CHECKING:
    from typing import TypedDict, Unpack

    from ipu_mlir.compilation.dynamic_shapes import DynamicExecutable
    from ipu_mlir.compilation.function import Function
    from ipu_mlir.compilation.lowering import Lowering, Pipeline
    from ipu_mlir.compilation.programs import Programs
    from ipu_mlir.dialects.machine.target import Target
    from ipu_mlir.dialects.support.bindings import ir
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
        outline_layers: bool
        recompute: float | None
        kernels: str | None
        static_argnames: str | Sequence[str]
        static_argnums: int | Sequence[int]


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
) -> "Programs": ...
@overload
def compile(
    source: Mapping[str, Callable[..., Any]],
    *,
    entry: str | Sequence[str] | None = None,
    args: Mapping[str, Sequence[Any]] | None = None,
    **options: "Unpack[_Options]",
) -> "Programs": ...
def compile(
    source: "Source",
    *,
    entry: str | Sequence[str] | None = None,
    args: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    target: "Target | None" = None,
    pipeline: "Pipeline | None" = None,
    planner: Callable[..., Any] | None = None,
    available_memory_proportion: float | None = None,
    merge_collectives: int | None = None,
    merge_remote_buffers: str | None = None,
    float_modes: str | Mapping[str, Any] | None = None,
    partials_type: str | None = None,
    outline_layers: bool = True,
    recompute: float | None = None,
    kernels: str | None = None,
    static_argnames: str | Sequence[str] = (),
    static_argnums: int | Sequence[int] = (),
) -> "Executable | DynamicExecutable | Programs":
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
        kwargs: its arguments by name.
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
        outline_layers: whether layers that a large program repeats are one function, which is compiled once and stored
            once on each tile; a call takes a sync or two more than the layer in its place.
        recompute: values of the forward part of a gradient that are computed again instead of stored, where the program
            holds less then: in at most this share of the cycles of the forward part. By default none are.
        kernels: what runs as machine code of LLVM: ``auto`` (or what ``IPU_KERNELS`` in the environment says) for what
            loops of the program and loops over blocks repeat, ``never`` for nothing, ``always`` for all that can; the
            rest is calls of NumPy. ``checked`` is ``always``, slower, with kernels and blocks held to what they say.
        static_argnames: parameters of a Python function whose arguments are part of the program, whatever they are, as
            long as they can be hashed.
        static_argnums: the same by their numbers, from the front or, where negative, from behind.

    Raises:
        CompileError: the program does not parse, has ops that are not supported (all of them are listed), or a pass
            refuses it.
        TargetError: the target cannot hold it.
    """
    try:
        if kernels not in (None, *KERNELS):
            raise CompileError(f"kernels={kernels!r} is none of {', '.join(map(repr, KERNELS))}")
        how = How(
            _named_target(source) if target is None else target,
            pipeline,
            planner,
            available_memory_proportion,
            merge_collectives,
            merge_remote_buffers,
            float_modes,
            partials_type,
            outline_layers,
            recompute,
            kernels,
        )
        static = _static_names(source, static_argnames, static_argnums)
        return _compile(source, entry, args, kwargs or {}, how, static)
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


def _static_names(source: Any, names: str | Sequence[str], numbers: int | Sequence[int]) -> frozenset[str]:
    """The static parameters of a function that is compiled by itself."""
    if names in ((), []) and numbers in ((), []):
        return frozenset()
    from ipu_mlir.tracing.surface.traced import TracedFunction, static_names

    if isinstance(source, TracedFunction) or not callable(source):
        raise CompileError(
            "static_argnames and static_argnums are for one Python function; "
            "one with @ipu.function, and each of several, names its own there"
        )
    return static_names(source, names, numbers)


def for_the_user(error: IpuError, source: Any) -> IpuError:
    """``error`` about the program ``source`` as users see it: with lines of theirs, and no frames of ours."""
    from ipu_mlir.compilation.sources import with_quotes  # what most programs never need
    from ipu_mlir.tracing.errors import at_the_users_line

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
    how: How,
    static: frozenset[str] = frozenset(),
) -> "Executable | DynamicExecutable | Programs":
    if isinstance(source, Mapping):
        from ipu_mlir.compilation.compiled_modules import compile_together
        from ipu_mlir.programs.trace_all import trace_all

        traced = trace_all(source, args)
        return compile_together(traced.module, list(source), how.lowering, traced.calls, traced.declared)
    if args is None and callable(source) and (kwargs or _takes_nothing(source)):
        args = ()
    front_end = None if isinstance(args, Mapping) else front_end_of(source, (args, kwargs))
    if front_end is None and callable(source):
        from ipu_mlir.tracing.errors import OfAFrameworkError

        try:
            return _compile_traced(source, entry, args, kwargs, how, static)
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
                imported = import_program(front_end, source, args, kwargs, static)
        except IpuError as error:
            if kwargs or not _is_of_ours(error) or front_end_of(source) is not None:
                raise
            return _compile_traced(source, entry, args, kwargs, how, static)
        if isinstance(imported.program, OpenProgram):
            from ipu_mlir.compilation.dynamic_shapes import ReimportedExecutable

            return ReimportedExecutable(imported.program, how.lowering, imported.call)
        return _compile_imported(imported, entry, (args, kwargs), how)
    if args is not None:
        raise CompileError("args= is for a Python function; a module has the types of its arguments in it")
    if entry is not None and not isinstance(entry, str):
        from ipu_mlir.compilation.compiled_modules import compile_together
        from ipu_mlir.compilation.entry import entry_name
        from ipu_mlir.compilation.sources import read_module

        module = read_module(source)
        return compile_together(module, [entry_name(module, each) for each in entry], how.lowering)
    return _compile_imported(Imported(source), entry, None, how)


def _compile_traced(
    source: Callable[..., Any],
    entry: str | Sequence[str] | None,
    args: Any,
    kwargs: Mapping[str, Any],
    how: How,
    static: frozenset[str],
) -> "Executable | DynamicExecutable":
    """A Python function on traced tensors."""
    from ipu_mlir.tracing.surface.traced import TracedFunction

    if not isinstance(args, Sequence):
        raise CompileError(f"{source!r} is traced for given shapes; pass args=[TensorSpec(...), ...]")
    if entry is not None and not isinstance(entry, str):
        raise CompileError("several entries are for a module; give Python functions by name: compile({...})")
    name = entry or "main"
    function = source if isinstance(source, TracedFunction) else TracedFunction(source, static)
    trace, call = function.trace_beside(None, args, kwargs, name)
    return compile_made(trace.module, name, how, call, trace.declared)


def compile_made(
    module: "ir.Module",
    entry: str | None,
    how: How,
    call: Call | None = None,
    declared: "Mapping[str, Declared] | None" = None,
) -> "Executable | DynamicExecutable":
    """A module that nobody else changes: from the disk if it is there, without the passes.

    StableHLO is kept as what it is imported to, and is not found.
    """
    from ipu_mlir.compilation import kept_programs
    from ipu_mlir.compilation.entry import entry_name

    entry = entry_name(module, entry)

    def read(name: str) -> "tuple[ir.Module, Lowering]":
        from ipu_mlir.compilation.entry import entry_of
        from ipu_mlir.compilation.lowering import level_of

        return module, how.lowering.beginning_at(level_of(entry_of(module, name)))

    key = None if how.text is None else kept_programs.key_of(module, (entry,), entry, how.text, how.kernels)
    kept = None if key is None else kept_programs.read(key, module)
    if kept is not None:
        return Executable.of_kept(kept, read, how.kernels, call, declared)
    from ipu_mlir.compilation.compiled_modules import compile_module

    return compile_module(module, entry, how.lowering, call, declared)


def _compile_imported(
    imported: Imported, entry: str | None, given: tuple[Any, Any] | None, how: How
) -> "Executable | DynamicExecutable":
    """A program of another framework for the arguments ``given``, or MLIR: from the disk if it is there."""
    declared = {name: HostFunction(name, each) for name, each in imported.functions.items()}

    def read() -> "tuple[ir.Module, Callable[[], Lowering]]":
        from ipu_mlir.compilation.sources import read_module

        module = read_module(imported.program) if text is None else text.parsed()
        return module, lambda: how.lowering.on_replicas(imported.replicas)

    def read_entry(name: str) -> "tuple[ir.Module, Lowering]":
        from ipu_mlir.compilation.entry import entry_of
        from ipu_mlir.compilation.lowering import level_of
        from ipu_mlir.frontends.stablehlo import import_stablehlo

        module, lowering = read()
        import_stablehlo(module.operation)
        return module, lowering().beginning_at(level_of(entry_of(module, name)))

    text, call = Text.of(imported.program), imported.call
    is_marked = given is not None and _is_per_replica(given)  # then arguments are marked in the module
    key = None if text is None or is_marked else how.key_of(text, entry, imported.replicas)
    kept = None if key is None else program_cache.read(key)
    if kept is not None:
        return Executable.of_kept(kept, read_entry, how.kernels, call, declared)
    module, lowering = read()
    if given is not None and is_marked:
        call = _on_replicas(module, entry, call, given, lowering())
    elif text is None and imported.replicas == 1:
        return compile_made(module, entry, how, call, declared)
    from ipu_mlir.compilation.compiled_modules import compile_module

    return compile_module(module, entry, lowering(), call, declared, key)


def _is_per_replica(given: tuple[Any, Any]) -> bool:
    from ipu_mlir.frontends.replicated import is_replicated

    return is_replicated(given)


def _on_replicas(
    module: "ir.Module", entry: str | None, call: Call | None, given: tuple[Any, Any], lowering: "Lowering"
) -> Call:
    from ipu_mlir.compilation.entry import entry_name, entry_of
    from ipu_mlir.frontends.replicated import on_replicas

    args, kwargs = given
    replicas = lowering.target.replicas if lowering.target else 1
    nested = ([] if args is None else list(args), kwargs)
    return on_replicas(entry_of(module, entry_name(module, entry)), call, nested, replicas)


def _is_of_ours(error: BaseException | None) -> bool:
    """True if a framework has traced what only functions that we trace can do."""
    from ipu_mlir.tracing.errors import OfOursError

    return error is not None and (isinstance(error, OfOursError) or _is_of_ours(error.__cause__))
