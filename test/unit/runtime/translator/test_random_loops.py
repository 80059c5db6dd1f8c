"""Random nests of loops and branches over small buffers, against the same program done step by step."""

import random
from collections.abc import Callable

import numpy as np
import pytest

V = "memref<4xi32>"
FORWARD, BACKWARD = "affine_map<(d0) -> (d0)>", "affine_map<(d0) -> (3 - d0)>"
Values = dict[str, np.ndarray]
Step = Callable[[Values], None]


class Program:
    """Text of a function, and what it does: steps on named values."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0
        self.lines: list[str] = []

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def put(self, depth: int, line: str) -> None:
        self.lines.append("  " * depth + line)

    def block(self, depth: int, values: list[str], states: list[str], length: int) -> tuple[list[Step], list[str]]:
        """Random ops; returns what they do, and the values in scope after them. States are updated in place."""
        values, steps = list(values), []
        for _ in range(length):
            kind = self.random.choice(["sum", "sum", "turned", "copy", "state", "update", "loop", "while", "if"])
            if kind in ("loop", "while", "if") and depth > 3:
                kind = "sum"
            new, step = getattr(self, f"_{kind}")(depth, values, states)
            steps.append(step)
            values += new
        return steps, values

    def _pick(self, names: list[str]) -> str:
        return self.random.choice(names[-4:] if self.random.random() < 0.7 else names)

    def _alloc(self, depth: int) -> str:
        name = self.name()
        self.put(depth, f"{name} = memref.alloc() : {V}")
        return name

    def _add(self, depth: int, a: str, b: str, out: str, second: str = FORWARD) -> Step:
        p, q, z, s = (self.name() for _ in range(4))
        self.put(
            depth,
            f'linalg.generic {{indexing_maps = [{FORWARD}, {second}, {FORWARD}], iterator_types = ["parallel"]}} '
            f"ins({a}, {b} : {V}, {V}) outs({out} : {V}) {{\n^bb0({p}: i32, {q}: i32, {z}: i32):\n"
            f"{s} = arith.addi {p}, {q} : i32\nlinalg.yield {s} : i32\n}}",
        )
        turn = 1 if second == FORWARD else -1

        def run(v: Values) -> None:
            v[out] = v[a] + v[b][::turn]

        return run

    def _sum(self, depth, values, states, second=FORWARD):
        a, b = self._pick(values + states), self._pick(values + states)
        out = self._alloc(depth)
        return [out], self._add(depth, a, b, out, second)

    def _turned(self, depth, values, states):
        return self._sum(depth, values, states, BACKWARD)

    def _copy(self, depth, values, states):
        source = self._pick(values + states)
        out = self._alloc(depth)
        self.put(depth, f"memref.copy {source}, {out} : {V} to {V}")
        return [out], lambda v: v.update({out: v[source].copy()})

    def _state(self, depth, values, states):
        _, step = (made := self._copy(depth, values, states))
        states.append(made[0][0])
        return [], step

    def _update(self, depth, values, states):
        if not states:
            return self._sum(depth, values, states)
        state = self._pick(states)
        return [], self._add(depth, state, self._pick(values + states), state)

    def _carried(self, values):
        count = self.random.randint(1, 3)
        return [self._pick(values) for _ in range(count)], [self.name() for _ in range(count)]

    def _loop(self, depth, values, states):
        inits, arguments = self._carried(values)
        results, number, rounds = self.name(), self.name(), self.random.randint(0, 3)
        types = ", ".join([V] * len(inits))
        pairs = ", ".join(f"{a} = {i}" for a, i in zip(arguments, inits, strict=True))
        self.put(
            depth,
            f"{results}:{len(inits)} = scf.for {number} = %c0 to %c{rounds} step %c1 iter_args({pairs}) "
            f"-> ({types}) {{",
        )
        steps, inside = self.block(depth + 1, values + arguments, list(states), self.random.randint(1, 4))
        yields = [self._pick(inside) for _ in inits]
        self.put(depth + 1, f"scf.yield {', '.join(yields)} : {types}")
        self.put(depth, "}")
        names = [f"{results}#{i}" for i in range(len(inits))]

        def run(v: Values) -> None:
            carried = [v[i].copy() for i in inits]
            for _ in range(rounds):
                v.update(zip(arguments, carried, strict=True))
                for step in steps:
                    step(v)
                carried = [v[y].copy() for y in yields]
            v.update(zip(names, carried, strict=True))

        return names, run

    def _while(self, depth, values, states):
        inits, arguments = self._carried(values)
        inner, results, limit = [self.name() for _ in inits], self.name(), self.random.randint(0, 3)
        counter, seen, go, one, following = (self.name() for _ in range(5))
        types = ", ".join(["i32", *[V] * len(inits)])
        pairs = ", ".join(f"{a} = {i}" for a, i in zip([counter, *arguments], ["%zero", *inits], strict=True))
        self.put(depth, f"{results}:{len(inits) + 1} = scf.while ({pairs}) : ({types}) -> ({types}) {{")
        first, inside = self.block(depth + 1, values + arguments, list(states), self.random.randint(0, 2))
        forwarded = [self._pick(inside) for _ in inits]
        self.put(depth + 1, f"{one} = arith.constant {limit} : i32")
        self.put(depth + 1, f"{go} = arith.cmpi slt, {counter}, {one} : i32")
        self.put(depth + 1, f"scf.condition({go}) {', '.join([counter, *forwarded])} : {types}")
        self.put(depth, "} do {")
        self.put(depth, f"^bb0({', '.join([f'{seen}: i32', *(f'{name}: {V}' for name in inner)])}):")
        second, inside = self.block(depth + 1, values + inner, list(states), self.random.randint(0, 3))
        yields = [self._pick(inside) for _ in inits]
        self.put(depth + 1, f"{following} = arith.addi {seen}, %i1 : i32")
        self.put(depth + 1, f"scf.yield {', '.join([following, *yields])} : {types}")
        self.put(depth, "}")
        names = [f"{results}#{i + 1}" for i in range(len(inits))]

        def run(v: Values) -> None:
            carried = [v[i].copy() for i in inits]
            for number in range(limit + 1):
                v.update(zip(arguments, carried, strict=True))
                for step in first:
                    step(v)
                handed = [v[f].copy() for f in forwarded]
                if number == limit:
                    break
                v.update(zip(inner, handed, strict=True))
                for step in second:
                    step(v)
                carried = [v[y].copy() for y in yields]
            v.update(zip(names, handed, strict=True))

        return names, run

    def _if(self, depth, values, states):
        count, results, flag = self.random.randint(1, 2), self.name(), self.random.choice(["%yes", "%no"])
        types = ", ".join([V] * count)
        self.put(depth, f"{results}:{count} = scf.if {flag} -> ({types}) {{")
        arms = []
        for last in (False, True):
            steps, inside = self.block(depth + 1, values, list(states), self.random.randint(0, 3))
            yields = [self._pick(inside) for _ in range(count)]
            self.put(depth + 1, f"scf.yield {', '.join(yields)} : {types}")
            self.put(depth, "}" if last else "} else {")
            arms.append((steps, yields))
        names = [f"{results}#{i}" for i in range(count)]

        def run(v: Values) -> None:
            steps, yields = arms[0 if flag == "%yes" else 1]
            for step in steps:
                step(v)
            v.update(zip(names, [v[y].copy() for y in yields], strict=True))

        return names, run


def program(seed: int) -> tuple[str, list[Step], list[str]]:
    """The text of a program with two arguments, the steps that it stands for, and the names of its results."""
    made = Program(seed)
    states: list[str] = []
    steps, values = made.block(1, ["%x", "%y"], states, made.random.randint(3, 8))
    results = [made._pick(values + states) for _ in range(2)]
    head = f"func.func @main(%x: {V}, %y: {V}, %p: memref<i1>) -> ({V}, {V}) {{\n"
    for number in range(4):
        head += f"  %c{number} = arith.constant {number} : index\n"
    head += "  %zero = arith.constant 0 : i32\n  %i1 = arith.constant 1 : i32\n  %t = arith.constant true\n"
    head += "  %yes = memref.load %p[] : memref<i1>\n  %no = arith.xori %yes, %t : i1\n"
    return head + "\n".join(made.lines) + f"\n  return {', '.join(results)} : {V}, {V}\n}}", steps, results


@pytest.mark.parametrize("seeds", [range(start, start + 20) for start in range(0, 80, 20)], ids=lambda r: f"from{r[0]}")
def test_random_programs_do_what_their_steps_say(run_plain, seeds):
    for seed in seeds:
        text, steps, results = program(seed)
        rng = np.random.default_rng(seed)
        x, y = rng.integers(-100, 100, (2, 4), dtype=np.int32)
        values = {"%x": x, "%y": y}
        for step in steps:
            step(values)
        found = run_plain(text, x, y, np.array(True))
        for result, name in zip(found, results, strict=True):
            np.testing.assert_array_equal(result, values[name], err_msg=f"seed {seed}\n{text}")
