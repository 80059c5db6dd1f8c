"""Text of small functions on buffers, for the tests of control flow."""

import numpy as np

RNG = np.random.default_rng(11)

BOUNDS = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %one = arith.constant 1.0 : f32
"""
V = "memref<6xf32>"


def f32(*shape: int) -> np.ndarray:
    """Any numbers of that shape."""
    return RNG.standard_normal(shape).astype(np.float32)


def func(signature: str, body: str) -> str:
    """``@main`` with the constants of ``BOUNDS``; ``signature`` begins with the first argument."""
    return f"func.func @main({signature} {{{BOUNDS}{body}}}"


def add(a: str, b: str, out: str, of: str = V) -> str:
    """``out = a + b`` on buffers of type ``of``."""
    return f"linalg.add ins({a}, {b} : {of}, {of}) outs({out} : {of})"


def copy(source: str, dest: str, of: str = V) -> str:
    """``dest = source`` on buffers of type ``of``."""
    return f"memref.copy {source}, {dest} : {of} to {of}"


FIRST = "affine_map<(d0) -> (d0)>"
BACKWARDS = "affine_map<(d0) -> (5 - d0)>"
SCALAR = "affine_map<() -> ()>"


def generic(maps: list[str], kinds: str, ins: str, outs: str, body: str) -> str:
    """A ``linalg.generic``; ``kinds`` are its iterator types, ``ins`` comes with its keyword."""
    return (
        f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}} {ins} outs({outs}) {{\n"
        f"{body}\n}}"
    )
