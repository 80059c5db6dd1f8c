"""The ``ipu`` dialect object that its ops and attributes are declared on."""

import io

from ipu_mlir.dialects.support.bindings import ext, ir


class Ipu(ext.Dialect, name="ipu"):
    """Programs of the IPU: tile mappings, vertices in compute sets, exchanges."""

    @classmethod
    def _emit_module(cls) -> ir.Module:
        """The declarations in the current context; from the second on they are read, which is faster than making them.

        What is kept is made anew once another op is declared.
        """
        declared = [each.__qualname__ for each in (*cls.types, *cls.attributes, *cls.operations)]
        if cls.__dict__.get("_kept", (b"", []))[1] != declared:
            buffer = io.BytesIO()
            super()._emit_module().operation.write_bytecode(buffer)
            cls._kept = buffer.getvalue(), declared
        return ir.Module.parse(cls._kept[0])
