"""A compiled program: run it, look at it."""

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.compilation.programs import Programs
from ipu_mlir.dialects.support.errors import CompileError, MemoryWarning, RunError, memory_warnings
from ipu_mlir.dialects.support.pictures import title
from ipu_mlir.programs.session import Session
from ipu_mlir.runtime.engine import program_cache
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translation import Translation
from ipu_mlir.specs.specs import TensorSpec

if TYPE_CHECKING:
    import os

    from ipu_mlir.compilation.lowering import Lowered, Lowering
    from ipu_mlir.compilation.repeated_calls import NestedCall
    from ipu_mlir.dialects.support.bindings import ir
    from ipu_mlir.frontends.table import Call
    from ipu_mlir.inspect.placements import Placements
    from ipu_mlir.passes.core.manager import PassTime
    from ipu_mlir.programs.trace_all import Declared
    from ipu_mlir.runtime.profile.profile import Profile

LEVELS = ("l0", "l1", "l2", "l3", "host", "kernels")

_OF_THIS_PROCESS = ("_read", "_origin", "_l0", "_l3", "_per_tile", "_counting", "_together", "_nested", "engine", "run")


class Executable:
    """A program compiled for a target; made by ``ipu_mlir.compile``.

    One that is read from the disk needs nothing of MLIR before somebody asks for its IR.

    Attributes:
        entry: name of the function that runs.
        argument_specs: shape and type of each argument, flat, in order.
        result_specs: shape and type of each result, flat, in order.
        run: ``run(inputs) -> results``, both flat lists of arrays in the order of the function's arguments and results;
            inputs are never written, results are fresh. Variables are those outside of sessions.
        engine: what runs.
    """

    run: Callable[[Sequence[np.ndarray]], list[np.ndarray]]

    def __init__(
        self,
        module: "ir.Module",
        entry: str,
        lowering: "Lowering",
        call: "Call | None" = None,
        declared: "Mapping[str, Declared] | None" = None,
        entries: Sequence[str] = (),
        lower: "Callable[[], Lowered] | None" = None,
        source_key: str | None = None,
    ) -> None:
        """Lower and translate a function.

        Args:
            call: for a traced function, how its arguments and results are nested.
            declared: the variables and queues that Python made.
            entries: all functions that are compiled together with this one.
            lower: ``lower_together`` of ``entries``, which they share.
            source_key: what it is kept as on disk for whoever has its source, if that can be.
        """
        from ipu_mlir.compilation import kept_programs
        from ipu_mlir.compilation.entry import entry_of
        from ipu_mlir.compilation.lowering import lower_together
        from ipu_mlir.dialects.analysis.variables import variable_arguments, variable_results
        from ipu_mlir.specs.tensor_types import spec_of_type

        self.entry = entry
        function = entry_of(module, entry)
        types, given = function.attributes["function_type"].value, variable_arguments(function)
        self.argument_specs = tuple(spec_of_type(each) for at, each in enumerate(types.inputs) if at not in given)
        taken = variable_results(function)
        self.result_specs = tuple(spec_of_type(each) for at, each in enumerate(types.results) if at not in taken)
        self._l0 = module
        self._lowering, self._kernels = lowering, lowering.kernels
        self._call = call
        self._declared = dict(declared or {})
        self._entries = tuple(entries) or (entry,)
        key = self._key_on_disk()
        kept = None if key is None else kept_programs.read(key, module)
        if kept is not None:
            self._start_kept(kept.translation, kept.heard)
            return
        with memory_warnings() as heard:
            lowered = lower() if lower is not None else lower_together(module, self._entries, lowering)
        self._l3, self.pass_timings = lowered.supersteps, lowered.timings
        self._start(Engine(lowered.on_host, entry, self._options))
        if source_key is not None and self._says_all():
            program_cache.write(source_key, self.engine.translation, heard, entry)
        elif key is not None:
            kept_programs.write(key, module, self.engine.translation, heard, entry)

    @classmethod
    def of_kept(
        cls,
        kept: program_cache.Kept,
        read: "Callable[[str], tuple[ir.Module, Lowering]]",
        kernels: str | None,
        call: "Call | None" = None,
        declared: "Mapping[str, Declared] | None" = None,
    ) -> "Executable":
        """A program that another process has left on disk.

        Args:
            read: gives its module and the way that function goes whose name it is given, once they are asked for.
            kernels: as in ``compile``.
            call: how its arguments and results are nested.
            declared: what Python made for it.
        """
        made = cls.__new__(cls)
        made.entry, made._entries = kept.entry, (kept.entry,)
        made.argument_specs, made.result_specs = _specs(kept.translation)
        made._call, made._declared = call, dict(declared or {})
        made._read, made._kernels = read, kernels
        made._start_kept(kept.translation, kept.heard)
        return made

    def _start_kept(self, translation: Translation, heard: Sequence[MemoryWarning]) -> None:
        for each in heard:
            warnings.warn(each, stacklevel=3)
        self._start(
            Engine.of(translation, self._options.threads, self._without_kernels if self._may_do_without else None)
        )

    def _says_all(self) -> bool:
        """True if what runs is all that somebody needs who has the source; variables may be large, and are not."""
        translation = self.engine.translation
        is_known = _specs(translation) == (self.argument_specs, self.result_specs)
        return is_known and all(each.initial is None for each in translation.variables)

    def _key_on_disk(self) -> str | None:
        """What the program is kept as on disk, if it can be."""
        from ipu_mlir.compilation import kept_programs

        text = self._lowering.text
        if text is None:
            return None
        return kept_programs.key_of(self._l0, self._entries, self.entry, text, self._kernels)

    @property
    def _may_do_without(self) -> bool:
        return self._options.kernels not in ("always", "never")

    @property
    def _options(self) -> TranslatorOptions:
        return TranslatorOptions.of(self._kernels)

    def _without_kernels(self) -> Translation:
        """The program for a machine where LLVM does not take its kernels."""
        from ipu_mlir.runtime.translator.translate import translate

        return translate(self._at_anew("host"), self.entry, replace(self._options, kernels="never"))

    def _start(self, engine: Engine) -> None:
        self.engine = engine
        self._nested: NestedCall | None = None
        if hasattr(self._call, "bind"):  # of a function that we have traced
            from ipu_mlir.compilation.repeated_calls import nested_call

            self._nested = nested_call(self._call)
        self._together = Programs({self.entry: self}, self._declared)
        self.run = self._run_outside_of_sessions if engine.has_state else engine.run  # nothing of ours runs per call

    def _run_outside_of_sessions(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        return self.engine.run(inputs, self._together.own_state)

    def put_together(self, programs: Programs) -> None:
        """Share variables and sessions with ``programs``, of which this is one."""
        self._together = programs

    def session(
        self,
        *,
        synthetic: bool = False,
        counted: bool = False,
        files: "Mapping[str, str | os.PathLike[str]] | None" = None,
    ) -> Session:
        """As ``Programs.session``: variables and queues that begin as the program says, and programs that use them."""
        return self._together.session(synthetic=synthetic, counted=counted, files=files)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the program as it came in, how to lower it, and what it was translated to.

        Raises:
            NotPortableError: a planner or a pass of the user's, or a value that a traced function was compiled for,
                cannot be pickled.
        """
        from ipu_mlir.compilation.portable import bytecode_of, portable

        portable("a planner or a pass that it was compiled with", self._lowering)
        fields = {name: value for name, value in self.__dict__.items() if name not in _OF_THIS_PROCESS}
        fields["_bytecode"] = self.__dict__.get("_bytecode") or bytecode_of(self._l0)
        portable("a value or a type among the arguments of its function", self._call)
        portable("a variable or a queue, or what gives its elements", self._declared)
        return _made_again, (fields, self.engine)

    def __copy__(self) -> "Executable":
        """The same program, with memory of its own for its runs."""
        fields = {name: value for name, value in self.__dict__.items() if name != "_per_tile"}
        return _made_again(fields, copy(self.engine))

    def __deepcopy__(self, memo: dict[int, Any]) -> "Executable":
        """As ``copy``: what is shared never changes."""
        return self.__copy__()

    @cached_property
    def _l0(self) -> Any:
        """The program as it came in; of an executable from another process, once it is asked for."""
        if "_read" in self.__dict__:
            return self._origin[0]
        from ipu_mlir.compilation.portable import module_of

        return module_of(self._bytecode)

    @cached_property
    def _lowering(self) -> "Lowering":
        return self._origin[1]

    @cached_property
    def _origin(self) -> "tuple[ir.Module, Lowering]":
        return self._read(self.entry)

    @cached_property
    def pass_timings(self) -> "list[PassTime]":
        """How long each pass took; a program that another process has left on disk is lowered for it."""
        from ipu_mlir.compilation.lowering import lower_together

        return lower_together(self._l0, self._entries, self._lowering).timings

    @cached_property
    def _l3(self) -> "ir.Operation":
        """The supersteps; of an executable from another process, lowered once they are asked for."""
        return self._at_anew("l3")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run in the caller's structure.

        A traced function, or one of another framework, takes and gives what its Python function does. Another program
        takes one array per argument and gives one array, or a tuple of them.
        """
        try:
            return self._called(self.run, args, kwargs)
        except (TypeError, RunError):
            if "jax" not in sys.modules:
                raise
            from ipu_mlir.compilation.in_jax import called_in_jax, is_in_jax

            if not is_in_jax(args, kwargs):
                raise
        return called_in_jax(self, self._call, args, kwargs)

    @property
    def lowering(self) -> "Lowering":
        """The passes that the program goes through."""
        return self._lowering

    def call_on(self, state: State, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """As a call, on the variables of ``state``."""
        return self._called(lambda inputs: self.engine.run(inputs, state), args, kwargs)

    def call_counted(
        self, state: State, args: Sequence[Any], kwargs: Mapping[str, Any], entered: dict[str, dict[int, int]]
    ) -> Any:
        """As ``call_on``; ``entered`` then has by the name of the program how often it has entered which blocks."""
        from ipu_mlir.runtime.profile.counting import counts_in

        def run(inputs: list[np.ndarray]) -> list[np.ndarray]:
            engine, blocks = self._counting
            results = engine.run(inputs, state)
            entered[self.entry] = counts_in(results, blocks)
            return results[: len(results) - len(blocks)]

        return self._called(run, args, kwargs)

    @cached_property
    def _counting(self) -> tuple[Engine, list[int]]:
        """The program that counts while it runs, and the blocks that it counts."""
        from ipu_mlir.compilation.lowering import to_host
        from ipu_mlir.runtime.profile.counting import with_counters

        module, blocks = with_counters(self._l3, self.entry)
        to_host(module)
        return Engine(module, self.entry, self._options), blocks

    def profile_of_run(self, entered: dict[int, int]) -> "Profile":
        """As ``profile`` of a run that has counted."""
        from ipu_mlir.runtime.profile.build_profile import profile_of

        return profile_of(self._l3, self.entry, source=self._l0.operation, entered=entered)

    def _called(
        self, run: Callable[[list[np.ndarray]], list[np.ndarray]], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        if self._nested is not None:
            return self._nested(run, args, kwargs)
        if self._call is None:
            results = run(list(args))
            return results[0] if len(results) == 1 else tuple(results)
        found = self._call.unflatten(run(self._call.flatten(args, kwargs)))
        give_back = getattr(self._call, "give_back", None)
        return found if give_back is None else give_back(found, args, kwargs)

    def run_per_tile(self, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
        """As ``run``, but tile by tile, each with a memory of its own: slow, exact, and the judge of ``run``."""
        if not self.engine.has_state:
            return self._as_run_gives(self._per_tile.run(list(inputs)))
        state, variables = self._together.own_state, self.engine.variables
        with state.turn:
            values = {
                each.name: cell.value(each.name) for each in variables if (cell := state.cells[each.name]).has_value
            }
            results = self._per_tile.run(list(inputs), values, state.streams, state.remote)
            left = [one_or_each(values[each.name], each.shape, f"variable {each.name!r}") for each in variables]
            state.give({each.name: value for each, value in zip(variables, left, strict=True)})
        return self._as_run_gives(results)

    def _as_run_gives(self, results: list[np.ndarray]) -> list[np.ndarray]:
        """Results of the per-tile executor, which has them of every replica, as those of ``run``."""
        specs = enumerate(self.engine.results)
        return [one_or_each(array, spec.shape, f"result {n}") for (n, spec), array in zip(specs, results, strict=True)]

    @cached_property
    def _per_tile(self) -> Any:
        from ipu_mlir.runtime.per_tile.executor import PerTileExecutor

        return PerTileExecutor(self._l3, self.entry)

    def source(self) -> str:
        """The NumPy program that runs."""
        return self.engine.source

    def mlir(self, level: str = "l3") -> str:
        """The program as MLIR text, mappings as aliases; the levels are those of ``module``."""
        from ipu_mlir.dialects.support.printing import to_text

        return to_text(self.module(level))

    def module(self, level: str = "l3") -> Any:
        """The program as a module: lowered anew from what came in, but for the level that runs. Not to be changed.

        Args:
            level: ``l0`` as it came in, ``l1`` normalised, ``l2`` placed on tiles, ``l3`` supersteps, ``host`` the same
                for one memory, which is translated to NumPy, ``kernels`` what it becomes (``ipu-kernels``), to be read.
        """
        if level not in LEVELS:
            raise CompileError(f"there is no level {level!r}; the levels are {', '.join(LEVELS)}")
        if level == "l0":
            return self._l0
        if level == "kernels":
            from ipu_mlir.compilation.kernels import Kernels

            module = self._at_anew("host")
            Kernels(self.entry, self._kernels or "").run(module.operation)
            return module
        return self._l3 if level == "l3" else self._at_anew(level)

    def placements(self) -> "Placements":
        """Where the arguments, constants and results lie on the tiles; prints as a table."""
        from ipu_mlir.inspect.placements import placements

        call = self._call
        results = call.result_names if call else [f"result{place}" for place in range(len(self.result_specs))]
        return placements(self._l3.operation, self.entry, _argument_names(self._l0, self.entry), results)

    def profile(self, inputs: Sequence[np.ndarray] | None = None) -> "Profile":
        """The profile of the program on its target: cycles, bytes and memory, per step and per op of the source.

        Args:
            inputs: a flat list of arrays; with it the program runs once, to count how often loops and branches run
                whose bounds are not constants. Without it they are taken to run once. Variables stay as they are, and
                infeeds give zeros.

        Raises:
            RunError: the inputs do not fit the program.
        """
        from ipu_mlir.runtime.profile.build_profile import profile_of

        state = self._together.own_state.copy() if inputs is not None and self.engine.has_state else None
        return profile_of(self._l3, self.entry, inputs, source=self._l0.operation, state=state)

    def _at_anew(self, level: str) -> "ir.Operation":
        from ipu_mlir.compilation.entry import entries_alone

        module = entries_alone(self._l0.operation, self._entries)
        self._lowering.run(module.operation, level)
        return module

    def _repr_html_(self) -> str:
        """For notebooks: what it takes and gives, and where all of it is stored."""
        return title(repr(self)) + self.placements()._repr_html_()

    def __repr__(self) -> str:
        arguments, results = (", ".join(map(str, specs)) for specs in (self.argument_specs, self.result_specs))
        return f"<Executable {self.entry}({arguments}) -> ({results})>"


def one_or_each(array: np.ndarray, shape: tuple[int, ...], name: str) -> np.ndarray:
    """``array``, which may have a first dimension for replicas, in ``shape``: if that has none, they must be equal."""
    if array.shape == shape:
        return array
    rows = [row.tobytes() for row in array]
    assert all(row == rows[0] for row in rows), f"{name} is one for all replicas, but theirs differ"
    return array[0, ...]


def _specs(translation: Translation) -> tuple[tuple[TensorSpec, ...], tuple[TensorSpec, ...]]:
    """What a program takes and gives, of what was translated alone."""
    arguments, results = (
        tuple(TensorSpec(each.shape, each.dtype) for each in specs)
        for specs in (translation.arguments, translation.results)
    )
    return arguments, results


def _made_again(fields: dict[str, Any], engine: Engine) -> Executable:
    executable = Executable.__new__(Executable)
    executable.__dict__.update(fields)
    executable._start(engine)
    return executable


def _argument_names(module: Any, entry: str) -> list[str]:
    """The names that the arguments carry in their locations, ``arg0, arg1, ...`` for those that carry none."""
    from ipu_mlir.compilation.entry import entry_of
    from ipu_mlir.dialects.analysis.variables import variable_arguments

    function = entry_of(module, entry)
    variables = variable_arguments(function)
    arguments = function.regions[0].blocks[0].arguments
    locations = [argument.location for argument in arguments if argument.arg_number not in variables]
    return [getattr(location, "name_str", f"arg{place}") for place, location in enumerate(locations)]
