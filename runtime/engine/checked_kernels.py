"""Kernels that are held to what their statements declare, each time that they are called.

A kernel runs on copies of its arrays first, with guards around them, and twice: each time, what its statements do not
read is filled with other bytes. It is wrong if it writes anything that they do not write, or if what it writes depends
on what they do not read. Then it runs on the arrays themselves, which gives the same unless they share memory.
"""

import ctypes
import re
import sys
from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np
from numpy.lib.array_utils import byte_bounds

from ipu_mlir.dialects.support.errors import RunError, Settings
from ipu_mlir.runtime.engine.native import Kernel
from ipu_mlir.runtime.translator.kernels.declared import Box, Declared, Operand, Touch

FILLS = (0xFF, 0x55)
"""The bytes of what nobody has written: NaN, -1 and true; then positive numbers, and false."""

_LINE = 64
_FEWEST_GUARDS, _MOST_GUARDS = 4096, 1 << 24
"""Bytes on either side of a copy: as many as the largest buffer has that a kernel may take the array for."""

_ARGUMENTS = re.compile(r"\.run\((.*)\)")


class CheckError(RunError):
    """A kernel or a block does what its statements do not say: a bug of ipu-mlir."""


def violation(text: str) -> CheckError:
    """The error that says ``text``."""
    never = Settings(kernels="never")
    report = f"This is a bug of ipu-mlir: please report it with the program, which runs as NumPy calls with {never}"
    return CheckError(f"{text}. {report}", settings=(never,))


def called_as(source: Sequence[str], number: int) -> tuple[str, str]:
    """Line ``number`` of generated ``source``, and the op that it is for."""
    if not 0 < number <= len(source):
        return "", "the program"
    ops = (line.strip()[2:] for line in reversed(source[:number]) if line.lstrip().startswith("# "))
    return source[number - 1].strip(), next(ops, "") or "the program"


class CheckedKernel:
    """A kernel that uses its arrays as ``declared``; None for a product of matrices.

    Args:
        source: the lines that call it.
        is_checked: tells if a call is checked; while other threads write to its arrays, it cannot be.
    """

    def __init__(
        self,
        name: str,
        kernel: Kernel,
        declared: Declared | None = None,
        source: Sequence[str] = (),
        is_checked: Callable[[], bool] = lambda: True,
    ) -> None:
        self._name, self._kernel, self._declared = name, kernel, declared
        self._source, self._is_checked = source, is_checked

    def run(self, *given: int | np.ndarray) -> None:
        """As ``Kernel.run``.

        Raises:
            CheckError: it writes what its statements do not write, or reads what they do not read.
        """
        if not self._is_checked():
            self._kernel.run(*given)
            return
        line = sys._getframe(1).f_lineno
        numbers = [each for each in given if not isinstance(each, np.ndarray)]
        arrays = [each for each in given if isinstance(each, np.ndarray)]
        units = (int(numbers[0]), int(numbers[1])) if len(numbers) > 1 else (0, 0)
        uses = _of_product(arrays) if self._declared is None else self._declared
        used = [_Used(array, operand, units) for array, operand in zip(arrays, uses, strict=True)]

        def refuse(number: int, does: str, why: str) -> NoReturn:
            text, op = called_as(self._source, line)
            names = found[1].split(", ")[len(numbers) :] if (found := _ARGUMENTS.search(text)) else []
            name = names[number] if len(names) == len(arrays) else f"array {number}"
            shown = ", ".join(f"{n} = {v}" for n, v in zip(("lo", "hi"), numbers, strict=False))
            where = f"kernel {self._name} of {op}{f' ({text})' if text else ''}{f' with {shown}' if shown else ''}"
            raise violation(f"{where} {does} of {name}, {used[number].kind()}, {why}")

        for number, writer in enumerate(used):
            for reader in used:
                if writer is not reader and writer.shares_memory(reader):
                    refuse(number, "writes to memory", f"that array {used.index(reader)} has too")
        first, second = ([_Copy(each, round) for each in used] for round in range(len(FILLS)))
        for copies in (first, second):
            self._kernel.run(*numbers, *(copy.array for copy in copies))
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            for copy in (one, other):
                if (at := copy.stray()) is not None:
                    refuse(number, f"writes to element {at}", "which its statements do not write")
            if (at := one.differing(other)) is not None:
                refuse(number, f"computes element {at}", "from memory that its statements do not read")
        self._kernel.run(*given)
        for number, (one, other) in enumerate(zip(first, second, strict=True)):
            if (at := one.missing(other)) is not None:
                refuse(number, f"computes element {at}", "otherwise than on copies of its arrays")


