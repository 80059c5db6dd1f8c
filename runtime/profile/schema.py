"""The JSON schema of profiles, made from the classes of ``model`` and their docstrings.

``profile.schema.json`` beside this file is what it gives, for those who read profiles without us. After a change of the
classes, ``python -m ipu_mlir.runtime.profile.schema`` writes it and the tables of fields in ``docs/profile.md`` anew.
"""

import json
import sys
import types
from dataclasses import is_dataclass
from inspect import getdoc
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from ipu_mlir.runtime.profile.json_form import OPTIONAL_KEYS, hints_of, key_of
from ipu_mlir.runtime.profile.model import SCHEMA, VERSION
from ipu_mlir.runtime.profile.profile import Profile

PATH = Path(__file__).resolve().with_name("profile.schema.json")
"""The schema as it is shipped."""

_PLAIN: dict[Any, dict[str, Any]] = {
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bool: {"type": "boolean"},
}


def json_schema() -> dict[str, Any]:
    """The schema, of the dialect of 2020-12."""
    definitions: dict[str, Any] = {}
    _define(Profile, definitions)
    whole = definitions.pop("Profile")
    whole["properties"]["schema"] = {"const": SCHEMA}
    whole["properties"]["version"] = {"const": VERSION}
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"{SCHEMA}, version {VERSION}"}
    return {**head, **whole, "$defs": definitions}


def described_fields(kind: type) -> dict[str, str]:
    """The sentence of a class's docstring about each of its fields, in one line each."""
    attributes = (getdoc(kind) or "").partition("Attributes:\n")[2]
    found: dict[str, str] = {}
    for line in attributes.splitlines():
        name, colon, text = line.strip().partition(": ")
        if colon and line.startswith("    ") and line[4:5] != " ":
            found[name] = text
        elif line.strip() and found:
            found[list(found)[-1]] += " " + line.strip()
    return found


def _define(kind: type, definitions: dict[str, Any]) -> None:
    if kind.__name__ in definitions:
        return
    definitions[kind.__name__] = {}  # a class can hold itself
    texts = described_fields(kind)
    definitions[kind.__name__] = {
        "type": "object",
        "description": (getdoc(kind) or "").partition("\n")[0],
        "properties": {
            key_of(name): {**_shape(hint, definitions), "description": texts[name]}
            for name, hint in hints_of(kind).items()
        },
        "required": [key_of(name) for name in hints_of(kind) if name not in OPTIONAL_KEYS],
        "additionalProperties": False,
    }


def _shape(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if hint in _PLAIN:
        return dict(_PLAIN[hint])
    if is_dataclass(hint):
        assert isinstance(hint, type), f"{hint} is a value, not a class"
        _define(hint, definitions)
        return {"$ref": f"#/$defs/{hint.__name__}"}
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (types.UnionType, Union):
        return {
            "anyOf": [_shape(each, definitions) if each is not type(None) else {"type": "null"} for each in arguments]
        }
    assert origin is tuple, f"profiles have no fields of type {hint}"
    if arguments[-1] is Ellipsis:
        return {"type": "array", "items": _shape(arguments[0], definitions)}
    items = [_shape(each, definitions) for each in arguments]
    return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}


def field_tables() -> str:
    """Every class and its fields as tables in Markdown."""
    definitions: dict[str, Any] = {}
    _define(Profile, definitions)
    return "\n".join(_table(name, definition) for name, definition in definitions.items())


def _table(name: str, definition: dict[str, Any]) -> str:
    rows = [f"| `{key}` | {_kind(shape)} | {shape['description']} |" for key, shape in definition["properties"].items()]
    return "\n".join([f"### {name}", "", definition["description"], "", "| field | | |", "|---|---|---|", *rows, ""])


def _kind(shape: dict[str, Any]) -> str:
    """The type of a field in words."""
    if "$ref" in shape:
        name = shape["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "enum" in shape:
        return ", ".join(f"`{each}`" for each in shape["enum"])
    if "anyOf" in shape:
        return " or ".join(map(_kind, shape["anyOf"]))
    if shape["type"] != "array":
        return shape["type"]
    if "prefixItems" in shape:
        return f"[{', '.join(map(_kind, shape['prefixItems']))}]"
    return f"list of {_kind(shape['items'])}"


_PAGE = PATH.parents[2] / "docs" / "profile.md"
TABLES_BEGIN = "<!-- The rest of this page is written by python -m ipu_mlir.runtime.profile.schema. -->\n"


def main() -> int:
    """Write the schema, and the tables of the page."""
    PATH.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")
    head, mark, _ = _PAGE.read_text(encoding="utf-8").partition(TABLES_BEGIN)
    _PAGE.write_text(f"{head}{mark}\n{field_tables()}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
