"""Text that harms whoever takes it for more than text, and programs and profiles that carry it wherever they can.

Code in a text sets ``builtins.canary``; whether that was ever done is what ``was_executed`` answers.
"""

import builtins
import random
from collections.abc import Callable

_CODE = "__import__('builtins').__dict__.update(canary=1)"
_PIECES = [
    *('"', "'", '"""', "'''", "\\", "\\\\", "`", "#", "\n", "\r", "\r\n", "\t", "\0", "\x0b", "\x0c", "\x1c", "\x85"),
    *(
        "\u2028",
        "\u2029",
        "\u202e",
        "\u2066",
        "\ufeff",
        "\u200b",
        "\x7f",
        "\x9b",
        "\x1b[31m",
        "\x1b]0;x\x07",
        "\x1b[2J",
    ),
    *(
        "{}",
        "{0}",
        "{out}",
        "{{",
        "}}",
        "%s",
        "%n",
        "${x}",
        "$(id)",
        "`id`",
        "; id",
        "|",
        "&&",
        "..",
        "/",
        "../../",
        "~",
    ),
    *("</script><script>alert(1)</script>", '"><svg onload=alert(1)>', "<!--", "-->", "]]>", "&lt;", "//", "/*", "*/"),
    *(
        "loc(",
        "@",
        "%x: ",
        "%0 = memref.alloc(",
        "-----\n",
        "// -----\n",
        "memref<",
        "dense_resource<",
        "{-#",
        "def build",
    ),
    *(
        "None",
        "class",
        "add",
        "exp",
        "inf",
        "nan",
        "main",
        "build",
        "memory",
        "arg0",
        "result0",
        "range",
        "__class__",
        "ﬁ",
        "µ",
    ),
    *("é", "字", "😀", "e\u0301", "\ud7ff", "\U0010ffff", "layer", "0", " ", "-", ".", "_", ":1:1", "jit(main)/"),
    *(
        _CODE,
        f"\n{_CODE}\n",
        f'"""\n{_CODE}\n"""',
        f"\n        {_CODE}\n        #",
        f"');{_CODE}#",
        f'");{_CODE}#',
        f"[{_CODE}]",
    ),
    *(
        f"inf[{_CODE}]",
        f"{{{_CODE}}}",
        f"\r{_CODE}\r",
        f"\x0c{_CODE}",
        f"add({_CODE})",
        f"\\N{{{_CODE}}}",
        f"{_CODE};" * 3,
    ),
]


