"""Cumulative ops as loops over elements, as PyTorch's lowering and hand-written ones have them."""

from collections.abc import Sequence

from support.loops_text import constants, nest
from support.tensor_text import element_of, shape_of, short_type

STYLES = ("guarded", "guarded-last", "from-second", "exclusive-from-second", "carried", "carried-exclusive")


def running_loop(short: str, at: int, style: str, op: str, begin: str = "0.0") -> str:
    """``%r0``: the elements of ``%a0`` combined by ``op`` along dimension ``at``; ``%r1``: the last ones, if asked for.

    Args:
        style: ``guarded``: a branch takes the first element; ``-last`` with a second tensor of what came last;
            ``from-second``: the first elements are there from the start; ``carried``: the innermost loop carries the
            value; ``exclusive``: without the own element, beginning with ``begin``.
    """
    shape, element = shape_of(short), element_of(short)
    counters = [f"%i{d}" for d in range(len(shape))]
    whole = f"tensor<{short}>"
    place = ", ".join(counters)
    header = f"{constants(*shape)}\n  %begin = arith.constant {begin} : {element}"
    if style.startswith("carried"):
        return f"{header}\n{_carried(counters, shape, at, whole, element, op, exclusive=style.endswith('exclusive'))}"
    before = ", ".join("%b" if d == at else counter for d, counter in enumerate(counters))
    ops = [f"  %b = arith.subi %i{at}, %c1 : index", f"  %old = tensor.extract %t[{before}] : {whole}"]
    if style.endswith("from-second"):
        read = before if style.startswith("exclusive") else place
        ops += [f"  %x = tensor.extract %a0[{read}] : {whole}", f"  %v = {op} %old, %x : {element}"]
        ops.append(f"  %new = tensor.insert %v into %t[{place}] : {whole}")
        loops = [(counter, int(d == at), shape[d]) for d, counter in enumerate(counters)]
        started = _started(short, at, "%begin" if style.startswith("exclusive") else "%a0")
        return f"{header}\n{started}\n{nest(loops, [('%t', whole, '%started')], _lines(ops), ['%new'], ['%r0'])}"
    last = f"tensor<{short_type([n for d, n in enumerate(shape) if d != at], element)}>"
    body = [
        f"  %is_first = arith.cmpi eq, %i{at}, %c0 : index",
        f"  %v = scf.if %is_first -> ({element}) {{",
        f"  %x0 = tensor.extract %a0[{place}] : {whole}",
        f"  scf.yield %x0 : {element}",
        "  } else {",
        *ops,
        f"  %x = tensor.extract %a0[{place}] : {whole}",
        f"  %sum = {op} %old, %x : {element}",
        f"  scf.yield %sum : {element}",
        "  }",
        f"  %new = tensor.insert %v into %t[{place}] : {whole}",
    ]
    carried, yielded, results = [("%t", whole, "%empty")], ["%new"], ["%r0"]
    if style == "guarded-last":
        others = ", ".join(counter for d, counter in enumerate(counters) if d != at)
        body.append(f"  %end = tensor.insert %v into %s[{others}] : {last}")
        carried, yielded, results = [*carried, ("%s", last, "%ends")], [*yielded, "%end"], [*results, "%r1"]
    loops = [(counter, 0, n) for counter, n in zip(counters, shape, strict=True)]
    empties = f"  %empty = tensor.empty() : {whole}\n  %ends = tensor.empty() : {last}"
    return f"{header}\n{empties}\n{nest(loops, carried, _lines(body), yielded, results)}"


def _carried(
    counters: Sequence[str], shape: Sequence[int], at: int, whole: str, element: str, op: str, *, exclusive: bool
) -> str:
    place = ", ".join(counters)
    body = [
        f"  %x = tensor.extract %a0[{place}] : {whole}",
        f"  %v = {op} %old, %x : {element}",
        f"  %new = tensor.insert {'%old' if exclusive else '%v'} into %t[{place}] : {whole}",
    ]
    order = [*(d for d in range(len(shape)) if d != at), at]
    loops = [(counters[d], 0, shape[d]) for d in order]
    loop = nest(
        loops, [("%t", whole, "%empty")], _lines(body), ["%new"], ["%r0"], [("%old", element, "%begin")], ["%v"]
    )
    return f"  %empty = tensor.empty() : {whole}\n{loop}"


