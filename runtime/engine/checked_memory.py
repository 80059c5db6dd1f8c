"""The memory of a program whose runs are checked: filled before it is written, and block loops one block at a time."""

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from ipu_mlir.runtime.engine.checked_kernels import FILLS, CheckedKernel, called_as, violation
from ipu_mlir.runtime.engine.native import Kernel
from ipu_mlir.runtime.engine.program_memory import Memory, Scratch
from ipu_mlir.runtime.engine.threads import run_blocks
from ipu_mlir.runtime.translator.translation import Translation


class CheckedMemory(Memory):
    """As ``Memory``. A block loop runs twice from the same memory: its blocks in any order, each on scratch memory that
    nobody has written, with checked kernels; then on all threads, which gives the same.
    """

    def __init__(self, translation: Translation, threads: int, kernels: Mapping[str, Kernel]) -> None:
        super().__init__(translation.temporary_bytes, translation.constants, threads, kernels)
        self._declared, self._source = translation.declared or {}, translation.source.splitlines()
        self._scratches: dict[Callable[..., None], list[Scratch]] = {}
        """By the first block of a loop, the memory of its own that each thread has."""
        self._fill = FILLS[0]
        self._is_shared = False  # by threads that run now
        self._random = random.Random(0)

    def checked(self, run: Callable[[], list[np.ndarray]], has_state: bool) -> list[np.ndarray]:
        """The results of ``run``, which begins; a program that ``has_state`` runs once, any other with each filling.

        Raises:
            CheckError: they depend on memory that nothing has written.
        """
        found = []
        for self._fill in FILLS[: 1 if has_state else None]:
            found.append(run())
        for number, (one, other) in enumerate(zip(found[0], found[-1], strict=True)):
            differ = bits_of(one) != bits_of(other)
            if differ.any():
                at = [int(n) for n in np.unravel_index(int(differ.argmax()), differ.shape)]
                raise violation(f"element {at} of result {number} depends on memory that nothing has written")
        return found[0]

    def begin(self, results: Sequence[np.ndarray]) -> None:
        """Fill all memory, and ``results``, with bytes that nothing reads before it is written."""
        self.fill(self._fill)
        for result in results:
            result.reshape(-1).view(np.uint8).fill(self._fill)

    def kernel(self, name: str) -> Any:
        """As ``Memory.kernel``, checked."""
        return CheckedKernel(name, self._kernels[name], self._declared[name], self._source, lambda: not self._is_shared)

    def per_thread(
        self, block: Callable[[Scratch], Callable[..., None]], scratch_bytes: int
    ) -> list[Callable[..., None]]:
        """As ``Memory.per_thread``; the scratch memory is filled before each loop, and before each block alone."""
        made = [Scratch(scratch_bytes) for _ in range(self._threads)]
        blocks = [block(scratch) for scratch in made]
        self._scratches[blocks[0]] = made
        return blocks

    def run_blocks(self, blocks: list[Callable[..., None]], units: int, size: int, *arrays: Any) -> None:
        """As ``Memory.run_blocks``.

        Raises:
            CheckError: two blocks write to one place, or threads give other values than one block after the other.
        """
        line = sys._getframe(1).f_lineno

        def refuse(text: str) -> NoReturn:
            call, op = called_as(self._source, line)
            raise violation(f"the loop over blocks of {op} ({call}) {text}")

        shared = {"the temporaries": self._bytes}
        shared |= {f"array {n}": each for n, each in enumerate(arrays) if isinstance(each, np.ndarray)}
        before = {name: array.copy() for name, array in shared.items()}
        starts = list(range(0, units, size))
        number = np.min_scalar_type(-len(starts))  # one for each byte of the temporaries: a small one
        writers = {name: np.full(bits_of(array).size, -1, number) for name, array in shared.items()}
        held = {name: array.copy() for name, array in shared.items()}
        self._random.shuffle(starts)
        for lo in starts:
            self._fill_scratch(blocks)
            self._random.choice(blocks)(lo, min(lo + size, units), *arrays)
            for name, array in shared.items():
                bits, changed = bits_of(array), _differing(array, held[name])
                twice = changed[writers[name][changed] >= 0]
                if twice.size:
                    at = [int(n) for n in np.unravel_index(twice[0], bits.shape)]
                    other = int(writers[name][twice[0]]) * size
                    refuse(f"writes element {at} of {name} in the block from {lo} and in that from {other}")
                writers[name][changed] = lo // size
                bits_of(held[name]).reshape(-1)[changed] = bits.take(changed)
        if len(blocks) == 1 or len(starts) == 1:
            return
        for name, array in shared.items():
            changed = (writers[name] >= 0).reshape(bits_of(array).shape)
            if changed.any():  # arguments may be read-only
                bits_of(array)[changed] = bits_of(before[name])[changed]
        self._fill_scratch(blocks)
        self._random.shuffle(starts)
        self._is_shared = True
        try:
            run_blocks(blocks, units, size, arrays, starts)
        finally:
            self._is_shared = False
        for name, array in shared.items():
            differ = _differing(array, held[name])
            if differ.size:
                at = [int(n) for n in np.unravel_index(differ[0], bits_of(array).shape)]
                refuse(f"gives another element {at} of {name} on {len(blocks)} threads than one block after the other")

    def _fill_scratch(self, blocks: Sequence[Callable[..., None]]) -> None:
        for scratch in self._scratches.get(blocks[0], ()):
            scratch.fill(self._fill)


def _differing(array: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The numbers of the elements that have other bits; of bytes in a row, eight are compared at a time."""
    bits, others = bits_of(array), bits_of(other)
    if array.dtype != np.uint8 or not array.flags.c_contiguous or array.ndim != 1 or array.size % 8:
        return np.flatnonzero(bits != others)
    words = np.flatnonzero(bits.view(np.uint64) != others.view(np.uint64))
    found = (words[:, None] * 8 + np.arange(8)).reshape(-1)
    return found[bits[found] != others[found]]


def bits_of(array: np.ndarray) -> np.ndarray:
    """The elements of ``array`` as integers, in its memory; those of 16 bytes as two of 8."""
    if array.itemsize <= 8:
        return array.view(f"u{array.itemsize}")
    return array.view(np.dtype((np.uint64, array.itemsize // 8))) if array.ndim else array[None].view(np.uint64)
