"""Split loops where another mapping has its digits, so that the two can be compared digit by digit."""

from ipu_mlir.dialects.mapping.loops import MappingLoop


def refine(loops: tuple[MappingLoop, ...], strides: set[int]) -> tuple[MappingLoop, ...]:
    """The same parts as loops of falling stride, each cut in two at ``strides`` where it can be written so."""
    cut = list(loops)
    for stride in sorted(strides):
        cut = [piece for loop in cut for piece in _split(loop, stride)]
    return tuple(sorted(cut, key=lambda loop: -abs(loop.stride)))


def _split(loop: MappingLoop, stride: int) -> tuple[MappingLoop, ...]:
    if loop.stride <= 0 or stride <= loop.stride or stride % loop.stride:
        return (loop,)
    ratio = stride // loop.stride
    if ratio >= loop.extent or loop.extent % ratio:
        return (loop,)
    outer = loop.extent // ratio
    if loop.block % ratio == 0:
        return MappingLoop(loop.block // ratio, outer, stride, loop.tile_step), MappingLoop(
            ratio, ratio, loop.stride, 0
        )
    if ratio % loop.block == 0:
        step = loop.tile_step * (ratio // loop.block)
        return MappingLoop(1, outer, stride, step), MappingLoop(loop.block, ratio, loop.stride, loop.tile_step)
    return (loop,)
