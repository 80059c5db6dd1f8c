"""Reductions that leave a block on each replica (guide 21.15.13)."""

from typing import Any

from ipu_mlir.tensorflow import collectives

_OPS = {"ADD": "add", "MUL": "mul", "MIN": "min", "MAX": "max", "LOGICAL_AND": "and", "LOGICAL_OR": "or"} | {
    "SQUARE_ADD": "square_add",
    "MEAN": "mean",
}


def reduce_scatter(x: Any, replication_factor: int, op: str = "COLLECTIVE_OP_ADD", name: str | None = None) -> Any:
    """Block i of a vector that is combined over replicas, on replica i; zeros follow where it does not divide.

    Args:
        x: a vector, or a list of them.
        replication_factor: how many replicas are a group.
        op: ``COLLECTIVE_OP_`` and one of ADD, MUL, MIN, MAX, LOGICAL_AND, LOGICAL_OR, SQUARE_ADD, MEAN.

    Raises:
        ValueError: there is no such ``op``.
    """
    kind = _OPS.get(op.removeprefix("COLLECTIVE_OP_"))
    if kind is None:
        raise ValueError(
            f"reduce_scatter has no {op!r}; there are {', '.join(f'COLLECTIVE_OP_{each}' for each in _OPS)}"
        )
    if isinstance(x, list | tuple):
        return [reduce_scatter(each, replication_factor, op, name) for each in x]
    return collectives.called(collectives.reduce_scatter(x, kind, replication_factor), name)
