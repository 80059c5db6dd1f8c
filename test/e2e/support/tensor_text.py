"""MLIR text of small programs: functions around linalg ops, written with short types such as ``5x13xf32``."""

from collections.abc import Sequence

import numpy as np

DTYPES = {
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i1": np.dtype(np.bool_),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "index": np.dtype(np.int64),
}


def element_of(short: str) -> str:
    """The element type of a short type.

    >>> element_of("5x13xf32"), element_of("f32")
    ('f32', 'f32')
    """
    return short.rpartition("x")[2] if short != "index" and not short.endswith("xindex") else "index"


def shape_of(short: str) -> tuple[int, ...]:
    """The sizes of a short type.

    >>> shape_of("5x13xindex"), shape_of("f32")
    ((5, 13), ())
    """
    sizes = short.removesuffix(element_of(short)).rstrip("x")
    return tuple(map(int, sizes.split("x"))) if sizes else ()


def short_type(shape: Sequence[int], element: str) -> str:
    """The short type of a shape and an element type.

    >>> short_type((5, 13), "f32"), short_type((), "i1")
    ('5x13xf32', 'i1')
    """
    return "x".join([*map(str, shape), element])


def function(arguments: Sequence[str], results: Sequence[str], body: str, *, returned: Sequence[str] = ()) -> str:
    """``@main`` with the arguments ``%a0, %a1, ...`` that gives the values ``returned`` of ``body``.

    These are ``%r0, %r1, ...`` where they are not named.
    """
    takes = ", ".join(f"%a{place}: tensor<{short}>" for place, short in enumerate(arguments))
    types = ", ".join(f"tensor<{short}>" for short in results)
    values = ", ".join(returned or (f"%r{place}" for place in range(len(results))))
    return f"func.func @main({takes}) -> ({types}) {{\n{body}\n  return {values} : {types}\n}}\n"


def generic(
    result: str,
    loops: str,
    operands: Sequence[tuple[str, str]],
    out: str,
    body: str,
    *,
    reduced: str = "",
    init: str | None = None,
) -> str:
    """A ``linalg.generic`` that defines ``result``.

    Args:
        loops: the names of the loops, outermost first, such as ``"i j k"``.
        operands: values with the short type and the indices that the loops read them at: ``("%a0", "5x13xf32[i, j]")``.
        out: the same of the result.
        body: one op such as ``"arith.addf %x0, %x1 : f32"``, or lines that define ``%y``; ``%x0, %x1, ...`` are the
            elements of the operands and ``%acc`` is that of the result before.
        reduced: the loops over which ``%acc`` is combined.
        init: what the result holds before: a number, a value such as ``%a1``, or nothing that matters.
    """
    names = loops.split()
    element = element_of(_type(out))
    maps = [f"affine_map<({', '.join(names)}) -> ({_indices(use)})>" for use in (*(use for _, use in operands), out)]
    kinds = ", ".join('"reduction"' if name in reduced.split() else '"parallel"' for name in names)
    values = ", ".join(value for value, _ in operands)
    types = ", ".join(f"tensor<{_type(use)}>" for _, use in operands)
    ins = f"ins({values} : {types})" if operands else ""
    scalars = ", ".join(
        [*(f"%x{place}: {element_of(_type(use))}" for place, (_, use) in enumerate(operands)), f"%acc: {element}"]
    )
    lines = body if "%y =" in body else f"%y = {body}"
    before, start = _start(result, _type(out), init)
    return (
        f"{before}  {result} = linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{kinds}]}}\n"
        f"      {ins} outs({start} : tensor<{_type(out)}>) {{\n  ^bb0({scalars}):\n    {lines}\n"
        f"    linalg.yield %y : {element}\n  }} -> tensor<{_type(out)}>"
    )


def one_generic(
    loops: str, uses: Sequence[str], out: str, body: str, *, reduced: str = "", init: str | None = None
) -> str:
    """``@main`` with nothing but one ``generic``, whose operands are the arguments.

    With ``init`` a value, ``%a<n>`` for n the number of ``uses``, that is one more argument.
    """
    operands = [(f"%a{place}", use) for place, use in enumerate(uses)]
    arguments = [_type(use) for use in uses] + [_type(out)] * (init is not None and init.startswith("%"))
    text = generic("%r0", loops, operands, out, body, reduced=reduced, init=init)
    return function(arguments, [_type(out)], text)


def constant(value: str, element: str) -> str:
    """The op that makes a scalar.

    >>> constant("0.0", "f32"), constant("true", "i1")
    ('arith.constant 0.0 : f32', 'arith.constant true')
    """
    return f"arith.constant {value}" + (f" : {element}" if element != "i1" else "")


def _start(result: str, short: str, init: str | None) -> tuple[str, str]:
    """Text that defines what a result starts from, and the value."""
    if init is not None and init.startswith("%"):
        return "", init
    name, element = result.removeprefix("%"), element_of(short)
    empty = f"  %{name}_empty = tensor.empty() : tensor<{short}>\n"
    if init is None:
        return empty, f"%{name}_empty"
    filled = (
        f"  %{name}_start = {constant(init, element)}\n{empty}  %{name}_filled = linalg.fill "
        f"ins(%{name}_start : {element}) outs(%{name}_empty : tensor<{short}>) -> tensor<{short}>\n"
    )
    return filled, f"%{name}_filled"


def _type(use: str) -> str:
    return use.partition("[")[0]


def _indices(use: str) -> str:
    return use.partition("[")[2].removesuffix("]")
