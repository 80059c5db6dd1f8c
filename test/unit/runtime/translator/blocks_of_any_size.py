"""Array programs in block loops, however small their arrays are."""

from support.array_text import program_of

from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import Translation, translate_arrays


def in_blocks(text: str, threads: int, block_elements: int, kernels: str = "always") -> Translation:
    """The source of ``text`` with blocks of at most ``block_elements``."""
    options = TranslatorOptions(
        kernels=kernels,
        threads=threads,
        block_elements=block_elements,
        block_min_elementwise_us=0.0,
        block_min_us=0.0,
        block_min_array=1,
        block_min_run=1,
        block_min_gemm_rows=1,
    )
    return translate_arrays(program_of(text), options)
