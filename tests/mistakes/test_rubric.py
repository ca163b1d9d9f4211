"""The corpus is what it says it is, and the rubric can fail: a poor report loses exactly the points it should."""

import pytest

from tests.mistakes.corpus import SYSTEMS, Case, Place, Span, System, cases, mistakes, read_marks
from tests.mistakes.dialects import camel_tools, last_expression, through_call_tool
from tests.mistakes.rubric import Shown, Told, judge, mentions, places, too_many_effects

SOURCE = 'const a = 1;\nconst item = await tools.shop.get_itm({ id: "x" });'


def case(**changes: object) -> Case:
    span = Span(Place(2, 20), Place(2, 38))
    told: dict[str, object] = {
        "kind": "k", "id": "i", "source": SOURCE, "spans": (span,), "caret": Place(2, 31), "names": "get_itm",
        "nearest": "get_item", "expected": ("id", "number|int"),
    }  # fmt: skip
    return Case(**(told | changes))  # type: ignore[arg-type]


def lost(told: str, one: Case | None = None, *, survived: bool = True) -> set[str]:
    return {point for point, won in judge(one or case(), Told(told, survived)).items() if not won}


def test_there_are_at_least_eighty_mistakes_in_twenty_classes_each_with_a_name_of_its_own() -> None:
    names = [(kind, table["id"]) for kind, table in mistakes()]
    assert len(names) == len(set(names)) >= 80
    assert len({kind for kind, _ in names}) >= 20


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_mistake_asks_for_more_than_survival(system: System) -> None:
    weak = [one.name for one in cases(system) if len(judge(one, Told("", True))) < 2]
    assert weak == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_silence_wins_nothing_but_survival(system: System) -> None:
    won = {point for one in cases(system) for point, got in judge(one, Told("", True)).items() if got}
    assert won == {"survives", "bounded"}


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_exception_that_leaves_the_loop_wins_nothing(system: System) -> None:
    assert not any(got for one in cases(system) for got in judge(one, Told(one.source + one.message, False)).values())


def test_a_full_report_wins_every_point() -> None:
    text = (
        "unknown_tool: there is no tool shop.get_itm; did you mean shop.get_item?  (line 2, column 31)\n"
        f"  2 | {SOURCE.splitlines()[1]}\n    |                               ^\n  hint: shop.get_item({{ id: number }})"
    )
    assert lost(text) == set()


def test_a_bare_message_loses_the_rest() -> None:
    assert lost("TypeError: not a function") == {"names", "line", "column", "excerpt", "expected", "nearest"}
    assert lost("shop_get_itm is not defined (main.py:2:1)") == {"column", "excerpt", "expected", "nearest"}
    assert lost("shopGetItm: not a function\n at eval_script:2:25") == {"excerpt", "expected", "nearest"}


def test_a_script_handed_back_whole_is_no_excerpt_and_names_nothing() -> None:
    assert lost(f"failed with kwargs {SOURCE!r}: id: a number") >= {"names", "excerpt", "line"}


def test_a_right_name_in_a_quoted_line_is_no_suggestion() -> None:
    source = "const get_item = 1;\nawait tools.shop.get_itm();"
    one = case(source=source, spans=(Span(Place(2, 7), Place(2, 25)),), expected=())
    assert "nearest" in lost("  1 | const get_item = 1;\n  2 | await tools.shop.get_itm();", one)


def test_a_layer_that_takes_the_script_as_it_is_is_not_judged() -> None:
    one = case(unless="1")
    assert judge(one, Told("<result>1</result>", True)) == {} and judge(one, Told("2", True)) != {}


def test_effects_before_the_report_are_counted_where_the_mistake_asks() -> None:
    assert too_many_effects(case(effects=0), Told("", True, orders=1)) is True
    assert too_many_effects(case(effects=0), Told("", True, orders=0)) is False
    assert too_many_effects(case(), Told("", True, orders=3)) is None


def test_places_are_read_from_numbers_gutters_and_carets() -> None:
    source = "a = 1\n    total(b, c)"
    assert places(source, "bad (line 2, column 5)") == [Shown(2, 5, 5)]
    assert places(source, " --> main.py:2:11\n --> stubs.pyi:9:9") == [Shown(2, 11, 11)]
    assert places(source, "2 |     total(b, c)\n  |           ^") == [Shown(2), Shown(2, 11, 11)]
    assert places(source, '  File "x", line 2, in f\n    total(b, c)\n          ~\nError') == [Shown(2), Shown(2, 11, 11)]
    assert places(source, "    total(b, c)\n    and ^ more") == []


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("no tool shop.get_item here", "get_item", True),
        ("tools.shopGetItem is there", "get_item", True),
        ("shop_get_items", "get_item", False),
        ("the hidden one", "id", False),
        ("`id`: int", "id", True),
        ("an interval", "number|int", False),
        ("string[] or null", "list|string[]", True),
    ],
)
def test_names_are_found_as_words(text: str, wanted: str, found: bool) -> None:
    assert mentions(text, wanted) is found


def test_marks_become_places() -> None:
    source, spans, caret = read_marks("ab\nc⟦d▸e⟧f⟦⟧\n")
    assert (source, caret) == ("ab\ncdef", Place(2, 3))
    assert spans == (Span(Place(2, 2), Place(2, 4)), Span(Place(2, 5), Place(2, 5)))
    with pytest.raises(ValueError, match="a mark is open"):
        read_marks("a⟦b")


def test_a_call_is_written_in_each_layers_way() -> None:
    assert camel_tools("await ⟦tools.shop.▸get_item⟧({ id: 1 })") == "await ⟦tools.▸shopGetItem⟧({ id: 1 })"
    assert last_expression("x = 1\nreturn x\n    return y") == "x = 1\nx\n    return y"
    call = 'a = ⟦shop_get_item(id=f(1, "x"), currency="E,R")⟧\nb = stock_count_units(item_id=2)'
    assert through_call_tool(call) == (
        'a = ⟦call_tool("shop_get_item", {"id": f(1, "x"), "currency": "E,R"})⟧\nb = call_tool("stock_count_units", {"item_id": 2})'
    )
