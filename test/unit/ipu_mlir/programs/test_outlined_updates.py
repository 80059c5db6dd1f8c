"""Outlined functions write to the variables that they are handed, and nobody sees it who has read them before."""

import numpy as np
import pytest

import ipu_mlir as ipu

X = np.linspace(-1, 1, 6, dtype=np.float32)
F = np.float32


class State:
    """Two variables, and functions on one of them that are outlined or not."""

    def __init__(self, outlined):
        self.a, self.b = (ipu.Variable(np.full(6, n, F), name) for n, name in enumerate("ab", 1))
        self.of = ipu.outlined if outlined else lambda function: function

    def decay(self, m):
        def body(x):
            m.assign(m.value * F(0.5) + x)
            return x * 2

        return self.of(body)

    def read_first(self, m):
        def body(x):
            before = m.value
            m.assign(np.tanh(before) + x)
            return before - m.value

        return self.of(body)

    def twice(self, m):
        inner = self.decay(m)
        return self.of(lambda x: inner(inner(x)))


def in_a_row(s, x):
    return s.decay(s.b)(s.decay(s.a)(x))


def old_value_is_read_after(s, x):
    before = s.a.value
    y = s.decay(s.a)(x)
    z = s.decay(s.b)(y)
    return before + s.a.value, z


def handed_its_own_variable(s, x):
    return s.decay(s.a)(s.a.value + 0) + s.decay(s.b)(s.a.value) + s.decay(s.a)(s.a.value)


def one_is_assigned_to_the_other(s, x):
    y = s.decay(s.a)(x)
    s.b.assign(s.a.value)
    s.a.assign(s.b.value * 2)
    return y + s.decay(s.b)(x) + s.decay(s.a)(y)


def exchanged(s, x):
    a, b = s.a.value, s.b.value
    s.a.assign(b)
    s.b.assign(a)
    return s.decay(s.a)(x) + s.decay(s.b)(x)


def in_loops(s, x):
    def body(i, x):
        s.decay(s.a)(x)
        return s.decay(s.b)(x * F(0.25))

    return ipu.fori_loop(0, 3, body, x), s.a.value


def in_branches(s, x):
    y = ipu.cond(x.sum() > 0, lambda: s.decay(s.a)(x), lambda: s.decay(s.b)(x))
    return ipu.cond(s.a.value.sum() > 5, lambda: s.decay(s.b)(y), lambda: y + s.a.value)


def old_values_in_functions(s, x):
    return s.read_first(s.a)(x) + s.read_first(s.b)(x) * s.read_first(s.a)(x)


def functions_in_functions(s, x):
    return s.twice(s.a)(x) + s.twice(s.b)(s.a.value)


def in_a_loop_until(s, x):
    def body(x):
        return s.decay(s.a)(x) + s.decay(s.b)(s.a.value)

    return ipu.while_loop(lambda x: (x * x).sum() < 500, body, x)


PROGRAMS = [
    in_a_row, old_value_is_read_after, handed_its_own_variable, one_is_assigned_to_the_other, exchanged, in_loops,
    in_branches, old_values_in_functions, functions_in_functions, in_a_loop_until,
]  # fmt: skip


def compiled(program, outlined, replicas=1, **options):
    state = State(outlined)

    def main(x):
        own = x + ipu.replica_index() if replicas > 1 else x
        return program(state, own.astype(F) if replicas > 1 else own)

    target = ipu.Target(tiles_per_ipu=3, replicas=replicas)
    return ipu.compile(main, args=(X,), target=target, **options)


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_as_without_functions(program, replicas):
    if replicas > 1 and program in (in_branches, in_a_loop_until):
        pytest.skip("replicas go one way")
    plain = compiled(program, False, replicas)
    for kernels in ("never", "always", None):
        exe = compiled(program, True, replicas, kernels=kernels)
        session, wanted = exe.session(), plain.session()
        for _ in range(2):
            found = session(X) if kernels else exe.run_per_tile([X])
            expected = wanted(X)
            expected = expected if isinstance(expected, tuple | list) else [expected]
            found = found if isinstance(found, tuple | list) else [found]
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)
        for name in "ab" if kernels else "":
            np.testing.assert_allclose(session[name], wanted[name], rtol=1e-6, atol=1e-6)


def test_nothing_is_copied():
    def many(s, x):
        for _ in range(2):
            x = s.decay(s.b)(s.decay(s.a)(x))
        return x

    exe = compiled(many, True, kernels="never")
    assert "copyto" not in exe.source() and exe.source().count("arg1, f_0p5, arg1") == 1
    assert not [step for step in exe.profile().compilation.steps if "copy" in step.name]
    once, several = (compiled(program, True, kernels="never") for program in (in_a_row, in_loops))
    assert "copyto" not in once.source() and "linalg.copy" not in several.mlir("l3").partition("scf.for")[2]
