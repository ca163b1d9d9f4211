"""From a typed `async def` to a `Tool`: pydantic makes the schemas, the docstring gives the words.

Arguments are judged strictly, as JSON: "5" is no integer, and a name nobody declared is an error. A parameter whose type is the
pack's resource is injected and hidden.
"""

import inspect
import re
import warnings
from collections.abc import Awaitable, Callable
from typing import Any, get_type_hints

import orjson
from pydantic import ConfigDict, TypeAdapter, create_model
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticUndefined, to_jsonable_python

from catalog.problem import BadPack
from catalog.tool import ATTRIBUTE, Facts, Tool

_SECTION = re.compile(r"^(Args|Arguments|Parameters):\s*$", re.MULTILINE)
_ENTRY = re.compile(r"^( +)\*{0,2}(\w+)(?:\s*\([^)]*\))?:\s*(.*)$")


def reflect(function: Callable[..., Awaitable[Any]], *, pack: str, resource: type | None = None, name: str | None = None) -> Tool:
    """Make the tool. BadPack names the function and what is wrong with it."""
    name = name or function.__name__
    where = f"{pack}.{name}"
    if not inspect.iscoroutinefunction(function):
        raise BadPack(f"{where}: a tool is an async function; write async def {name}(…)")
    facts = getattr(function, ATTRIBUTE, None) or Facts()
    hints = _hints(function, where)
    text, told = split_doc(inspect.getdoc(function) or "")
    injected: str | None = None
    fields: dict[str, Any] = {}
    aliases: dict[str, str] = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise BadPack(f"{where}: *{parameter.name} has no schema; list the parameters one by one")
        hint = hints.get(parameter.name)
        if hint is None:
            raise BadPack(f"{where}: parameter {parameter.name} has no type; write {parameter.name}: str, or what it is")
        if resource is not None and hint is resource:
            injected = parameter.name
            continue
        field = FieldInfo.from_annotation(hint)
        if parameter.default is not parameter.empty:
            field = FieldInfo.from_annotated_attribute(hint, parameter.default)
        if field.description is None and parameter.name in told:
            field.description = told[parameter.name]
        fields[parameter.name] = (hint, field)
        aliases[field.alias or parameter.name] = parameter.name
    model, schema = _model(where, fields)
    dump, output = _output(where, hints.get("return", PydanticUndefined))
    validate = model.__pydantic_validator__.validate_json

    def parse(named: dict[str, Any]) -> dict[str, Any]:
        values = validate(orjson.dumps(named), strict=True, by_alias=True, by_name=True)
        return {field: getattr(values, field) for field in model.model_fields}

    return Tool(
        pack=pack, name=name, doc=text, input_schema=schema, output_schema=output, order=tuple(aliases), facts=facts,
        function=function, resource=injected, parse=parse, dump=dump,
    )  # fmt: skip


def _hints(function: Callable[..., Any], where: str) -> dict[str, Any]:
    try:
        return get_type_hints(function, include_extras=True)
    except NameError as error:
        raise BadPack(f"{where}: {error}; import the type where the pack can see it at run time") from None


def _model(where: str, fields: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False, protected_namespaces=())
    try:
        with warnings.catch_warnings():  # a parameter may be called schema, json or copy: nobody calls these methods here
            warnings.filterwarnings("ignore", message="Field name .* shadows an attribute", category=UserWarning)
            model = create_model("Arguments", __config__=config, **fields)
        schema = model.model_json_schema(schema_generator=Untitled)
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise BadPack(f"{where}: {_first_line(error)}; use types that JSON can carry") from None
    schema.setdefault("properties", {})
    return model, schema


def _output(where: str, hint: Any) -> tuple[Callable[[Any], Any], dict[str, Any] | None]:
    if hint is PydanticUndefined or hint is Any:
        return to_jsonable_python, None
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(hint)
        schema = adapter.json_schema(mode="serialization", schema_generator=Untitled)
    except (PydanticSchemaGenerationError, PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise BadPack(f"{where}: what it returns: {_first_line(error)}; use types that JSON can carry") from None
    return lambda value: adapter.dump_python(value, mode="json", by_alias=True, warnings="error"), schema


class Untitled(GenerateJsonSchema):
    """Without the titles that only repeat a name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        """A result carries every field of its model, given or not."""
        if self.mode == "serialization" and field["type"] != "typed-dict-field":
            return True
        return bool(super().field_is_required(field, total))

    def generate(self, schema: Any, mode: Any = "validation") -> dict[str, Any]:
        made: dict[str, Any] = super().generate(schema, mode)
        if mode == "validation":  # the name of a result's model is worth reading
            made.pop("title", None)
        for definition in made.get("$defs", {}).values():
            definition.pop("title", None)
        return made


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")


def split_doc(doc: str) -> tuple[str, dict[str, str]]:
    """The words for the reader, and those of an `Args:` section by parameter."""
    section = _SECTION.search(doc)
    if section is None:
        return doc.strip(), {}
    before, rows = doc[: section.start()].rstrip(), doc[section.end() :].strip("\n").split("\n")
    told: dict[str, str] = {}
    indent, last, rest = "", "", ""
    for index, row in enumerate(rows):
        if row.strip() and not row.startswith(" "):
            rest = "\n\n" + "\n".join(rows[index:]).strip()
            break
        entry = _ENTRY.match(row)
        if entry and (not indent or entry[1] == indent):
            indent, last = entry[1], entry[2]
            told[last] = entry[3].strip()
        elif last and row.strip():
            told[last] = f"{told[last]} {row.strip()}".strip()
    return (before + rest).strip(), told
