"""MLIR text of nested ``scf.for`` loops over the elements of tensors."""

from collections.abc import Sequence


def constants(*values: int) -> str:
    """``%c0``, ``%c1`` and so on: the numbers 0, 1 and those of ``values`` as indices."""
    return "\n".join(f"  %c{value} = arith.constant {value} : index" for value in sorted({0, 1, *values}))


def nest(
    loops: Sequence[tuple[str, int, int]],
    carried: Sequence[tuple[str, str, str]],
    body: str,
    yielded: Sequence[str],
    results: Sequence[str],
    inner: Sequence[tuple[str, str, str]] = (),
    inner_yielded: Sequence[str] = (),
) -> str:
    """Loops inside each other.

    Args:
        loops: counter, first index and end of each, the outermost first; ``constants`` of them are there.
        carried: name inside the innermost loop, type, and value before it, of what all loops carry.
        body: the ops of the innermost loop.
        yielded: what that gives for ``carried``.
        results: names of what the nest gives.
        inner, inner_yielded: the same for what only the innermost loop carries, after the others.
    """
    (counter, first, end), *others = loops
    depth = len(others)
    everything = [*carried, *(inner if not others else ())]
    names = [f"{name}{depth}" if others else name for name, _, _ in everything]
    types = [kind for _, kind, _ in everything]
    arguments = ", ".join(f"{name} = {value}" for name, (_, _, value) in zip(names, everything, strict=True))
    given = [*results, *(f"%unused{number}" for number in range(len(everything) - len(results)))]
    if others:
        handed = [(name, kind, f"{name}{depth}") for name, kind, _ in carried]
        made = [f"{name}_made{depth}" for name, _, _ in carried]
        body, yielded = nest(others, handed, body, yielded, made, inner, inner_yielded), made
    else:
        yielded = [*yielded, *inner_yielded]
    return (
        f"  {', '.join(given)} = scf.for {counter} = %c{first} to %c{end} step %c1 iter_args({arguments})"
        f" -> ({', '.join(types)}) {{\n{body}\n  scf.yield {', '.join(yielded)} : {', '.join(types)}\n  }}"
    )
