"""Machine code as LLVM writes it to a file, brought into the memory of this process."""

import ctypes
import mmap
import platform
import struct
import sys
from functools import cache
from typing import Any

_EXECUTABLE, _WRITABLE, _ALLOCATED = 4, 1, 2  # flags of sections
_SYMBOLS, _RELOCATIONS, _NO_BITS, _UNWINDING = 2, 4, 8, 0x70000001  # types of sections
_ADDRESS_OF_64_BITS = 1  # the one type of relocation that code for any address has
_HEADER = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HH", 1, 62)  # 64 bits, relocatable, x86-64
_FROM_OUTSIDE = ("memcpy", "memmove", "memset")
"""Functions that code of kernels may call: LLVM makes them of loops."""

_Section = tuple[int, int, int, int, int, int, int, int, int, int]


class ObjectError(Exception):
    """Object code that is not what LLVM makes of kernels, or a system that does not let it run."""


def can_load() -> bool:
    """True if object code of this machine has the format that is known here."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


class ObjectCode:
    """The functions of one object file, as long as this object lives.

    Raises:
        ObjectError: it has parts that kernels do not have, or the system gives no memory that runs.
    """

    def __init__(self, data: bytes) -> None:
        try:
            self._load(data)
        except (struct.error, IndexError, ValueError, OSError) as error:
            raise ObjectError(f"the object code is not whole: {error}") from error

    def raw_lookup(self, name: str) -> int:
        """The address of ``name``, as ``ExecutionEngine`` says it: the function that takes addresses of arguments."""
        return self._symbols[f"_mlir_{name}"]

    def _load(self, data: bytes) -> None:
        if data[: len(_HEADER)] != _HEADER:
            raise ObjectError("the object code is for another machine")
        (start,) = struct.unpack_from("<Q", data, 40)
        size, count = struct.unpack_from("<HH", data, 58)
        sections: list[_Section] = [struct.unpack_from("<IIQQQQIIQQ", data, start + size * n) for n in range(count)]
        places, fixed, total = _laid_out(sections)
        memory = mmap.mmap(-1, total, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self._memory = (ctypes.c_char * total).from_buffer(memory)  # unmapped with it
        base = ctypes.addressof(self._memory)
        for number, place in places.items():
            _, kind, _, _, offset, length, *_ = sections[number]
            if kind != _NO_BITS:
                content = data[offset : offset + length]
                memory[place : place + length] = content
        values = _values(data, sections, {number: base + place for number, place in places.items()})
        self._symbols = {name: address for name, address in values if name}
        for _, kind, _, _, offset, length, _, target, _, _ in sections:
            if kind != _RELOCATIONS or target not in places:
                continue
            for where, info, addend in struct.iter_unpack("<QQq", data[offset : offset + length]):
                if info & 0xFFFFFFFF != _ADDRESS_OF_64_BITS:
                    raise ObjectError(f"a relocation of type {info & 0xFFFFFFFF}")
                if where + 8 > sections[target][5]:
                    raise ObjectError("a relocation beyond its section")
                address = values[info >> 32][1]
                struct.pack_into("<Q", memory, places[target] + where, (address + addend) % 2**64)
        if _mprotect()(base, fixed, mmap.PROT_READ | mmap.PROT_EXEC):
            raise ObjectError("the system does not let memory run that was written")


def _laid_out(sections: list[_Section]) -> tuple[dict[int, int], int, int]:
    """The begin of each section that is in memory; the bytes of those that are only read or run, and of all."""
    places: dict[int, int] = {}
    end = fixed = 0
    for writable in (False, True):
        for number, (_, kind, flags, _, _, length, _, _, alignment, _) in enumerate(sections):
            if flags & _ALLOCATED and bool(flags & _WRITABLE) == writable and kind != _UNWINDING:
                if writable and flags & _EXECUTABLE:
                    raise ObjectError("a section that is written and runs")
                end = -(-end // max(alignment, 1)) * max(alignment, 1)
                places[number] = end
                end += length
        end = -(-max(end, 1) // mmap.PAGESIZE) * mmap.PAGESIZE
        fixed = fixed or end
    return places, fixed, end


def _values(data: bytes, sections: list[_Section], addresses: dict[int, int]) -> list[tuple[str, int]]:
    """Name and address of every symbol, in order."""
    found = []
    for _, kind, _, _, offset, length, names, *_ in sections:
        if kind != _SYMBOLS:
            continue
        texts = sections[names][4]
        for name, _, _, section, value, _ in struct.iter_unpack("<IBBHQQ", data[offset : offset + length]):
            text = data[texts + name : data.index(b"\0", texts + name)].decode()
            if section:
                found.append((text, addresses.get(section, 0) + value))
            elif not text:
                found.append(("", 0))
            elif text in _FROM_OUTSIDE:
                found.append((text, _outside(text)))
            else:
                raise ObjectError(f"a call of {text}")
    return found


@cache
def _outside(name: str) -> int:
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0


@cache
def _mprotect() -> Any:
    function = ctypes.CDLL(None, use_errno=True).mprotect
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return function