def running_while(length: int, row: Sequence[int], element: str, op: str, *, exclusive: bool) -> str:
    """``%r0``: the running rows of ``%a1``, beginning with ``%a0``; ``%r1``: the last one. As XLA writes it."""
    whole, part = f"tensor<{short_type([length, *row], element)}>", f"tensor<{short_type(row, element)}>"
    names = ", ".join(f"d{d}" for d in range(len(row)))
    maps = ", ".join([f"affine_map<({names}) -> ({names})>"] * 3)
    kinds = ", ".join(['"parallel"'] * len(row))
    offsets = ", ".join(["%at", *("0" for _ in row)])
    sizes, ones = ", ".join(map(str, [1, *row])), ", ".join(["1"] * (1 + len(row)))
    piece = f"[{offsets}] [{sizes}] [{ones}]"
    carried = f"tensor<i32>, {part}, {whole}"
    return f"""{constants(length - 1)}
  %one = arith.constant 1 : i32
  %end = arith.constant {length} : i32
  %start = arith.constant dense<0> : tensor<i32>
  %empty = tensor.empty() : {whole}
  %count, %r1, %r0 = scf.while (%i = %start, %s = %a0, %t = %empty) : ({carried}) -> ({carried}) {{
    %n = tensor.extract %i[] : tensor<i32>
    %goes = arith.cmpi slt, %n, %end : i32
    scf.condition(%goes) %i, %s, %t : {carried}
  }} do {{
  ^bb0(%i: tensor<i32>, %s: {part}, %t: {whole}):
    %n = tensor.extract %i[] : tensor<i32>
    %raw = arith.index_cast %n : i32 to index
    %least = arith.maxsi %raw, %c0 : index
    %at = arith.minsi %least, %c{length - 1} : index
    %own = tensor.extract_slice %a1{piece} : {whole} to {part}
    %room = tensor.empty() : {part}
    %sum = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
        ins(%s, %own : {part}, {part}) outs(%room : {part}) {{
    ^bb0(%x: {element}, %y: {element}, %out: {element}):
      %v = {op} %x, %y : {element}
      linalg.yield %v : {element}
    }} -> {part}
    %filled = tensor.insert_slice {"%s" if exclusive else "%sum"} into %t{piece} : {part} into {whole}
    %next = arith.addi %n, %one : i32
    %counter = tensor.from_elements %next : tensor<i32>
    scf.yield %counter, %sum, %filled : {carried}
  }}"""


def _started(short: str, at: int, source: str) -> str:
    """``%started``: the first elements along ``at`` are those of ``source``, or that scalar."""
    shape, element = shape_of(short), element_of(short)
    sizes = [1 if d == at else n for d, n in enumerate(shape)]
    part = f"tensor<{short_type(sizes, element)}>"
    zeros, ones, taken = (", ".join(map(str, each)) for each in ([0] * len(shape), [1] * len(shape), sizes))
    piece = f"[{zeros}] [{taken}] [{ones}]"
    first = f"  %first = tensor.extract_slice %a0{piece} : tensor<{short}> to {part}"
    if source == "%begin":
        first = (
            f"  %room = tensor.empty() : {part}\n"
            f"  %first = linalg.fill ins(%begin : {element}) outs(%room : {part}) -> {part}"
        )
    return (
        f"  %empty = tensor.empty() : tensor<{short}>\n{first}\n"
        f"  %started = tensor.insert_slice %first into %empty{piece} : {part} into tensor<{short}>"
    )


def _lines(ops: Sequence[str]) -> str:
    return "\n".join(ops)
