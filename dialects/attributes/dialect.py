"""The ``ipu`` dialect object that its ops and attributes are declared on."""

from ipu_mlir.dialects.support.bindings import ext


class Ipu(ext.Dialect, name="ipu"):
    """Programs of the IPU: tile mappings, vertices in compute sets, exchanges."""
