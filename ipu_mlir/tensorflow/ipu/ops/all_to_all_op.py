"""Gathers and exchanges over replicas (guide 21.15.10)."""

from typing import Any

from ipu_mlir.tensorflow import collectives


def all_to_all(
    x: Any, split_dimension: int, concat_dimension: int, replication_factor: int, name: str | None = None
) -> Any:
    """Block i of ``x`` along ``split_dimension`` goes to replica i, which puts what it gets together by its source.

    Args:
        replication_factor: how many replicas there are.
    """
    return collectives.called(collectives.all_to_all(x, split_dimension, concat_dimension, replication_factor), name)


def all_gather(x: Any, replication_factor: int, name: str | None = None) -> Any:
    """The values of consecutive replicas along one more first dimension; a list for a list.

    Args:
        replication_factor: how many replicas are a group.
    """
    if isinstance(x, list | tuple):
        return [all_gather(each, replication_factor, name) for each in x]
    return collectives.called(collectives.all_gather(x, replication_factor), name)
