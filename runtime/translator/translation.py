"""What a program is translated to: NumPy source, and what it takes, gives and holds. Plain data, without MLIR."""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ipu_mlir.runtime.translator.codegen.vocabulary import code_of, namespace

if TYPE_CHECKING:
    from ipu_mlir.runtime.translator.kernels.declared import Declared


@dataclass(frozen=True)
class ArraySpec:
    """What an argument or a result is."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    bits: np.dtype[Any] | None = None
    """The integers that the program reads and writes in place of floats of 16 or 8 bits; None for any other type."""

    def __str__(self) -> str:
        return f"{'x'.join(map(str, (*self.shape, '')))}{self.dtype}"


@dataclass(frozen=True)
class Variable:
    """State that a program reads and writes in place.

    Attributes:
        held: the type of the numbers in memory: float32 for floats of 16 and 8 bits.
        initial: what it begins with, of type ``held``; None for a value that somebody gives it first.
        is_read: whether the program needs the value that it has before.
        replicas: how many have a value of their own, along the first dimension; 0 if all have one.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    held: np.dtype[Any]
    initial: np.ndarray | None = field(default=None, repr=False, compare=False)
    is_read: bool = True
    replicas: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of its memory."""
        return prod(self.shape) * self.held.itemsize

    def __str__(self) -> str:
        return f"{'x'.join(map(str, (*self.shape, '')))}{self.dtype}"


@dataclass(frozen=True)
class Stream:
    """A queue between the host and a program, with the types of host arrays in its elements.

    Attributes:
        kind: ``infeed``, ``outfeed`` or ``host_function``.
        specs: what the host gets of an element, or of an infeed what it gives.
        depth: of an infeed, how many elements may wait.
        mode: of an outfeed, ``all`` or ``last``.
        replicas: how many take an element, or give one, at a time.
    """

    name: str
    kind: str
    specs: tuple[ArraySpec, ...]
    depth: int
    mode: str
    replicas: int = 1
    gives: tuple[ArraySpec, ...] = ()
    """Of a function of the host."""


@dataclass(frozen=True)
class RemoteSpec:
    """A remote buffer that programs use, with the type of host arrays.

    Attributes:
        initial: what it begins with; None for zeros.
        is_variable: whether its only row is a variable to the host.
        replicas: how many have rows of their own, along the first dimension; 0 if all have the same.
        whole: the shape that these are parts of, in the way that ``partition`` says; None if they are all.
        variables: names of the variables that are its rows, each of which has a spec of its own.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    initial: np.ndarray | None = field(default=None, repr=False, compare=False)
    is_variable: bool = False
    replicas: int = 0
    whole: tuple[int, ...] | None = None
    partition: str = ""
    variables: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes of all rows."""
        return prod(self.shape) * self.dtype.itemsize

    def __str__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Translation:
    """NumPy source, and what its ``build`` function needs."""

    source: str
    arguments: tuple[ArraySpec, ...]
    results: tuple[ArraySpec, ...]
    temporary_bytes: int
    constants: dict[str, np.ndarray] = field(repr=False)
    single_blas_thread: bool = False
    """True if BLAS must not start threads: the source shares its work between threads itself, or has little of it."""
    variables: tuple[Variable, ...] = ()
    """Their memory comes after the arguments."""
    queues: tuple[Stream, ...] = ()
    """What the program gets from the host and gives to it while it runs."""
    remote: tuple[RemoteSpec, ...] = ()
    """Its remote buffers; then ``remote`` comes after ``streams``."""
    has_streams: bool = False
    """True if ``streams`` come after the variables: queues, or what the host shows."""
    kernels: str = field(default="", repr=False)
    """The MLIR module of the functions that the source gets from ``memory.kernel``."""
    declared: "dict[str, Declared | None] | None" = field(default=None, repr=False)
    """The uses that kernels make of their arrays, by name, if runs are checked."""

    @property
    def has_state(self) -> bool:
        """True if a run changes more than its results."""
        return bool(self.variables or self.has_streams or self.remote)

    def compiled(self) -> Callable[[Any], Callable[..., None]]:
        """The ``build`` function of the source: memory -> main(*arguments, *variables, *results).

        Raises:
            CompileError: the source does what no emitter writes.
        """
        names = namespace()
        exec(code_of(self.source), names)
        return names["build"]
