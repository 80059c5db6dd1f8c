"""The tuned numbers of the translator."""

import os
from dataclasses import dataclass, field

from ipu_mlir.runtime.numeric.blas import is_narrow

KERNELS = ("auto", "never", "always", "checked")
"""The choices for what runs as machine code."""

_CHECKED_THREADS = 4


@dataclass(frozen=True)
class TranslatorOptions:
    """Thresholds with their units; each with the reason for its value. Measured with NumPy 2.4 on two cores."""

    kernels: str = field(default_factory=lambda: os.environ.get("IPU_KERNELS", "auto").replace("checked", "always"))
    """Parts that run as machine code: ``auto`` for what block loops and loops of the program repeat, ``never`` for
    nothing, ``always`` for all that can. The environment variable ``IPU_KERNELS`` says what it is unless told."""

    checked: bool = False
    """True if each kernel and each block loop is held to what its statements declare, in every run."""

    narrow_blas: bool = field(default_factory=is_narrow)
    """True if BLAS leaves half of each vector unused: then ``auto`` has products of matrices as kernels, which take
    half as long (2048 x 2048 f32 at 410 instead of 220 billion operations per second, two threads)."""

    table_min_reads: int = 2
    """Uses of each entry of a lookup table, in one run. Making one takes as long as computing that many elements."""

    table_min_gain: float = 2.0
    """The factor by which looking up must be faster. Tables need memory, and may be slower than they seem."""

    threads: int = 2
    """Threads that share a block loop. Element-wise NumPy beyond two is limited by memory bandwidth."""

    vecdot_min_length: int = 96
    """Elements of a row. From here ``vecdot`` beats multiply and a product with ones (19 against 37 us on 256 x 1024,
    but 207 against 61 us on 16384 x 16)."""

    single_vecdot_min_length: int = 9
    """Elements. One sum of products is one call of ``vecdot`` from here; fewer are single numbers in a loop."""

    ones_max_length: int = 16384
    """Elements. Sums along rows up to this length are products with ones (3 times as fast as ``add.reduce``); longer
    ones are summed pairwise, because a plain sum of more terms loses digits."""

    window_max_taps: int = 16
    """Reduced points per result. Up to here a window reduction is a chain of ufuncs over shifted views."""

    merge_min_rows: int = 32
    """Rows of a matrix. Leading loops of an operand that do not merge become a batch if the matrices keep this many
    rows (batched products of 32 x 32 run at the speed of one large one); below, the operand is packed first."""

    block_elements: int = 524288
    """Elements of the largest array of a group, per block: 2 MiB of f32. Layer norm and softmax on 4096 x 1024 ran 1.4
    times as fast as hand-written NumPy with 64K, 1.8 with 128K, 2.0 with 256K, 2.3 with 512K, 2.0 with 1M."""

    packed_elements: int = 524288
    """Elements of a factor that is packed at once: 2 MiB of f32. The 3 x 3 windows of 56 x 56 x 64 images took 10.4 ms
    in pieces of 14 rows (1.8 MiB), 11.2 ms at once, with the product that reads them."""

    block_min_gemm_rows: int = 512
    """Rows. A block with a matrix product in it has at least this many, or BLAS packs the shared operand too often."""

    block_min_elementwise_us: float = 60.0
    """Microseconds on one thread, outside of matrix products. Below, a block loop gains less than it costs."""

    block_min_us: float = 400.0
    """Microseconds on one thread, everything. Waking the second thread takes 20 to 50."""

    block_min_array: int = 131072
    """Elements of the largest array outside matrix products. Smaller ones stay in the cache without blocks, and two
    threads are slower than one on calls of less than 32K elements."""

    block_min_run: int = 64
    """Elements in a row of a block's slice. Shorter slices of a large array are slow to walk."""

    strip_elements: int = 4096
    """Elements of the largest array that a kernel works through at a time, in whole units: 16 KiB of f32, so that a few
    arrays stay in the innermost cache."""

    @staticmethod
    def of(kernels: str | None) -> "TranslatorOptions":
        """The options for ``kernels`` as users say it; for None those that ``IPU_KERNELS`` says."""
        if (kernels or os.environ.get("IPU_KERNELS")) == "checked":
            return TranslatorOptions.with_checks()
        return TranslatorOptions() if kernels is None else TranslatorOptions(kernels=kernels)

    @staticmethod
    def with_checks(threads: int = _CHECKED_THREADS) -> "TranslatorOptions":
        """All that can is a kernel, however little it is, in a block for each thread, and checked."""
        return TranslatorOptions(
            kernels="always",
            checked=True,
            threads=threads,
            block_elements=1 << 62,
            block_min_gemm_rows=1,
            block_min_elementwise_us=-1.0,
            block_min_us=-1.0,
            block_min_array=0,
            block_min_run=0,
            strip_elements=64,
        )
