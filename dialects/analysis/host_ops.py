"""Ops by which tensors come from the host, or from memory beside the chip, and go there."""

FROM_HOST = frozenset(("ipu.element", "ipu.remote_load", "ipu.host_gather"))
"""Each gives a tensor that is not computed on tiles."""
TO_HOST = frozenset(("ipu.print", "ipu.put", "ipu.remote_store", "ipu.host_gather", "ipu.host_update_add"))
"""Each takes tensors off the tiles."""
