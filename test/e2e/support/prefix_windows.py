"""MLIR text of cumulative ops as frontends write them: a window over everything up to an element."""

from support.tensor_text import constant, element_of, shape_of, short_type


def window(short: str, at: int, from_end: bool, op: str, neutral: str, beyond: int = 0) -> str:
    """The body of a function that lets a window of all of dimension ``at`` slide over ``%a0``.

    Args:
        short: the type of the operand and the result.
        from_end: whether an element is combined with those behind it, not with those before it.
        op, neutral: what combines, and the number that changes nothing.
        beyond: how many windows more there are, which hold no element.
    """
    shape, element = shape_of(short), element_of(short)
    size, rank = shape[at], len(shape)
    loops = ", ".join(f"d{loop}" for loop in range(rank))
    slide = ", ".join(f"d{loop} + k" if loop == at else f"d{loop}" for loop in range(rank))
    made = short_type([n + beyond * (d == at) for d, n in enumerate(shape)], element)
    before, after = (
        [(size - 1 + beyond) * (d == at) * (side == from_end) for d in range(rank)] for side in (False, True)
    )
    padded = short_type([n + (n - 1 + beyond) * (d == at) for d, n in enumerate(shape)], element)
    kinds = ", ".join(['"parallel"'] * rank + ['"reduction"'])
    maps = ", ".join(f"affine_map<({loops}, k) -> ({results})>" for results in (slide, "k", loops))
    return f"""  %neutral = {constant(neutral, element)}
  %padded = tensor.pad %a0 low{before} high{after} {{
  ^bb0({", ".join(f"%i{loop}: index" for loop in range(rank))}):
    tensor.yield %neutral : {element}
  }} : tensor<{short}> to tensor<{padded}>
  %shape = tensor.empty() : tensor<{size}xf32>
  %empty = tensor.empty() : tensor<{made}>
  %start = linalg.fill ins(%neutral : {element}) outs(%empty : tensor<{made}>) -> tensor<{made}>
  %r0 = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}}
      ins(%padded, %shape : tensor<{padded}>, tensor<{size}xf32>) outs(%start : tensor<{made}>) {{
  ^bb0(%x: {element}, %unused: f32, %acc: {element}):
    %y = {op} %acc, %x : {element}
    linalg.yield %y : {element}
  }} -> tensor<{made}>"""
