"""``ipu-normalize-indices``: results have a loop per dimension, all of an op the same loops; operands sums of loops."""

from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, loop_nest
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.normalize.indices.maps import ResultMaps
from ipu_mlir.passes.normalize.indices.peel import loops_to_peel
from ipu_mlir.passes.normalize.indices.rebuild import rebuild
from ipu_mlir.passes.normalize.indices.split_results import split_results
from ipu_mlir.passes.support.linalg_builders import iterator_types
from ipu_mlir.passes.support.rewriting import list_ops, replace_op


class NormalizeIndices(Pass):
    """Index results of linalg.generic by loops, all of an op by the same ones, and operands by sums of loops.

    Results over different loops, such as elements and their sum, become several ops if they do not read each other.
    What is written in part, at ``2 * i`` or on a diagonal, is computed by itself and put into what is there. Where
    several iterations meet in an index, as in ``i + j``, loops run around the op until no two of them do. Operands that
    are indexed by quotients and remainders, such as ``i floordiv 2``, are loaded in the body.

    Needs:  linalg on tensors, static shapes.
    Leaves: ``linalg.generic`` whose results are written whole, each dimension by a loop of its own, and whose operands
            have indices that are sums of multiples of loops. Ops of which parallel iterations write one element, or
            that read or write outside of an operand, are refused.
    """

    name = "ipu-normalize-indices"

    def run(self, module: ir.Operation) -> None:
        with module.context, Refusals() as refuse:
            for op in list_ops(module, "linalg.generic"):
                nest = loop_nest(op) if len(op.results) and "library_call" not in op.attributes else None
                if nest is None:
                    continue
                sums = all(index.linear for indices in nest.indices[: nest.num_inputs] for index in indices)
                if sums and _is_usual(nest):
                    continue
                maps = ResultMaps.of(op, nest)
                if maps.are_plain() and sums:
                    _say_parallel(op, maps)
                    continue
                if 0 in nest.extents:
                    replace_op(op, list(op.operands)[len(op.operands) - len(op.results) :])
                    continue
                broken = _broken(op, maps)
                for reason in broken:
                    refuse(op, reason)
                if not broken:
                    _normalize(op, maps)


def _is_usual(nest: LoopNest) -> bool:
    """True if the dimensions of each result are the parallel loops: true of most ops, and soon found."""
    parallel = [loop for loop, each in enumerate(nest.parallel) if each]
    return all(sorted(-1 if i.plain_loop is None else i.plain_loop for i in each) == parallel for each in nest.outputs)


def _say_parallel(op: ir.Operation, maps: ResultMaps) -> None:
    """Loops that are dimensions of all results are no reductions, whatever ``op`` says."""
    named = maps.loops_of(0)
    parallel = [said or loop in named for loop, said in enumerate(maps.parallel)]
    if parallel != list(maps.parallel):
        op.attributes["iterator_types"] = iterator_types(parallel)


def _broken(op: ir.Operation, maps: ResultMaps) -> list[str]:
    """Why nobody can say what ``op`` computes, as the ends of sentences."""
    first = len(op.operands) - len(op.results)
    found = []
    for number, affine_map in enumerate((indexing_maps(op) or [])[:first]):
        if len(affine_map.results):
            shape = list(op.operands[number].type.shape)
            found.append(maps.outside(f"reads {{}} of operand {number}", tuple(affine_map.results), shape))
    for result, expressions in enumerate(maps.maps):
        outside = maps.outside(f"writes {{}} of result {result}", expressions, maps.shapes[result])
        found.append(outside or maps.broken(result))
    return [reason for reason in found if reason is not None]


def _normalize(op: ir.Operation, maps: ResultMaps) -> None:
    block = op.regions[0].blocks[0]
    for index in list_ops(op, "linalg.index"):
        index.move_before(block.operations[0])
    for part in [op] if maps.are_plain() else split_results(op, maps):
        nest = loop_nest(part)
        assert nest is not None, "the loops are those of the op that it is a part of"
        own = ResultMaps.of(part, nest)
        rebuild(part, own, () if own.are_plain() else loops_to_peel(part, own))
