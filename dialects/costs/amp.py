"""Cycles of matmuls and convolutions on one tile: in the accumulating units (AMP), and without them.

Every formula takes a product of ``groups`` independent parts. In each, ``field`` points (rows of a matmul, pixels of
a convolution) by ``in_channels`` meet ``kernel`` matrices of ``in_channels`` by ``out_channels``. AMP works on groups
of channels and pads what is left. In f8 such a group has twice as many input channels as in f16.

Source: hardware.md 4.3, read in the performance estimates of PopLibs, where the figures of f32 that the notes leave
out come from as well.
"""

from ipu_mlir.dialects.machine.machine import Machine
from ipu_mlir.dialects.machine.size_arithmetic import Size, ceil_div, choose, larger, per_worker
from ipu_mlir.dialects.support.element_types import element_type


def uses_amp(dtype: str) -> bool:
    """True if the AMP units multiply factors of this type, or what they are converted to first.

    >>> [uses_amp(dtype) for dtype in ("f32", "bf16", "f8E5M2", "f64", "i8")]
    [True, True, True, False, False]
    """
    return element_type(dtype).unit != ""


def weight_load_cycles(machine: Machine) -> int:
    """Loading the weights of all units for one pass.

    >>> from ipu_mlir.dialects.machine.machine import IPU2
    >>> weight_load_cycles(IPU2)
    32
    """
    return machine.amp_units * machine.amp_weight_bytes_per_unit // machine.coefficient_load_bytes_per_cycle


def amp_1x1_cycles(
    groups: Size, field: Size, in_channels: Size, out_channels: Size, dtype: str, machine: Machine
) -> Size:
    """``ConvPartial1x1``: a matmul, or a convolution with a kernel of one element.

    >>> from ipu_mlir.dialects.machine.machine import IPU21
    >>> int(amp_1x1_cycles(1, field=16, in_channels=16, out_channels=16, dtype="f16", machine=IPU21))
    353
    """
    in_groups = ceil_div(in_channels, machine.amp_input_channels(dtype))
    out_groups = ceil_div(out_channels, machine.amp_units)
    share = per_worker(field, machine)
    zeroing = machine.workers * _worker_1x1_cycles(share, dtype, machine, zeroing=True)
    adding = machine.workers * _worker_1x1_cycles(share, dtype, machine, zeroing=False)
    load = weight_load_cycles(machine)
    kept, kept_again = (0, 0) if dtype == "f32" else (7, 3)  # what workers keep from pass to pass
    return (
        50
        + machine.workers * (kept + kept_again * (in_groups * groups - 1))
        + groups
        * (
            13
            + (in_groups - 1) * (15 + out_groups * (19 + 6 + load + adding))
            + 11
            + out_groups * (18 + 7 + load + zeroing)
        )
    )


def _worker_1x1_cycles(points: Size, dtype: str, machine: Machine, zeroing: bool) -> Size:
    """One worker's pass over its ``points`` of the field; that one or two of f8 take as long as three is assumed."""
    turns = larger(points - 3, 0) * machine.amp_cycles(dtype)
    if dtype == "f32":  # read in conv_partial_1x1_float_float_16.S of PopLibs, which estimates up to 17 fewer
        zero = (2 + 8 * points) if zeroing else 0
        few = choose(points == 1, 55, choose(points == 2, 61, 63))
        return choose(points == 0, 24, few + zero + turns)
    some = 17 + 27 if element_type(dtype).unit == "f8" else choose(points == 1, 32, choose(points == 2, 41, 37))
    few = choose(points == 0, 21, some)
    return few + turns + (0 if zeroing else 1) - 7


