"""Arguments as they go over the wire, by every style of OpenAPI. Pure: requests are made and not sent."""

from typing import Any

import pytest

from catalog import ToolProblem
from tests.tool_packs.pet_api import document, operation, parameter
from tool_packs.openapi_document import checked
from tool_packs.openapi_operations import Operation, operations_of
from tool_packs.openapi_request import Request, request_of

COLOR: dict[str, Any] = {"R": 100, "G": 200}
COLORS = ["blue", "black"]


def made(path: str, *parameters: dict[str, Any], **more: Any) -> Operation:
    method = "post" if "requestBody" in more else "get"
    spec = checked(document({path: {method: operation("x", *parameters, **more)}}, version=more.pop("version", "3.0.3")), "test")
    (one,) = operations_of(spec)
    assert isinstance(one, Operation), one
    return one


def sent(path: str, told: dict[str, Any], value: Any) -> Request:
    return request_of(made(path, told), {told["name"]: value})


@pytest.mark.parametrize(
    ("style", "explode", "single", "array", "object_"),
    [  # the table of the specification
        ("simple", False, "blue", "blue,black", "R,100,G,200"),
        ("simple", True, "blue", "blue,black", "R=100,G=200"),
        ("label", False, ".blue", ".blue,black", ".R,100,G,200"),
        ("label", True, ".blue", ".blue.black", ".R=100.G=200"),
        ("matrix", False, ";color=blue", ";color=blue,black", ";color=R,100,G,200"),
        ("matrix", True, ";color=blue", ";color=blue;color=black", ";R=100;G=200"),
    ],
)
def test_paths(style: str, explode: bool, single: str, array: str, object_: str) -> None:
    told = parameter("color", "path", {}, style=style, explode=explode)
    assert [sent("/a/{color}/b", told, value).target for value in ("blue", COLORS, COLOR)] == [
        f"/a/{text}/b" for text in (single, array, object_)
    ]


@pytest.mark.parametrize(
    ("style", "explode", "single", "array", "object_"),
    [
        ("form", False, "color=blue", "color=blue,black", "color=R,100,G,200"),
        ("form", True, "color=blue", "color=blue&color=black", "R=100&G=200"),
        ("spaceDelimited", False, "color=blue", "color=blue%20black", "color=R%20100%20G%20200"),
        ("pipeDelimited", False, "color=blue", "color=blue%7Cblack", "color=R%7C100%7CG%7C200"),
        ("deepObject", True, "color=blue", "color[0]=blue&color[1]=black", "color[R]=100&color[G]=200"),
    ],
)
def test_queries(style: str, explode: bool, single: str, array: str, object_: str) -> None:
    told = parameter("color", "query", {}, style=style, explode=explode)
    assert [sent("/a", told, value).target for value in ("blue", COLORS, COLOR)] == [
        f"/a?{text}" for text in (single, array, object_)
    ]


def test_headers_and_cookies() -> None:
    told = [
        parameter("X-Flat", "header", {}), parameter("X-Even", "header", {}, explode=True),
        parameter("a", "cookie", {}), parameter("b", "cookie", {}, explode=False),
    ]  # fmt: skip
    request = request_of(made("/a", *told), {"X-Flat": COLOR, "X-Even": COLOR, "a": "x; y", "b": COLORS})
    assert request.headers == {"X-Flat": "R,100,G,200", "X-Even": "R=100,G=200", "Cookie": "a=x%3B%20y; b=blue,black"}


def test_scalars_nulls_and_json() -> None:
    told = [parameter(name, "query", {}) for name in ("yes", "number", "none", "big")]
    told.append({"name": "filter", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}})
    request = request_of(made("/a", *told), {"yes": True, "number": 1.5, "none": None, "big": 12345678901, "filter": {"a": [1]}})
    assert request.target == "/a?yes=true&number=1.5&big=12345678901&filter=%7B%22a%22%3A%5B1%5D%7D"


def test_a_value_never_becomes_another_part_of_the_request() -> None:
    reserved = parameter("r", "query", {}, allowReserved=True)
    assert sent("/a", parameter("q", "query"), "x&admin=1#y=z +/?").target == "/a?q=x%26admin%3D1%23y%3Dz%20%2B%2F%3F"
    assert sent("/a", reserved, "a/b:c?&d=e#f+").target == "/a?r=a/b:c?%26d%3De%23f%2B"
    assert sent("/a/{id}", parameter("id", "path"), "x/y?z#ü").target == "/a/x%2Fy%3Fz%23%C3%BC"
    assert sent("/a", parameter("a&b=c", "query"), "x").target == "/a?a%26b%3Dc=x"
    assert sent("/a", parameter("q", "query", {}, style="deepObject"), {"a]&b=[": "x"}).target == "/a?q[a%5D%26b%3D%5B]=x"
    assert sent("/a?fixed=1", parameter("q", "query"), "x").target == "/a?fixed=1&q=x"


@pytest.mark.parametrize("value", ["..", ".", "../admin", "a/../../b", "..\\admin", "", None, [], ["..", "x"], {"a": ".."}])
def test_a_value_in_a_path_cannot_lead_elsewhere(value: Any) -> None:
    with pytest.raises(ToolProblem) as caught:
        sent("/a/{id}", parameter("id", "path", {}), value)
    assert caught.value.code == "bad_argument"
    assert caught.value.message.startswith("id: ")


def test_two_values_cannot_make_one_step_upwards() -> None:
    one = made("/a/{x}{y}/b", parameter("x", "path", {}, style="label"), parameter("y", "path", {}, style="label"))
    with pytest.raises(ToolProblem, match="it would lead upwards"):
        request_of(one, {"x": [""], "y": [""]})


@pytest.mark.parametrize("value", ["a\r\nX-Admin: 1", "a\nb", "a\x00b", "a\x7fb", "snow ☃"])
def test_a_header_takes_no_line_breaks_and_nothing_it_cannot_carry(value: str) -> None:
    with pytest.raises(ToolProblem) as caught:
        sent("/a", parameter("X-A", "header"), value)
    assert (caught.value.code, caught.value.data) == ("bad_argument", {"argument": "X-A"})


def test_forms() -> None:
    schema = {"type": "object", "properties": {name: {} for name in ("name", "tags", "meta", "deep", "none")}}
    content = {"schema": schema, "encoding": {"deep": {"style": "deepObject", "explode": True}}}
    one = made("/a", requestBody={"required": True, "content": {"application/x-www-form-urlencoded": content}})
    fields = {"name": "a b&c", "tags": ["x", "y"], "meta": {"k": 1}, "deep": {"k": {"l": [1, "z"]}}, "none": None}
    request = request_of(one, fields)
    assert request.headers == {"Content-Type": "application/x-www-form-urlencoded"}
    assert request.body == b"name=a%20b%26c&tags=x&tags=y&meta=%7B%22k%22%3A1%7D&deep[k][l][0]=1&deep[k][l][1]=z"


def test_a_url_beyond_what_servers_take_is_refused() -> None:
    with pytest.raises(ToolProblem, match="the URL would have 9,005 characters; 8,192 are sent"):
        sent("/a", parameter("q", "query"), "x" * 9_000)
