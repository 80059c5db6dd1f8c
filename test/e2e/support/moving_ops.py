"""Uses of every op that moves a value ``%v`` of ``i32``, as text: those of the dialect, and upstream's.

The lines of an op of the dialect follow from its fields. A new op with fields that are known here is tested by itself;
``FIELDS`` and ``SHAPES`` say what a field is given and which shape a result has.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any, get_origin

import numpy as np
from support.tensor_text import short_type

from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.analysis.collectives import COLLECTIVES, Collective
from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS
from ipu_mlir.dialects.support.bindings import ir

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Use:
    """An op that moves ``%v``.

    Attributes:
        symbols: what it needs in the module.
        text: the op, and what shows its effect.
        results: the values that it gives, with their shapes; they go to queues.
    """

    symbols: str
    text: str
    results: dict[str, Shape] = field(default_factory=dict)


def tensor(shape: Shape) -> str:
    return f"tensor<{short_type(shape, 'i32')}>"


_ROWS = 64
"""Of each remote buffer: more than any element of ``%v``."""

OF_BODIES = {"ipu.noise", "ipu.round", "ipu.saturate", "ipu.is_sound"}
"""Ops on single numbers, in the bodies of others."""
OF_SUPERSTEPS = frozenset(
    f"ipu.{name}" for name in ("collective", "exchange", "fetch", "number_replica", "read_control", "receive")
)
"""Ops that take buffers only."""

STRUCTURED = frozenset(("ipu.library_call",))
"""Ops with loops, which read views as all of linalg does."""


def ops_of_dialect() -> dict[str, Any]:
    """The ops of the dialect that take a tensor, by name."""
    classes = [getattr(dialect, name) for name in dialect.__all__]
    ops = {each.OPERATION_NAME: each for each in classes if hasattr(each, "OPERATION_NAME")}
    return {
        name: each
        for name, each in ops.items()
        if any(fields_of(each, ir.Value)) and name not in OF_SUPERSTEPS | STRUCTURED | OF_BODIES | {"ipu.remote_load"}
    }


def fields_of(op: Any, kind: type) -> Iterator[str]:
    """The names of the fields of class ``op`` that are operands (``ir.Value``), results or attributes."""
    for name, declared in op.__annotations__.items():
        found = get_origin(declared) or declared
        if found is kind or (kind is ir.Attribute and isinstance(found, type) and issubclass(found, ir.Attribute)):
            yield name


def uses_of_dialect(shape: Shape, replicas: int) -> dict[str, Use]:
    """The uses of all ops of the dialect that take ``%v`` of ``shape``: one for each operand that may be a tensor."""
    return {
        f"{name} {operand}": _use(name, op, operand, shape, replicas)
        for name, op in ops_of_dialect().items()
        for operand in fields_of(op, ir.Value)
        if operand != "row" and _takes(name, operand, shape, replicas)
    }


def _takes(name: str, operand: str, shape: Shape, replicas: int) -> bool:
    """True if a tensor of ``shape`` fits; queues and buffers have no tensors without elements."""
    if name in COLLECTIVES:
        return _collective(name, shape).shape(shape, replicas) is not None
    if operand == "update" and not shape:
        return False
    return 0 not in shape or (name not in SYMBOLS and name != "ipu.place")


def _collective(name: str, shape: Shape) -> Collective:
    kind: Any = name.removeprefix("ipu.")
    return Collective(kind, concat=max(len(shape) - 1, 0))


def _use(name: str, op: Any, moved: str, shape: Shape, replicas: int) -> Use:
    short = name.removeprefix("ipu.")
    given, before, types = [], "", []
    row = (2,) if moved == "rows" else shape[1:] if name == "ipu.host_update_add" else shape
    rows = shape if moved == "rows" else shape[:1]
    for operand in fields_of(op, ir.Value):
        if operand == moved:
            given.append("%v")
            types.append(tensor(shape))
        elif operand == "row":
            given.append("%at")
            types.append("index")
        else:  # the rows of an update, or the update of rows
            other = rows if operand == "rows" else (*rows, *row)
            before += f"%{short}_{operand} = arith.constant dense<1> : {tensor(other)}\n"
            given.append(f"%{short}_{operand}")
            types.append(tensor(other))
    results = {f"%{short}_{moved}": _result(name, shape, rows, row, replicas) for _ in fields_of(op, ir.OpResult)}
    gives = ", ".join(map(tensor, results.values())) or "()"
    attributes = ", ".join(f"{each} = {FIELDS[each](shape)}" for each in fields_of(op, ir.Attribute))
    defined = "".join(f"{result} = " for result in results)
    text = f'{before}{defined}"{name}"({", ".join(given)}) {{{attributes}}} : ({", ".join(types)}) -> {gives}\n'
    symbol, table = f"{short}_{moved}", (_ROWS, *row)
    init = f"dense<{np.arange(prod(table)).reshape(table).tolist()}> : {tensor(table)}" if name in SYMBOLS else ""
    return Use(
        SYMBOLS.get(name, "").format(symbol=symbol, type=tensor(shape), rows=tensor(table), init=init),
        (text + AFTER.get(name, "")).replace("@symbol", f"@{symbol}"),
        results,
    )


FIELDS: dict[str, Any] = {
    "buffer": lambda shape: "@symbol",
    "queue": lambda shape: "@symbol",
    "variable": lambda shape: "@symbol",
    "label": lambda shape: '"v"',
    "index": lambda shape: "0 : i64",
    "op": lambda shape: '"add"',
    "depth": lambda shape: "1 : i64",
    "shard": lambda shape: "1 : i64",
    "split_dimension": lambda shape: "0 : i64",
    "concat_dimension": lambda shape: f"{max(len(shape) - 1, 0)} : i64",
    "mapping": lambda shape: f"#ipu.mapping<{prod(shape)}, [[{prod(shape)}, {prod(shape)}, 1, 0]], 0, 1>",
}
"""By name of the attribute."""

_BUFFER = (
    '"ipu.remote_buffer"() {{sym_name = "{symbol}", type = {rows}, init = {init}, memory = "{memory}"}} : () -> ()\n'
)

SYMBOLS = {
    "ipu.put": '"ipu.outfeed"() {{sym_name = "{symbol}", types = [{type}], mode = "all"}} : () -> ()\n',
    "ipu.assign": '"ipu.variable"() {{sym_name = "{symbol}", type = {type}, init = dense<0> : {type}}} : () -> ()\n',
    "ipu.remote_store": _BUFFER.replace("{memory}", "streaming"),
    "ipu.host_gather": _BUFFER.replace("{memory}", "host"),
    "ipu.host_update_add": _BUFFER.replace("{memory}", "host"),
}
"""By op, what it is about."""

AFTER = {"ipu.put": '"ipu.enqueue"() {queue = @symbol} : () -> ()\n'}
"""By op, what lets the host see it."""


def _result(name: str, shape: Shape, rows: Shape, row: Shape, replicas: int) -> Shape:
    if name in COLLECTIVES:
        found = _collective(name, shape).shape(shape, replicas)
        assert found is not None, "a shape that the collective takes"
        return found
    return (*rows, *row) if name == "ipu.host_gather" else shape


def uses_upstream(shape: Shape) -> dict[str, Use]:
    """The uses of what upstream yields ``%v``: control flow, calls, slices that are put in."""
    kind = tensor(shape)
    zeros = f"arith.constant dense<0> : {kind}\n"
    add = f"linalg.add ins(%{{0}}, %v : {kind}, {kind}) outs(%{{1}} : {kind}) -> {kind}\n"
    found = {
        "scf.for starts": f"%f0 = {zeros}%f = scf.for %fi = %zero to %two step %one iter_args(%fa = %v) -> {kind} {{\n"
        f"%fn = {add.format('fa', 'f0')}scf.yield %fn : {kind}\n}}\n",
        "scf.for yields": f"%h0 = {zeros}%h = scf.for %hi = %zero to %at step %one iter_args(%ha = %h0) -> {kind} "
        f"{{\nscf.yield %v : {kind}\n}}\n",
        "scf.for swaps": f"%q0 = {zeros}%q, %u = scf.for %qi = %zero to %at step %one iter_args(%qa = %v, %qb = %q0) "
        f"-> ({kind}, {kind}) {{\nscf.yield %qb, %qa : {kind}, {kind}\n}}\n",
        "scf.while starts": f"%w0 = {zeros}%w1, %wi = scf.while (%wa = %v, %wk = %zero) : ({kind}, index) -> "
        f"({kind}, index) {{\n%wc = arith.cmpi ult, %wk, %two : index\nscf.condition(%wc) %wa, %wk : {kind}, index\n"
        f"}} do {{\n^bb0(%wa: {kind}, %wk: index):\n%wn = {add.format('wa', 'w0')}"
        f"%wm = arith.addi %wk, %one : index\nscf.yield %wn, %wm : {kind}, index\n}}\n",
        "scf.if": f"%i0 = {zeros}%i = scf.if %true -> {kind} {{\nscf.yield %v : {kind}\n}} else {{\n"
        f"%in = {add.format('i0', 'i0')}scf.yield %in : {kind}\n}}\n",
        "scf.index_switch": f"%y0 = {zeros}%y = scf.index_switch %at -> {kind}\ncase 1 {{\nscf.yield %v : {kind}\n}}\n"
        f"case 2 {{\n%yn = {add.format('y0', 'y0')}scf.yield %yn : {kind}\n}}\n"
        f"default {{\nscf.yield %y0 : {kind}\n}}\n",
        "func.call": f"%c = func.call @outlined(%v) {{ipu.outlined}} : ({kind}) -> {kind}\n"
        f"%d = func.call @outlined(%c) {{ipu.outlined}} : ({kind}) -> {kind}\n",
        "tensor.insert_slice": f"%p0 = arith.constant dense<0> : {tensor((2, *shape))}\n%p = tensor.insert_slice "
        f"%v into %p0[{', '.join(['%at', *'0' * len(shape)])}] {[1, *shape]} {[1] * (len(shape) + 1)} : {kind} into "
        f"{tensor((2, *shape))}\n",
    }
    assert {name.partition(" ")[0] for name in found} >= CONTROL_OPS.keys(), "every op of control flow yields views"
    symbols = {
        "func.call": f"func.func private @outlined(%a: {kind}) -> {kind} {{\n%e = tensor.empty() : {kind}\n"
        f"%r = linalg.add ins(%a, %a : {kind}, {kind}) outs(%e : {kind}) -> {kind}\nreturn %r : {kind}\n}}\n"
    }
    results = {
        "scf.for starts": {"%f": shape},
        "scf.for yields": {"%h": shape},
        "scf.for swaps": {"%q": shape, "%u": shape},
        "scf.while starts": {"%w1": shape},
        "scf.if": {"%i": shape},
        "scf.index_switch": {"%y": shape},
        "func.call": {"%c": shape, "%d": shape},
        "tensor.insert_slice": {"%p": (2, *shape)},
    }
    if 0 in shape:
        del found["tensor.insert_slice"]  # upstream takes offset 0 of no elements for one outside
    return {name: Use(symbols.get(name, ""), text, results[name]) for name, text in found.items()}