def texts(seed: int) -> Callable[[], str]:
    """A source of hostile texts; none is empty."""
    generator = random.Random(seed)

    def text() -> str:
        found = "".join(generator.choices(_PIECES, k=generator.choice((1, 1, 2, 3, 6))))
        return found * generator.choice((1,) * 40 + (3000 // len(found) + 1,))

    return text


def was_executed() -> bool:
    return hasattr(builtins, "canary")


def quoted(text: str | bytes) -> str:
    """``text`` as a string of MLIR, every byte as an escape but letters and digits."""
    data = text.encode() if isinstance(text, str) else text
    return '"' + "".join(chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\{byte:02X}" for byte in data) + '"'


def tensor_program(text: Callable[[], str], entry: str) -> str:
    """A program on tensors, which gives exp(x) + 1, with texts of others in all that has a name or a place."""
    q = lambda: quoted(text())  # noqa: E731
    helper = quoted(f"{text()} ")
    return f"""
#place = loc({q()}:3:4)
module @{q()} attributes {{jax.note = [{q()}, {{key = {q()}}}]}} {{
  func.func @{quoted(entry)}(%x: tensor<4xf32> {{jax.note = {q()}}} loc({q()}))
      -> (tensor<4xf32> {{jax.result_info = {q()}}}) {{
    %holds = arith.constant true loc({q()})
    cf.assert %holds, {q()} loc({q()})
    %e = tensor.empty() : tensor<4xf32> loc(callsite({q()} at {q()}))
    %y = linalg.exp {{jax.note = {q()}}} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> loc({q()})
    %r = func.call @{helper}(%y) : (tensor<4xf32>) -> tensor<4xf32> loc({q()}(#place))
    return %r : tensor<4xf32> loc({q()}:1:2)
  }}
  func.func private @{helper}(%x: tensor<4xf32> loc({q()})) -> tensor<4xf32> {{
    %one = arith.constant dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32> loc({q()})
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.add ins(%x, %one : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
        loc(fused<{q()}>[{q()}, {q()}:7:8, callsite({q()}:1:1 at {q()})])
    return %y : tensor<4xf32>
  }}
}} loc({q()}:0:0)
"""


def superstep_program(text: Callable[[], str], entry: str) -> str:
    """Supersteps for two tiles, which give x + 1, with texts of others in all that has a name or a place."""
    q = lambda: quoted(text())  # noqa: E731
    constant = quoted(f"{text()} ")
    return f"""
#home = #ipu.mapping<4, [[2, 4, 1, 1]], 0, 0>
#same = affine_map<(i) -> (i)>
module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 2}}>}} {{
  memref.global "private" constant @{constant} : memref<4xf32, #home> = dense<[1.0, 1.0, 1.0, 1.0]> loc({q()})
  func.func @{quoted(entry)}(%x: memref<4xf32, #home> loc({q()})) -> memref<4xf32, #home> {{
    %one = memref.get_global @{constant} : memref<4xf32, #home> loc({q()})
    %y = memref.alloc() : memref<4xf32, #home> loc({q()})
    "ipu.compute_set"() ({{
      "ipu.vertices"() ({{
        linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel"]}}
            ins(%x, %one : memref<4xf32, #home>, memref<4xf32, #home>) outs(%y : memref<4xf32, #home>) {{
        ^bb0(%a: f32, %b: f32, %old: f32):
          %c = arith.addf %a, %b : f32 loc({q()})
          linalg.yield %c : f32
        }} loc({q()})
      }}) {{codelet = {q()}, parts = #ipu.parts<[[2, 4, 1]], 0>}} : () -> () loc({q()}:5:6)
    }}) : () -> () loc({q()})
    return %y : memref<4xf32, #home>
  }}
}} loc({q()}:0:0)
"""


def refused_programs(text: Callable[[], str]) -> list[str]:
    """Programs that are wrong, so that messages speak of what they name."""
    q = lambda: quoted(text())  # noqa: E731
    head = f"func.func @main(%x: tensor<4xf32> loc({q()})) -> tensor<4xf32> {{\n"
    end = "\n return %y : tensor<4xf32>\n}"
    loop = 'indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]'
    body = "{\n^bb0(%a: f32, %b: f32):\n linalg.yield %a : f32\n} -> tensor<4xf32>"
    same = f"ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) {body}"
    return [
        f"{head} return %x : tensor<5xf32> loc({q()}:1:2)\n}}",
        f"{head} %y = func.call @{q()}(%x) : (tensor<4xf32>) -> tensor<4xf32> loc({q()}){end}",
        f"{head} %y = linalg.generic {{library_call = {q()}, {loop}}} {same} loc({q()}){end}",
        f"{head} %y = {q()}(%x) {{a = {q()}}} : (tensor<4xf32>) -> tensor<4xf32> loc({q()}){end}",
        f"{head} %c = arith.constant false\n cf.assert %c, {q()} loc({q()})\n return %x : tensor<4xf32>\n}}",
        f"func.func @{q()}() {{ return }}\nfunc.func @{q()}() {{ return }}",
        f"module attributes {{ipu.target = #ipu.target<{{name = {q()}, {text()!r} = 1}}>}} {{}}",
        f"module attributes {{ipu.target = #ipu.target<{{name = {q()}, tiles_per_ipu = -1}}>}} {{}} loc({q()})",
        text(),
        f"module {{ {text()} }}",
        f"// {text()}\n{head}}}",
    ]