def amp_nx1_cycles(
    groups: Size,
    field: Size,
    row: Size,
    in_channels: Size,
    out_channels: Size,
    kernel: Size,
    dtype: str,
    machine: Machine,
) -> Size:
    """``ConvPartialnx1``: a convolution whose field has rows of ``row`` points, with ``kernel`` elements."""
    in_groups = ceil_div(in_channels, machine.amp_input_channels(dtype))
    out_groups = ceil_div(out_channels, machine.amp_units)
    share = per_worker(field, machine)
    rows = ceil_div(share, row)
    points = ceil_div(share, larger(rows, 1))
    few = _few_nx1_cycles(points, dtype)
    worker = 17 + rows * (3 + few + larger(points - 3, 0) * machine.amp_cycles(dtype) - 9)
    inner = kernel * (weight_load_cycles(machine) + machine.workers * worker)
    zero = groups * (out_groups * 17 + (out_groups - 1) * 6 + 1) + (groups - 1) * 6 + 1
    start = 109 + machine.workers * (9 + 9)
    return start + zero + groups * (16 + in_groups * (14 + out_groups * (14 + inner)))


def _few_nx1_cycles(points: Size, dtype: str) -> Size:
    one, two, three = (33, 44, 45) if dtype == "f32" else (29, 33, 34)
    return choose(points == 0, 17, choose(points == 1, one, choose(points == 2, two, three)))


def horizontal_mac_cycles(
    groups: Size,
    field: Size,
    row: Size,
    in_channels: Size,
    out_channels: Size,
    kernel: Size,
    dtype: str,
    machine: Machine,
) -> Size:
    """``ConvPartialHorizontalMac``: dot products over the input channels, without AMP.

    The workers share the field for one output channel after another, in f16 for two at a time.
    """
    share = per_worker(field, machine)
    rows = ceil_div(share, row)
    vectors = ceil_div(in_channels, machine.vector_width(dtype))
    if dtype == "f32":
        start, zero, at_once, dot = 58, 9, 1, 7 + vectors
    else:
        start, zero, at_once, dot = 63, 10, 2, 14 + 2 * vectors
    worker = 16 + kernel * (16 + 19 * rows + share * (7 + dot))
    inner = ceil_div(out_channels, at_once) * (10 + machine.workers * worker)
    return start + machine.workers * zero + groups * (23 + 15 + inner)


def vertical_mac_cycles(groups: Size, field: Size, kernel: Size, machine: Machine) -> Size:
    """``ConvPartialVerticalMac``: each channel by itself (depthwise), f16, eight channels at a time.

    How often the accumulators are stored is assumed: once for each point of the field.
    """
    share = per_worker(field, machine)
    worker = 13 + share * (7 + 15 + 3 + 3 * (kernel - 1))
    zero = 4 + ceil_div(field * 8, machine.f16_vector_width)
    join = 10 + (7 + machine.workers - 1) * share
    return 61 + 14 + 25 + ceil_div(groups, 8) * (zero + 32 + 24 + machine.workers * worker + join)


def slic_cycles(
    groups: Size,
    field: Size,
    row: Size,
    in_channels: Size,
    out_channels: Size,
    kernel: Size,
    kernel_row: Size,
    machine: Machine,
) -> Size:
    """``ConvPartial1x4SLIC``: a window of four elements slides over rows of four channels, f16.

    Args:
        kernel, kernel_row: elements of the window, and of one of its rows.

    Without channels, four groups take their place, whose weights the workers rearrange. Partial results in f32 take two
    passes. Read in the estimates of PopLibs; that rows of fewer than five points take as long as five, and that all is
    done again for further channels, is assumed.
    """
    share = per_worker(field, machine)
    rows = ceil_div(share, row)
    points = ceil_div(share, larger(rows, 1))
    worker = 17 + rows * (10 + 3 + 2 * (14 + larger(points - 5, 0)))
    windows = kernel // larger(kernel_row, 1) * ceil_div(kernel_row, 4)
    is_depthwise = (in_channels == 1) & (out_channels == 1)
    load = choose(is_depthwise, 31 + 10 * machine.workers + 6, 18) + 16
    each = load + 20 + 6 + machine.workers * worker
    times = choose(is_depthwise, ceil_div(groups, 4), groups * ceil_div(in_channels, 4) * ceil_div(out_channels, 4))
    return 28 + times * (15 + 6 + machine.workers + windows * each)


def scalar_mac_cycles(products: Size, cycles_per_product: int, machine: Machine) -> Size:
    """Products and sums one by one, for types that have no vector instructions; assumed."""
    return 11 + machine.workers * (26 + per_worker(products, machine) * cycles_per_product)
