"""Ops on tensors and on numbers, written for a batch."""

from collections.abc import Iterator, Sequence

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import fill_with, transpose_into
from ipu_mlir.tracing.batching.batcher import Batcher, New, Rule, clamped, empty, generic
from ipu_mlir.tracing.emit import index_constant
from ipu_mlir.tracing.errors import TraceTypeError

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")

_ANYWHERE = ir.ShapedType.get_dynamic_stride_or_offset()


_IN_WORDS = {
    "ipu.assign": "an assignment of a variable",
    "ipu.dequeue": "an element of a queue",
    "ipu.enqueue": "an element for a queue",
    "ipu.fifo": "a fifo",
    "ipu.host_call": "a call of the host",
    "ipu.host_gather": "a lookup in a table of the host",
    "ipu.host_update_add": "an update of a table of the host",
    "ipu.remote_load": "a load from a remote buffer",
    "ipu.remote_store": "a store to a remote buffer",
}
"""What users call ops that have a state, or are of the host."""


def not_for_batches(what: str) -> TraceTypeError:
    """The error of what cannot be written for a batch."""
    return TraceTypeError(f"vmap does not know what {what} is for a batch; call it outside of the function")


def numbers(batcher: Batcher, op: ir.Operation) -> None:
    """An op on numbers, or the same on every element of tensors of one shape: one vertex code for all examples."""
    values = [*op.operands, *op.results]
    shapes = {tuple(value.type.shape) for value in values if isinstance(value.type, ir.RankedTensorType)}
    if len(op.regions) or len(op.results) != 1 or len(shapes) > 1 or not op.name.startswith(("arith.", "math.")):
        raise not_for_batches(_IN_WORDS.get(op.name, f"'{op.name}'"))
    batched = [batcher.new(value) for value in op.operands]
    inputs = [each for each in batched if each.batched or isinstance(each.value.type, ir.RankedTensorType)]
    result = batcher.type(op.results[0].type)

    def code(*elements: ir.Value) -> ir.Value:
        given = iter(elements)
        operands = [next(given) if each in inputs else each.value for each in batched]
        attributes = {name: op.attributes[name] for name in op.attributes}
        copied = ir.Operation.create(op.name, [result.element_type], operands, attributes)
        return copied.results[0]

    batcher.note(op.results[0], batcher.every([(each, None) for each in inputs], result, code), True)


def from_elements(batcher: Batcher, op: ir.Operation) -> None:
    """Numbers of all examples are a tensor already."""
    type_ = op.results[0].type
    columns = [batcher.for_all(value) for value in op.operands]
    if type_.rank == 0:
        batcher.note(op.results[0], columns[0], True)
        return
    element = type_.element_type
    pair = ir.RankedTensorType.get([batcher.size, 1], element)
    parts = [_expanded(pair, column, [[0, 1]]) for column in columns]
    flat = tensor.concat(ir.RankedTensorType.get([batcher.size, len(parts)], element), 1, parts)
    new = batcher.type(type_)
    groups = [[0], list(range(1, new.rank))]
    batcher.note(op.results[0], flat if new.rank == 2 else _expanded(new, flat, groups), True)


def extract(batcher: Batcher, op: ir.Operation) -> None:
    """An element of each example."""
    source, *index = (batcher.new(value) for value in op.operands)
    if not index:
        batcher.note(op.results[0], source.value, True)
        return

    def code(*_: ir.Value) -> ir.Value:
        return _element(batcher, source, index, linalg.IndexOp(0).result)

    batcher.note(op.results[0], batcher.every([], batcher.type(op.results[0].type), code), True)


def _element(batcher: Batcher, source: New, index: Sequence[New], example: ir.Value) -> ir.Value:
    place = [batcher.number(each, example) for each in index]
    return tensor.ExtractOp(source.value, [*([example] if source.batched else []), *place]).result


def insert(batcher: Batcher, op: ir.Operation) -> None:
    """Example after example, for each may have its own place."""
    element, dest, *index = (batcher.new(value) for value in op.operands)
    start = batcher.repeated(dest)
    loop = scf.ForOp(index_constant(0), index_constant(batcher.size), index_constant(1), [start])
    with ir.InsertionPoint(loop.body):
        example = loop.induction_variable
        place = [example, *(batcher.number(each, example) for each in index)]
        scf.YieldOp([tensor.InsertOp(batcher.number(element, example), loop.inner_iter_args[0], place).result])
    batcher.note(op.results[0], loop.results[0], True)


