"""Runs one function of a module, translated to NumPy."""

import warnings
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.dialects.support.errors import RunError, Settings
from ipu_mlir.runtime.engine.inputs import checked_inputs
from ipu_mlir.runtime.engine.native import KernelError, machine_code, possible
from ipu_mlir.runtime.engine.numpy_state import prepare_numpy
from ipu_mlir.runtime.engine.one_thread import ONE_THREAD
from ipu_mlir.runtime.engine.program_memory import Memory
from ipu_mlir.runtime.engine.result_pool import ResultPool
from ipu_mlir.runtime.engine.state import State
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translation import ArraySpec, RemoteSpec, Stream, Translation, Variable

if TYPE_CHECKING:
    from ipu_mlir.dialects.support.bindings import ir

Compiled = Callable[[Translation], Callable[[Any], Callable[..., None]]]


class Engine:
    """A translated function, ready to run any number of times and in any number of threads.

    Args:
        module: superstep IR, or linalg on memrefs.
        entry: the function to run.
        options: thresholds of the translator.
        compiled: makes the ``build`` function of a translation; who measures adds clocks to the source here.

    Attributes:
        translation: what runs.
        has_state: True if a run depends on a session.

    Raises:
        CompileError: the function is missing or uses ops that the runtime lacks.
    """

    def __init__(
        self,
        module: "ir.Module | ir.Operation",
        entry: str = "main",
        options: TranslatorOptions | None = None,
        compiled: Compiled = Translation.compiled,
    ) -> None:
        from ipu_mlir.runtime.translator.translate import translate  # what a translation from the disk does not need

        options = possible(options or TranslatorOptions.of(None))
        self._begin(translate(module, entry, options), options.threads, compiled)
        if self.translation.kernels and options.kernels != "always":
            self._without_kernels = lambda: translate(module, entry, replace(options, kernels="never"))

    def _begin(self, translation: Translation, threads: int, compiled: Compiled) -> None:
        self.translation = translation
        self.has_state = translation.has_state
        self._threads = threads
        self._compiled = compiled
        self._build = compiled(translation)
        self._without_kernels: Callable[[], Translation] | None = None
        # Each run takes a program out of the list and puts it back: both are atomic, so no lock is needed. The first
        # run makes the first one: who only wants to know about a program needs no memory for its data, and no LLVM.
        self._idle: list[_RunningProgram] = []

    @staticmethod
    def of(
        translation: Translation, threads: int = 1, without_kernels: Callable[[], Translation] | None = None
    ) -> "Engine":
        """An engine that runs a ``translation``; ``without_kernels`` makes the one for where LLVM does not take it."""
        engine = Engine.__new__(Engine)
        engine._begin(translation, threads, Translation.compiled)
        engine._without_kernels = without_kernels
        return engine

    def __reduce__(self) -> tuple[Any, ...]:
        """As another process gets it: what was translated, none of the memory of runs."""
        return Engine.of, (self.translation, self._threads)

    @property
    def source(self) -> str:
        """The NumPy source that runs."""
        return self.translation.source

    @property
    def arguments(self) -> tuple[ArraySpec, ...]:
        """Name, shape and dtype of every input."""
        return self.translation.arguments

    @property
    def results(self) -> tuple[ArraySpec, ...]:
        """Name, shape and dtype of every result."""
        return self.translation.results

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The state that the program reads or writes."""
        return self.translation.variables

    @property
    def queues(self) -> tuple[Stream, ...]:
        """The queues that the program uses."""
        return self.translation.queues

    @property
    def remote(self) -> tuple[RemoteSpec, ...]:
        """The remote buffers that the program uses."""
        return self.translation.remote

    def run(self, inputs: Sequence[Any], state: State | None = None) -> list[np.ndarray]:
        """The results for ``inputs``, which are not modified; the results belong to the caller.

        Args:
            state: the variables of the session that runs; without it they begin as the program says, and are forgotten.

        Raises:
            RunError: inputs of the wrong number, shape or dtype; a variable without a value; the temporaries need
                more memory than there is; or LLVM does not take kernels that always have to be.
        """
        arrays = checked_inputs(inputs, self.translation.arguments)
        if not self.has_state:
            return self._run(arrays)
        state = state or State(self.variables, queues=self.queues, remote=self.remote)
        with state.turn:
            given: list[Any] = [*arrays, *state.memory_of(self.translation.variables)]
            given += [state.streams] if self.translation.has_streams else []
            given += [state.remote] if self.translation.remote else []
            results = self._run(given)
            state.have_values(self.translation.variables)
        return results

    def _run(self, arrays: list[Any]) -> list[np.ndarray]:
        try:
            program = self._idle.pop()
        except IndexError:  # none was made, or all are running in other threads
            program = self._new_program()
        try:
            return program.run(arrays)
        finally:
            self._idle.append(program)

    def _new_program(self) -> "_RunningProgram":
        without_kernels = self._without_kernels
        try:
            program = _RunningProgram(self.translation, self._build, self._threads)
        except KernelError as error:
            if without_kernels is None:
                raise
            warnings.warn(f"{error}; the program runs as NumPy calls", stacklevel=4)
            self._begin(without_kernels(), self._threads, self._compiled)
            return _RunningProgram(self.translation, self._build, self._threads)
        self._without_kernels = None  # the module goes with it
        return program


class _RunningProgram:
    """The program with memory of its own: one run at a time."""

    def __init__(self, translation: Translation, build: Callable[[Any], Callable[..., None]], threads: int) -> None:
        self._checked: Any = None  # a CheckedMemory, if runs are checked
        try:
            kernels = machine_code(translation.kernels) if translation.kernels else {}
            if translation.declared is None:
                memory = Memory(translation.temporary_bytes, translation.constants, threads, kernels)
            else:
                from ipu_mlir.runtime.engine.checked_memory import CheckedMemory  # what most need not

                memory = self._checked = CheckedMemory(translation, threads, kernels)
        except MemoryError as error:
            without = Settings({"profile()": None})
            raise RunError(
                f"the temporaries of the program need {translation.temporary_bytes:,} B, which this machine does not "
                f"have; its cycles and its memory per tile are known without a run: {without}",
                settings=(without,),
            ) from error
        self._memory = memory  # with the machine code of kernels
        self._main = build(memory)
        self._translation = translation
        self._has_bits = any(spec.bits is not None for spec in (*translation.arguments, *translation.results))
        self._pools = [ResultPool(spec.shape, spec.dtype) for spec in translation.results]
        self._context = Context()  # entering it costs 0.1 us, np.errstate 0.7
        self._context.run(prepare_numpy)
        self._is_plain = not (self._has_bits or self._checked or translation.single_blas_thread)

    def run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        if self._is_plain:
            results = [pool.take() for pool in self._pools]
            self._context.run(self._main, *arrays, *results)
            return results
        if self._checked is not None:
            return self._checked.checked(lambda: self._run(arrays), self._translation.has_state)
        return self._run(arrays)

    def _run(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        results = [pool.take() for pool in self._pools]
        if self._checked is not None:
            self._checked.begin(results)
        if self._has_bits:
            arguments, given_back = self._translation.arguments, self._translation.results
            self._main_with_blas(_as_bits(arrays, arguments), _as_bits(results, given_back))
        else:
            self._main_with_blas(arrays, results)
        return results

    def _main_with_blas(self, arrays: list[np.ndarray], results: list[np.ndarray]) -> None:
        if not self._translation.single_blas_thread:
            self._context.run(self._main, *arrays, *results)
            return
        with ONE_THREAD:
            self._context.run(self._main, *arrays, *results)


def _as_bits(arrays: list[Any], specs: Sequence[ArraySpec]) -> list[Any]:
    """The memory of ``arrays`` as the program sees it; that of variables comes after what has a spec."""
    seen = [a if spec.bits is None else a.view(spec.bits) for a, spec in zip(arrays, specs, strict=False)]
    return seen + arrays[len(specs) :]
