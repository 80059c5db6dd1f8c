"""Replicas (guide 21.15.16)."""

from typing import Any

from ipu_mlir.tensorflow import collectives


def replication_index(name: str | None = None) -> Any:
    """The number of the replica that runs the program, from 0."""
    return collectives.called(collectives.replica_index(), name)
