"""Programs of one op, on both executors."""

import numpy as np

import ipu_mlir as ipu

TARGET = ipu.Target(tiles_per_ipu=4)


def run(op: str, *arrays: np.ndarray, results: list[str], target: ipu.Target = TARGET) -> list[np.ndarray]:
    """What a program of one op gives on both executors, which agree."""
    types = [f"tensor<{'x'.join(map(str, each.shape))}xf32>" for each in arrays]
    given = ", ".join(f"%a{number}: {kind}" for number, kind in enumerate(types))
    names = ", ".join(f"%a{number}" for number in range(len(types)))
    made = ", ".join(f"%r#{number}" if len(results) > 1 else "%r" for number in range(len(results)))
    count = f":{len(results)}" if len(results) > 1 else ""
    text = f"""func.func @main({given}) -> ({", ".join(results)}) {{
      %r{count} = {op.replace("ARGS", names)} : ({", ".join(types)}) -> ({", ".join(results)})
      return {made} : {", ".join(results)}
    }}"""
    exe = ipu.compile(text, target=target)
    found = exe.run(list(arrays))
    for one, other in zip(found, exe.run_per_tile(list(arrays)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return found
