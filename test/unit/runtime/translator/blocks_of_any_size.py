"""Statements in block loops, however small their arrays are."""

from support.statement_text import program_of

from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation


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
    return translate_statements(program_of(text), options)
