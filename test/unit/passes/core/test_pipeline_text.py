"""The text of a pipeline -> elements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ipu_mlir.passes.core.pipeline_text import Element, Nest, PassText, PipelineError, parse_pipeline, pipeline_text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("  ", ()),
        ("builtin.module()", ()),
        ("cse", (PassText("cse"),)),
        ("builtin.module(cse)", (PassText("cse"),)),
        ("any(cse)", (PassText("cse"),)),
        ("cse,canonicalize", (PassText("cse"), PassText("canonicalize"))),
        (" cse , canonicalize{ a=1  b } ", (PassText("cse"), PassText("canonicalize", "a=1 b"))),
        ("cse{}", (PassText("cse"),)),
        ("func.func(cse,ipu-x{a=1})", (Nest("func.func", (PassText("cse"), PassText("ipu-x", "a=1"))),)),
        (
            "builtin.module(builtin.module(func.func(cse)))",
            (Nest("builtin.module", (Nest("func.func", (PassText("cse"),)),)),),
        ),
        ("a{b={c,d} e=[1,2]},f", (PassText("a", "b={c,d} e=[1,2]"), PassText("f"))),
        ("a{b='x,}y'},f", (PassText("a", "b='x,}y'"), PassText("f"))),
        ("a{map=affine_map<(d0, d1) -> (d0)>}", (PassText("a", "map=affine_map<(d0, d1) -> (d0)>"),)),
    ],
)
def test_parses(text: str, expected: tuple[Element, ...]) -> None:
    assert parse_pipeline(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(cse", "column 15: '(' is never closed"),
        ("cse{a=1", "column 4: '{' is never closed"),
        ("cse)", "column 4: unexpected ')'"),
        ("cse{a=(1}", "column 9: expected ')', found '}'"),
        ("cse,,cse", "column 5: expected the name of a pass, found nothing"),
        ("cse,", "column 5: expected the name of a pass, found nothing"),
        (",cse", "column 1: expected the name of a pass, found nothing"),
        ("func.func(cse,)", "column 15: expected the name of a pass, found nothing"),
        ("cse canonicalize", "column 5: expected ',', '(' or '{' after 'cse', found 'canonicalize'"),
        ("cse{a}(b)", "column 4: expected ',', '(' or '{' after 'cse', found '{a}(b)'"),
        ("cse[1]", "column 4: expected ',', '(' or '{' after 'cse', found '[1]'"),
        ("(cse)", "column 1: expected the name of a pass, found '(cse)'"),
    ],
)
def test_wrong_text_is_refused_with_its_column(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text)
    assert str(caught.value) == f"pipeline '{text}', {message}"


_NAMES = st.from_regex(r"[a-z][a-z0-9\-]{0,8}", fullmatch=True)
_PASSES = st.builds(PassText, _NAMES, st.sampled_from(["", "a=1", "a=1 b={x,y} c", "s='a,b'"]))
_ELEMENTS = st.recursive(
    _PASSES, lambda inner: st.builds(Nest, st.just("func.func"), st.lists(inner, max_size=3).map(tuple)), max_leaves=8
)


@given(st.lists(_ELEMENTS, max_size=4).map(tuple))
def test_text_of_elements_parses_to_them(elements: tuple[Element, ...]) -> None:
    assert parse_pipeline(pipeline_text(elements)) == elements


@given(st.text(alphabet="ab.(){}[]<>,'= -", max_size=20))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_pipeline(text)
    except PipelineError as error:
        assert "column" in str(error)