def _of_product(arrays: Sequence[np.ndarray]) -> Declared:
    """The last array but one is written, those before it are read, and the last is for the kernel's own work."""
    whole = [Box(each.ctypes.data - byte_bounds(each)[0], each.shape, each.strides, each.itemsize) for each in arrays]
    written = len(arrays) - 2
    uses = [(Touch(box, n == written),) if n <= written else () for n, box in enumerate(whole)]
    return tuple(Operand(use, each.itemsize, each.nbytes) for use, each in zip(uses, arrays, strict=True))


class _Used:
    """An array, what of it may be read and what is written: truth values for the pieces that its ``grains`` are."""

    def __init__(self, array: np.ndarray, operand: Operand, units: tuple[int, int]) -> None:
        self.array, self.is_own = array, not operand.touches
        low, high = byte_bounds(array) if array.size else (array.ctypes.data,) * 2
        self.low, self.bytes, self.begin = low, high - low, array.ctypes.data - low
        self.type = np.dtype(f"u{operand.grain}")
        self.readable, self.written = operand.marks(self.bytes // operand.grain, *units)
        if self.is_own:
            self.written[:] = True
        needed = max(_FEWEST_GUARDS, min(_MOST_GUARDS, operand.whole_bytes)) if operand.whole_bytes > self.bytes else 0
        self.guards = max(_FEWEST_GUARDS, -(-needed // _LINE) * _LINE)

    def grains(self) -> np.ndarray:
        """What the array holds now, between its elements too."""
        if not self.bytes:
            return np.empty(0, self.type)
        held = (ctypes.c_uint8 * self.bytes).from_address(self.low)
        return np.ctypeslib.as_array(held).view(self.type)

    def kind(self) -> str:
        """The type of the array."""
        return f"{self.array.dtype}[{', '.join(map(str, self.array.shape))}]"

    def shares_memory(self, reader: "_Used") -> bool:
        """True if something that is written here is read or written there."""
        low, high = max(self.low, reader.low), min(self.low + self.bytes, reader.low + reader.bytes)
        if low >= high:
            return False
        here, there = (
            np.repeat(marks, each.type.itemsize)[low - each.low : high - each.low]
            for each, marks in ((self, self.written), (reader, reader.readable | reader.written))
        )
        return bool((here & there).any())


class _Copy:
    """A copy of what may be read, at the same distance from the beginning of a line; the rest is filled."""

    def __init__(self, used: _Used, round: int) -> None:
        self.used = used
        self.fill = 0 if round and used.array.dtype == np.bool_ else FILLS[round]
        self._memory = np.full(2 * used.guards + used.bytes + _LINE, self.fill, np.uint8)
        self._begin = used.guards + (used.low - self._memory.ctypes.data) % _LINE
        array = used.array
        self.array = np.ndarray(array.shape, array.dtype, self._memory, self._begin + used.begin, array.strides)
        self._grains = self._memory[self._begin : self._begin + used.bytes].view(used.type)
        np.copyto(self._grains, used.grains(), where=used.readable)
        self._before = self._grains.copy()

    def stray(self) -> int | None:
        """The first element beside what is written that has changed."""
        end = self._begin + self.used.bytes
        for part, start in ((self._memory[: self._begin], -self._begin), (self._memory[end:], self.used.bytes)):
            changed = part != self.fill
            if changed.any():
                return (start + int(changed.argmax()) - self.used.begin) // self.array.itemsize
        return self._first((self._grains != self._before) & ~self.used.written)

    def differing(self, other: "_Copy") -> int | None:
        """The first element that was written here and there and is not the same."""
        return None if self.used.is_own else self._first(self._is_written(other) & (self._grains != other._grains))

    def missing(self, other: "_Copy") -> int | None:
        """The first element that was written here and is not the same in the array itself."""
        if self.used.is_own:
            return None
        return self._first(self._is_written(other) & (self._grains != self.used.grains()))

    def _is_written(self, other: "_Copy") -> np.ndarray:
        """What is written, but for that which both leave as it was."""
        left = (self._grains == self._before) & (other._grains == other._before) & ~self.used.readable
        return self.used.written & ~left

    def _first(self, found: np.ndarray) -> int | None:
        if not found.any():
            return None
        return (int(found.argmax()) * self.used.type.itemsize - self.used.begin) // self.array.itemsize
