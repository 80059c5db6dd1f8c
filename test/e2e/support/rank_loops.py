"""Sorts as frontends write them without one: loops that count, for each element, those that come before it."""

from collections.abc import Sequence

from support.loops_text import constants, nest
from support.tensor_text import element_of, shape_of, short_type

TIES = ("less-or-earlier", "strictly-or-same")
"""How ties are told: ``less(other, own) or not less(own, other) and earlier``, or by comparing both comparisons."""


def sort_loop(
    shorts: Sequence[str], at: int, comparison: Sequence[str], ties: str = TIES[0], first: int | None = None
) -> str:
    """``%r0, %r1, ...``: the arguments in the order of the first ones, along dimension ``at``.

    Args:
        comparison: lines that define ``%c`` of ``%p0, %q0, %p1, ...``, elements of the arguments at two places.
        first: how many places are kept; the others are not written.
    """
    shape = shape_of(shorts[0])
    counters = [f"%i{d}" for d in range(len(shape))]
    types = [f"tensor<{short}>" for short in shorts]
    own, other = (", ".join(["%j" if d == at and name else c for d, c in enumerate(counters)]) for name in ("", "j"))
    lines = [f"  %own{k} = tensor.extract %a{k}[{own}] : {kind}" for k, kind in enumerate(types)]
    lines.append(f"  %rank = scf.for %j = %c0 to %c{shape[at]} step %c1 iter_args(%count = %c0) -> (index) {{")
    lines += [f"  %other{k} = tensor.extract %a{k}[{other}] : {kind}" for k, kind in enumerate(types)]
    lines += _compared(comparison, len(shorts), "%less", "%other", "%own")
    lines += _compared(comparison, len(shorts), "%more", "%own", "%other")
    lines += [f"  %earlier = arith.cmpi ult, %j, %i{at} : index", "  %not_more = arith.xori %more, %true : i1"]
    if ties == TIES[0]:
        lines += ["  %tie = arith.andi %not_more, %earlier : i1", "  %before = arith.ori %less, %tie : i1"]
    else:
        lines += ["  %same = arith.cmpi eq, %less, %more : i1", "  %strict = arith.andi %less, %not_more : i1"]
        lines += ["  %tie = arith.andi %same, %earlier : i1", "  %before = arith.ori %strict, %tie : i1"]
    lines += ["  %next = arith.addi %count, %c1 : index", "  %counted = arith.select %before, %next, %count : index"]
    lines += ["  scf.yield %counted : index", "  }"]
    place = ", ".join("%rank" if d == at else c for d, c in enumerate(counters))
    results = [f"tensor<{kept_type(short, at, first)}>" for short in shorts]
    inserts = [f"  %n{k} = tensor.insert %own{k} into %t{k}[{place}] : {kind}" for k, kind in enumerate(results)]
    if first is not None:
        names = ", ".join(f"%m{k}" for k in range(len(shorts)))
        yields = (", ".join(f"%{name}{k}" for k in range(len(shorts))) for name in "nt")
        then, otherwise = (f"  scf.yield {each} : {', '.join(results)}" for each in yields)
        branch = f"  {names} = scf.if %kept -> ({', '.join(results)}) {{"
        lines.append(f"  %kept = arith.cmpi ult, %rank, %c{first} : index")
        inserts = [branch, *inserts, then, "  } else {", otherwise, "  }"]
    carried = [(f"%t{k}", kind, f"%e{k}") for k, kind in enumerate(results)]
    yielded = [f"%{'n' if first is None else 'm'}{k}" for k in range(len(shorts))]
    loops = [(counter, 0, n) for counter, n in zip(counters, shape, strict=True)]
    body = "\n".join([*lines, *inserts])
    empties = "\n".join(f"  %e{k} = tensor.empty() : {kind}" for k, kind in enumerate(results))
    header = f"{constants(*shape, first or 1)}\n  %true = arith.constant true\n{empties}"
    return f"{header}\n{nest(loops, carried, body, yielded, [f'%r{k}' for k in range(len(shorts))])}"


def kept_type(short: str, at: int, first: int | None) -> str:
    """The type of a result of ``sort_loop``."""
    shape = [first if d == at and first is not None else n for d, n in enumerate(shape_of(short))]
    return short_type(shape, element_of(short))


def _compared(comparison: Sequence[str], count: int, result: str, left: str, right: str) -> list[str]:
    """The comparison as ``result``, of ``left`` with ``right``; its own names get the result's in front."""
    lines = []
    for line in comparison:
        words = []
        for word in line.split(" "):
            name = word.rstrip(",")
            new = name
            if name == "%c":
                new = result
            elif name[:2] in ("%p", "%q") and name[2:].isdigit() and int(name[2:]) < count:
                new = (left if name[1] == "p" else right) + name[2:]
            elif name.startswith("%x"):
                new = f"{result}_{name[1:]}"
            words.append(new + word[len(name) :])
        lines.append("  " + " ".join(words))
    return lines