def fill(batcher: Batcher, op: ir.Operation) -> None:
    """One number per example."""
    number, out = (batcher.new(value) for value in op.operands)
    if number.batched:
        filled = batcher.every([(number, 0)], batcher.type(out.value.type), lambda element, _: element)
        batcher.note(op.results[0], filled, True)
    else:
        batcher.note(op.results[0], fill_with(number.value, empty(op.results[0].type)).results[0], False)


def structured(batcher: Batcher, op: ir.Operation) -> None:
    """One more outermost loop."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    maps = [each.value for each in attributes["indexing_maps"]]
    count = maps[0].n_dims
    kinds = list(attributes["iterator_types"])
    inputs = [batcher.new(value) for value in list(op.operands)[: len(op.operands) - len(op.results)]]
    if "library_call" in attributes:  # stacks of one shape
        inputs = [New(batcher.repeated(each), True) for each in inputs]
    outs = [batcher.for_all(value) for value in list(op.operands)[len(inputs) :]]
    batched = [*(each.batched for each in inputs), *(True for _ in outs)]
    shifted = ir.AffineMap.get(count + 1, 0, [ir.AffineDimExpr.get(each + 1) for each in range(count)])
    first = ir.AffineDimExpr.get(0)
    new_maps = [
        ir.AffineMap.get(count + 1, 0, [*([first] if flag else []), *(each.compose(shifted) for each in old.results)])
        for old, flag in zip(maps, batched, strict=True)
    ]
    attributes["indexing_maps"] = ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in new_maps])
    attributes["iterator_types"] = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>"), *kinds])
    operands = [*(each.value for each in inputs), *outs]
    new = ir.Operation.create(op.name, [out.type for out in outs], operands, attributes, regions=1)
    old_block = op.regions[0].blocks[0]
    types = [argument.type for argument in old_block.arguments]
    block = new.regions[0].blocks.append(*types, arg_locs=[op.location] * len(types))
    with ir.InsertionPoint(block):
        _vertex(batcher, old_block, block)
    for old, value in zip(op.results, new.results, strict=True):
        batcher.note(old, value, True)


def _vertex(batcher: Batcher, old_block: ir.Block, block: ir.Block) -> None:
    """The code of one element, of the example that the outermost loop is at."""
    known: dict[ir.Value, ir.Value] = dict(zip(old_block.arguments, block.arguments, strict=True))
    example = linalg.IndexOp(0).result

    def number(value: ir.Value) -> ir.Value:
        return known[value] if value in known else batcher.number(batcher.new(value), example)

    for view in old_block.operations:
        op = view.operation
        if op.name == "linalg.index":
            known[op.results[0]] = linalg.IndexOp(op.attributes["dim"].value + 1).result
        elif op.name == "tensor.extract":
            source = batcher.new(op.operands[0])
            place = [*([example] if source.batched else []), *map(number, list(op.operands)[1:])]
            known[op.results[0]] = tensor.ExtractOp(source.value, place).result
        elif len(op.regions):
            raise TraceTypeError(f"vmap does not know '{op.name}' in the code of an element")
        else:
            copied = op.clone()
            for place, value in enumerate(op.operands):
                copied.operands[place] = number(value)
            known.update(zip(op.results, copied.results, strict=True))


def contraction(batcher: Batcher, op: ir.Operation) -> None:
    """A matrix product, with and without a batch of its own, as sums of products with one more loop."""
    left, right, out = (batcher.new(value) for value in op.operands)
    own = 1 if op.name == "linalg.batch_matmul" else 0
    rank, (row, column, inner) = 4 + own, (1 + own, 2 + own, 3 + own)
    outer = list(range(1, 1 + own))

    def of(flag: bool, loops: list[int]) -> ir.AffineMap:
        dims = [*([0] if flag else []), *outer, *loops]
        return ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(each) for each in dims])

    maps = [of(left.batched, [row, inner]), of(right.batched, [inner, column]), of(True, [row, column])]
    floats = isinstance(op.results[0].type.element_type, ir.FloatType)
    add, multiply = (arith.addf, arith.mulf) if floats else (arith.addi, arith.muli)
    kinds = ["parallel"] * (rank - 1) + ["reduction"]
    values = [left.value, right.value]
    product = generic(values, maps, kinds, batcher.repeated(out), lambda a, b, sum: add(sum, multiply(a, b)))
    batcher.note(op.results[0], product, True)


def transposed(batcher: Batcher, op: ir.Operation) -> None:
    """The batch stays first."""
    order = [0, *(each + 1 for each in ir.DenseI64ArrayAttr(op.attributes["permutation"]))]
    source = batcher.for_all(op.operands[0])
    out = empty(batcher.type(op.results[0].type))
    batcher.note(op.results[0], transpose_into(source, out, order).results[0], True)


def collapsed(batcher: Batcher, op: ir.Operation) -> None:
    """The batch is a group of its own."""
    source, type_ = batcher.for_all(op.operands[0]), batcher.type(op.results[0].type)
    groups = _groups(op, source.type.rank)
    batcher.note(op.results[0], tensor.collapse_shape(type_, source, groups), True)


def expanded(batcher: Batcher, op: ir.Operation) -> None:
    """The batch is a group of its own."""
    type_ = batcher.type(op.results[0].type)
    groups = _groups(op, type_.rank)
    batcher.note(op.results[0], _expanded(type_, batcher.for_all(op.operands[0]), groups), True)


def _groups(op: ir.Operation, rank: int) -> list[list[int]]:
    """The groups of ``rank`` dimensions, the batch among them, that become one, or are made of one."""
    old = [[int(each) + 1 for each in group] for group in op.attributes["reassociation"]]
    return [[0], *old] if old else [list(range(rank))]  # all others have size 1


def _expanded(type_: ir.RankedTensorType, source: ir.Value, groups: list[list[int]]) -> ir.Value:
    return tensor.expand_shape(type_, source, groups, output_shape=[], static_output_shape=list(type_.shape))


def extract_slice(batcher: Batcher, op: ir.Operation) -> None:
    """The same slice of every example; or, where it begins elsewhere in each, element by element."""
    source, *places = (batcher.new(value) for value in op.operands)
    offsets, sizes, strides = _slice_of(op)
    type_ = batcher.type(op.results[0].type)
    if not any(place.batched for place in places):
        known = [each.value for each in places]
        new = tensor.ExtractSliceOp(
            type_, batcher.repeated(source), known, [], [], [0, *offsets], [batcher.size, *sizes], [1, *strides]
        )
        batcher.note(op.results[0], new.result, True)
        return
    shape = op.operands[0].type.shape
    kept = _kept_dimensions(op.results[0].type.shape, sizes)

    def code(*_: ir.Value) -> ir.Value:
        example = linalg.IndexOp(0).result
        begins = _begins(batcher, offsets, sizes, strides, shape, iter(places), example)
        for axis, own in kept.items():
            begins[axis] = arith.addi(begins[axis], _times(linalg.IndexOp(own + 1).result, strides[axis]))
        return tensor.ExtractOp(source.value, [*([example] if source.batched else []), *begins]).result

    batcher.note(op.results[0], batcher.every([], type_, code), True)


def insert_slice(batcher: Batcher, op: ir.Operation) -> None:
    """The same slice of every example; or, where it begins elsewhere in each, element by element."""
    source, dest, *places = (batcher.new(value) for value in op.operands)
    offsets, sizes, strides = _slice_of(op)
    type_ = batcher.type(op.results[0].type)
    if not any(place.batched for place in places):
        known = [each.value for each in places]
        where = [0, *offsets], [batcher.size, *sizes], [1, *strides]
        new = tensor.InsertSliceOp(batcher.repeated(source), batcher.repeated(dest), known, [], [], *where)
        batcher.note(op.results[0], new.result, True)
        return
    shape = op.results[0].type.shape
    kept = _kept_dimensions(op.operands[0].type.shape, sizes)

    def code(old: ir.Value, _: ir.Value) -> ir.Value:
        example = linalg.IndexOp(0).result
        begins = _begins(batcher, offsets, sizes, strides, shape, iter(places), example)
        inside, index = None, [*([example] if source.batched else [])]
        for axis, begin in enumerate(begins):
            distance = arith.subi(linalg.IndexOp(axis + 1).result, begin)
            here = arith.cmpi(arith.CmpIPredicate.ult, distance, index_constant(sizes[axis] * strides[axis]))
            if strides[axis] > 1:
                rest = arith.remsi(distance, index_constant(strides[axis]))
                here = arith.andi(here, arith.cmpi(arith.CmpIPredicate.eq, rest, index_constant(0)))
                distance = arith.divsi(distance, index_constant(strides[axis]))
            inside = here if inside is None else arith.andi(inside, here)
            if axis in kept:
                index.append(clamped(distance, sizes[axis] - 1))
        return arith.select(inside, tensor.ExtractOp(source.value, index).result, old)

    whole = New(batcher.repeated(dest), True)
    batcher.note(op.results[0], batcher.every([(whole, None)], type_, code), True)


def _slice_of(op: ir.Operation) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides; sizes and strides are known."""
    fields = (op.attributes[f"static_{name}"] for name in ("offsets", "sizes", "strides"))
    offsets, sizes, strides = (list(ir.DenseI64ArrayAttr(each)) for each in fields)
    return offsets, sizes, strides


