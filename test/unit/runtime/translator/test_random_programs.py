"""Random straight-line programs on buffers, against NumPy statements made in the same breath.

Buffers are copied, filled, sliced, transposed, overwritten in place and reduced; all values are small whole numbers, so
every order of summation gives the same bits. Each program runs straight and in tiny blocks on two threads.
"""

import random

import numpy as np
import pytest

PROGRAMS_PER_SEED = 12


class Builder:
    """Writes a program line by line and keeps what each buffer must hold."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.inputs: list[np.ndarray] = []
        self.signature: list[str] = []
        self.arrays: dict[str, np.ndarray] = {}  # what every name shows; views are NumPy views
        self.types: dict[str, str] = {}
        self.writable: set[str] = set()
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def shape(self, rank: int | None = None) -> tuple[int, ...]:
        return tuple(self.random.choice([1, 4, 4, 6]) for _ in range(rank or self.random.randint(1, 2)))

    def add_input(self) -> None:
        value = np.array(np.random.default_rng(self.random.random().__hash__() % 2**32).integers(-3, 4, self.shape()))
        name = f"%x{len(self.inputs)}"
        self.inputs.append(value.astype(np.float32))
        self.arrays[name] = self.inputs[-1].copy()
        self.types[name] = _type(value.shape)
        self.signature.append(f"{name}: {self.types[name]}")

    def alloc(self, shape: tuple[int, ...]) -> str:
        name = self.name()
        self.arrays[name] = np.zeros(shape, np.float32)
        self.types[name] = _type(shape)
        self.writable.add(name)
        self.lines.append(f"{name} = memref.alloc() : {self.types[name]}")
        return name

    def target(self, shape: tuple[int, ...], avoid: frozenset[str] = frozenset()) -> str:
        """Somewhere to write: an old buffer of that shape, or a new one."""
        old = [
            n
            for n in self.writable
            if self.arrays[n].shape == shape
            and not any(np.shares_memory(self.arrays[n], self.arrays[a]) for a in avoid)
        ]
        if old and self.random.random() < 0.8:
            return self.random.choice(sorted(old))
        return self.alloc(shape)

    def pick(self) -> str:
        return self.random.choice(sorted(n for n, a in self.arrays.items() if a.ndim))

    def copy(self) -> None:
        source = self.pick()
        dest = self.target(self.arrays[source].shape, frozenset([source]))
        self.lines.append(f"memref.copy {source}, {dest} : {self.types[source]} to {self.types[dest]}")
        self.arrays[dest][...] = self.arrays[source]

    def fill(self) -> None:
        dest = self.random.choice(sorted(self.writable)) if self.writable else self.alloc(self.shape())
        value = self.random.randint(-2, 2)
        constant = self.name()
        self.lines.append(f"{constant} = arith.constant {value}.0 : f32")
        self.lines.append(f"linalg.fill ins({constant} : f32) outs({dest} : {self.types[dest]})")
        self.arrays[dest][...] = value

    def slice(self) -> None:
        source = self.pick()
        old = self.arrays[source]
        starts = [self.random.randrange(n) for n in old.shape]
        steps = [self.random.choice([1, 1, 2]) for _ in old.shape]
        sizes = [self.random.randint(1, (n - s + k - 1) // k) for n, s, k in zip(old.shape, starts, steps, strict=True)]
        view = old[tuple(slice(s, s + n * k, k) for s, n, k in zip(starts, sizes, steps, strict=True))]
        base = next(self.arrays[n] for n in self.arrays if self.arrays[n] is (old if old.base is None else old.base))
        offset = (view.__array_interface__["data"][0] - base.__array_interface__["data"][0]) // 4
        strides = [a // 4 * k for a, k in zip(old.strides, steps, strict=True)]
        name = self.name()
        layout = f"strided<[{', '.join(map(str, strides))}]" + (f", offset: {offset}>" if offset else ">")
        self.types[name] = f"memref<{'x'.join(map(str, sizes))}xf32, {layout}>"
        self.lines.append(
            f"{name} = memref.subview {source}{starts} {sizes} {steps} : {self.types[source]} to {self.types[name]}"
        )
        self.arrays[name] = view
        if source in self.writable:
            self.writable.add(name)

    def elementwise(self) -> None:
        """dest(p(i)) = f(a(q(i)), b(r(i))): transposed and broadcast operands, sometimes over an operand itself."""
        a = self.pick()
        rank = self.arrays[a].ndim
        order = self.random.sample(range(rank), rank)
        extents = [0] * rank
        for axis, loop in enumerate(order):
            extents[loop] = self.arrays[a].shape[axis]
        b = self.pick()
        loops = self._loops_for(self.arrays[b].shape, extents)
        if loops is None:
            b, loops = a, order
        dest = self.target(tuple(extents), frozenset([a, b]))
        if (
            order == list(range(rank))
            and a in self.writable
            and loops == list(range(rank))
            and self.random.random() < 0.5
        ):
            dest = a  # in place
            if b != a and np.shares_memory(self.arrays[a], self.arrays[b]):
                b = a
        op, function = self.random.choice(
            [
                ("arith.addf", np.add),
                ("arith.subf", np.subtract),
                ("arith.maximumf", np.maximum),
                ("arith.minimumf", np.minimum),
            ]
        )
        left = _spread(self.arrays[a], order, rank)
        right = _spread(self.arrays[b], loops, rank)
        self._generic([(a, order), (b, loops)], (dest, list(range(rank))), rank, set(), f"%r = {op} %a0, %a1 : f32")
        self.arrays[dest][...] = function(left, right).copy()

    def reduce(self) -> None:
        a = self.pick()
        value = self.arrays[a]
        axes = sorted(self.random.sample(range(value.ndim), self.random.randint(1, value.ndim)))
        op, function, bound = self.random.choice([("addf", np.add, 60), ("maximumf", np.maximum, 1000)])
        if np.abs(value).sum() > bound * 20:
            return
        kept = [axis for axis in range(value.ndim) if axis not in axes]
        dest = self.target(tuple(value.shape[k] for k in kept), frozenset([a])) if kept else self.alloc(())
        self._generic(
            [(a, list(range(value.ndim)))], (dest, kept), value.ndim, set(axes), f"%r = arith.{op} %z, %a0 : f32"
        )
        self.arrays[dest][...] = function(self.arrays[dest], function.reduce(value, tuple(axes)))

    def product(self) -> None:
        a = self.pick()
        if self.arrays[a].ndim != 2 or np.abs(self.arrays[a]).max(initial=0) > 50:
            return
        m, k = self.arrays[a].shape
        fitting = [b for b in sorted(self.arrays) if self.arrays[b].ndim == 2 and k in self.arrays[b].shape]
        b = self.random.choice(fitting) if fitting else None
        if b is None or np.abs(self.arrays[b]).max(initial=0) > 50:
            return
        turned = self.arrays[b].shape[0] != k
        right = self.arrays[b].T if turned else self.arrays[b]
        dest = self.target((m, right.shape[1]), frozenset([a, b]))
        body = "%q = arith.mulf %a0, %a1 : f32\n%r = arith.addf %z, %q : f32"
        self._generic([(a, [0, 2]), (b, [1, 2] if turned else [2, 1])], (dest, [0, 1]), 3, {2}, body)
        self.arrays[dest][...] += self.arrays[a] @ right

    def _loops_for(self, shape: tuple[int, ...], extents: list[int]) -> list[int] | None:
        free = list(range(len(extents)))
        loops = []
        for size in shape:
            options = [loop for loop in free if extents[loop] == size]
            if not options:
                return None
            loops.append(self.random.choice(options))
            free.remove(loops[-1])
        return loops

    def _generic(self, ins: list, out: tuple, rank: int, reduced: set[int], body: str) -> None:
        dims = ", ".join(f"d{i}" for i in range(rank))
        maps = [f"affine_map<({dims}) -> ({', '.join(f'd{loop}' for loop in loops)})>" for _, loops in [*ins, out]]
        kinds = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(rank))
        arguments = ", ".join([*(f"%a{i}: f32" for i in range(len(ins))), "%z: f32"])
        names, types = ", ".join(n for n, _ in ins), ", ".join(self.types[n] for n, _ in ins)
        self.lines.append(
            f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}\n"
            f"ins({names} : {types}) outs({out[0]} : {self.types[out[0]]}) {{\n"
            f"^bb0({arguments}):\n{body}\nlinalg.yield %r : f32\n}}"
        )

    def text(self) -> tuple[str, list[np.ndarray]]:
        """The program, and its results: every buffer that was allocated."""
        whole = [n for n in self.arrays if n in self.writable and self.arrays[n].base is None]
        types = ", ".join(self.types[n] for n in whole)
        body = "\n".join(self.lines)
        head = f"func.func @main({', '.join(self.signature)}) -> ({types})"
        return f"{head} {{\n{body}\nreturn {', '.join(whole)} : {types}\n}}", [self.arrays[n] for n in whole]


def _type(shape: tuple[int, ...]) -> str:
    return f"memref<{''.join(f'{n}x' for n in shape)}f32>"


def _spread(array: np.ndarray, loops: list[int], rank: int) -> np.ndarray:
    """``array`` with its axes at the places of ``loops``."""
    ordered = array.transpose(np.argsort(loops))
    return ordered.reshape([ordered.shape[sorted(loops).index(i)] if i in loops else 1 for i in range(rank)])


def build(seed: int) -> tuple[str, list[np.ndarray], list[np.ndarray]]:
    """A random program: its text, inputs and results."""
    made = Builder(seed)
    for _ in range(3):
        made.add_input()
    steps = [
        made.copy,
        made.copy,
        made.fill,
        made.slice,
        made.slice,
        made.elementwise,
        made.elementwise,
        made.reduce,
        made.product,
    ]
    for name in list(made.arrays):  # nothing is read before it is written
        made.alloc(made.arrays[name].shape)
        dest = list(made.arrays)[-1]
        made.lines.append(f"memref.copy {name}, {dest} : {made.types[name]} to {made.types[dest]}")
        made.arrays[dest][...] = made.arrays[name]
    alloc = made.alloc

    def filled(shape: tuple[int, ...]) -> str:
        name = alloc(shape)
        constant = made.name()
        made.lines.append(f"{constant} = arith.constant 1.0 : f32")
        made.lines.append(f"linalg.fill ins({constant} : f32) outs({name} : {made.types[name]})")
        made.arrays[name][...] = 1
        return name

    made.alloc = filled
    for _ in range(made.random.randint(8, 24)):
        made.random.choice(steps)()
    text, results = made.text()
    return text, made.inputs, results


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 20))])
def test_random_program(seed, run_plain, small_blocks):
    for number in range(PROGRAMS_PER_SEED):
        text, inputs, wanted = build(seed * 1000 + number)
        for options in (None, small_blocks):
            for got, want in zip(run_plain(text, *inputs, options=options), wanted, strict=True):
                np.testing.assert_array_equal(got, want, err_msg=f"seed {seed * 1000 + number}\n{text}")