def _kept_dimensions(shape: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """The dimensions of the slice as it is seen, by those of the tensor; dimensions of size 1 may be dropped."""
    kept: dict[int, int] = {}
    for axis, size in enumerate(sizes):
        if len(kept) < len(shape) and shape[len(kept)] == size:
            kept[axis] = len(kept)
    return kept


def _begins(
    batcher: Batcher,
    offsets: Sequence[int],
    sizes: Sequence[int],
    strides: Sequence[int],
    shape: Sequence[int],
    places: Iterator[New],
    example: ir.Value,
) -> list[ir.Value]:
    """Where the slice of one example begins, moved to where it fits."""
    found = []
    for offset, size, stride, whole in zip(offsets, sizes, strides, shape, strict=True):
        if offset != _ANYWHERE:
            found.append(index_constant(offset))
        else:
            found.append(clamped(batcher.number(next(places), example), whole - 1 - (size - 1) * stride))
    return found


def _times(index: ir.Value, stride: int) -> ir.Value:
    return index if stride == 1 else arith.muli(index, index_constant(stride))


def concatenated(batcher: Batcher, op: ir.Operation) -> None:
    """Along the same dimension, which is one further."""
    parts = [batcher.for_all(value) for value in op.operands]
    type_ = batcher.type(op.results[0].type)
    batcher.note(op.results[0], tensor.concat(type_, op.attributes["dim"].value + 1, parts), True)


def padded(batcher: Batcher, op: ir.Operation) -> None:
    """Nothing is added to the batch."""
    low, high = (list(ir.DenseI64ArrayAttr(op.attributes[f"static_{name}"])) for name in ("low", "high"))
    if len(op.operands) > 1:
        raise TraceTypeError("vmap does not know a padding of a width that is known at run time")
    type_, inside = batcher.type(op.results[0].type), op.regions[0].blocks[0]
    source, number = batcher.for_all(op.operands[0]), batcher.new(terminator(inside).operands[0])
    if number.batched:
        whole = batcher.every([(number, 0)], type_, lambda element, _: element)
        where = [0, *low], list(source.type.shape), [1] * type_.rank
        batcher.note(op.results[0], tensor.InsertSliceOp(source, whole, [], [], [], *where).result, True)
        return
    new = tensor.PadOp(type_, source, [], [], [0, *low], [0, *high])
    block = new.regions[0].blocks.append(*[ir.IndexType.get()] * type_.rank, arg_locs=[op.location] * type_.rank)
    with ir.InsertionPoint(block):
        (number,) = batcher.block(inside)
        tensor.YieldOp(number.value)
    batcher.note(op.results[0], new.result, True)


def placed(batcher: Batcher, op: ir.Operation) -> None:
    """A mapping is for the elements of one example."""
    raise TraceTypeError("vmap: ipu.place inside of the function is for one example; place the batch outside of it")


def unchanged_shape(batcher: Batcher, op: ir.Operation) -> None:
    """An op of one tensor that treats each element alike, as replicas combine values: it takes all examples at once."""
    attributes = {name: op.attributes[name] for name in op.attributes}
    new = ir.Operation.create(
        op.name, [batcher.type(op.results[0].type)], [batcher.for_all(op.operands[0])], attributes
    )
    batcher.note(op.results[0], new.results[0], True)


RULES: dict[str, Rule] = {
    "ipu.all_reduce": unchanged_shape,
    "ipu.assume_equal": unchanged_shape,
    "ipu.broadcast": unchanged_shape,
    "ipu.place": placed,
    "ipu.stop_gradient": unchanged_shape,
    "linalg.batch_matmul": contraction,
    "linalg.fill": fill,
    "linalg.generic": structured,
    "linalg.matmul": contraction,
    "linalg.transpose": transposed,
    "tensor.collapse_shape": collapsed,
    "tensor.concat": concatenated,
    "tensor.expand_shape": expanded,
    "tensor.extract": extract,
    "tensor.extract_slice": extract_slice,
    "tensor.from_elements": from_elements,
    "tensor.insert": insert,
    "tensor.insert_slice": insert_slice,
    "tensor.pad": padded,
}
