"""Search over made-up tools: words, synonyms, misspellings, Chinese; and that the labelled questions give nothing away."""

from typing import Any

import pytest

from catalog import Tool, tool_from_schema
from catalog.search import Index, search
from catalog.words import doers, joined, stem, synonyms, tokens, words_of
from tests.catalog.queries import QUERIES, Query, recall


async def _nothing(arguments: dict[str, Any]) -> None:
    """Never called."""


def made(full_name: str, doc: str, **arguments: str) -> Tool:
    home, _, name = full_name.partition(".")
    properties = {key: {"type": "string", "description": words} for key, words in arguments.items()}
    return tool_from_schema(name, {"type": "object", "properties": properties}, _nothing, pack=home, doc=doc)


TOOLS = (
    made("files.read", "Read a text file.", path="which file"),
    made("files.list", "List the files of a folder.", path="which folder"),
    made("files.rename", "Give a file another name or place.", old="the path now", new="the path then"),
    made("files.delete", "Delete a file for good.", path="which file"),
    made("git.log", "Show the history of commits.", author="only by this person"),
    made("git.createBranch", "Start a new branch.", base="where it begins"),
    made("mail.send", "Send a message to somebody.", to="the address", subject="the title"),
    made("mail.searchInbox", "Find messages that contain some words.", words="what they contain"),
    made("weather.forecast", "Tell the weather of the next days.", city="where"),
    made("charts.pie", "Draw shares of a whole as a pie chart.", rows="names with values"),
    made("charts.line", "Draw a line chart of values over time.", rows="moments with values"),
    made("shop.create_refund", "Pay a customer's money back.", charge="which payment"),
    made("shop.list_customers", "List all customers.", limit="how many"),
    made("issues.open_ticket", "Report a bug in the tracker.", title="in one line", severity="how bad"),
    made("db.run_query", "Execute an SQL statement and give its rows.", sql="the statement"),
    made("pdf.merger", "Put several PDF files in one.", paths="which files"),
    made("trains.get_tickets", "查询火车余票信息。", date="出发日期"),
    made("cooking.recipes", "根据食材推荐菜谱，并给出购物清单。", food="食材"),
    made("maps.geocode", "Find the coordinates of an address.", address="street and town"),
    made("jobs.cancel", "End a job that is running.", id="which job"),
)

ASKED = [
    ("plain words", "history of commits", "git.log"),
    ("the name itself", "create_refund", "shop.create_refund"),
    ("the name in another case", "search inbox", "mail.searchInbox"),
    ("the full name", "files.read", "files.read"),
    ("synonyms only", "retrieve a document", "files.read"),
    ("a synonym of the verb", "erase a document", "files.delete"),
    ("a synonym of the noun", "everything in a directory", "files.list"),
    ("two words that mean one", "give somebody their money back", "shop.create_refund"),
    ("an argument's words", "something by severity", "issues.open_ticket"),
    ("a question", "will it rain tomorrow?", "weather.forecast"),
    ("nouns for everyday things", "stop a task", "jobs.cancel"),
    ("one who does it", "merge pdf documents", "pdf.merger"),
    ("a letter missing", "wether forcast", "weather.forecast"),
    ("letters swapped", "lsit custmoers", "shop.list_customers"),
    ("words run together", "linechart", "charts.line"),
    ("words torn apart", "geo code", "maps.geocode"),
    ("another form of the word", "drawing pies", "charts.pie"),
    ("Chinese", "还有火车票吗", "trains.get_tickets"),
    ("Chinese in the middle of a doc", "购物清单", "cooking.recipes"),
    ("a beginning of a word", "coord of a town", "maps.geocode"),
    ("a bug is an issue", "file a defect", "issues.open_ticket"),
    ("database words", "select rows from the database", "db.run_query"),
]


@pytest.mark.parametrize(("what", "query", "expected"), ASKED, ids=[row[0] for row in ASKED])
def test_the_right_tool_is_first(what: str, query: str, expected: str) -> None:
    assert search(TOOLS, query)[0].tool.full_name == expected


def test_fewer_than_the_limit_come_back_when_fewer_fit_and_none_when_none_does() -> None:
    assert len(search(TOOLS, "files", limit=2)) == 2
    assert [hit.tool.full_name for hit in search(TOOLS, "xylophone quartet zzz")] == []
    assert search(TOOLS, "") == []
    assert search(TOOLS, "   ?! ") == []
    assert search((), "read") == []


def test_a_query_of_filler_alone_still_searches() -> None:
    odd = made("odd.what_is_this", "Say what this is.")
    assert search([*TOOLS, odd], "what is this")[0].tool is odd


def test_equals_stay_in_the_order_of_the_catalogue() -> None:
    twins = [made(f"pack{number}.twin", "Do the same thing.") for number in range(9)]
    assert [hit.tool.pack for hit in search(twins, "same thing", limit=9)] == [f"pack{number}" for number in range(9)]
    assert len({hit.score for hit in search(twins, "same thing", limit=9)}) == 1


def test_words_of_the_pack_count() -> None:
    tools = (made("kitchen.run", "Start it."), made("garage.run", "Start it."))
    docs = {"kitchen": "Ovens and stoves.", "garage": "Cars and bicycles."}
    assert search(tools, "garage")[0].tool.pack == "garage"
    assert search(tools, "bicycle", pack_docs=docs)[0].tool.pack == "garage"


def test_an_enormous_query_is_answered() -> None:
    assert search(TOOLS, "read file " * 20_000)[0].tool.full_name == "files.read"
    assert search(TOOLS, "x" * 100_000) == []


def test_strange_schemas_do_no_harm() -> None:
    tool = Tool(
        pack="p", name="odd", doc="\ud800 half a character", input_schema={"properties": {"a": True, "b": {"enum": [None, {}]}}},
        output_schema=None, order=(), facts=TOOLS[0].facts, function=_nothing, resource=None, parse=dict, dump=dict,
    )  # fmt: skip
    assert search([tool], "odd character")[0].tool is tool


def test_recall_counts_what_is_among_the_first() -> None:
    rows = [Query("erase a document", ("files.delete",), "tuning"), Query("erase a document", ("git.log",), "tuning")]
    assert recall(Index(TOOLS), rows, first=5) == 0.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getCommentTree", ["get", "comment", "tree"]),
        ("get_comment-tree", ["get", "comment", "tree"]),
        ("HTTPServerURL", ["http", "server", "url"]),
        ("npmSize2", ["npm", "size", "2"]),
        ("火车票 a 票", ["火车", "车票", "a", "票"]),
        ("Größe", ["gr", "öß", "e"]),
    ],
)
def test_text_is_split_into_words(text: str, expected: list[str]) -> None:
    assert list(tokens(text)) == expected


@pytest.mark.parametrize(
    "family",
    [
        ("file", "files"), ("create", "creates", "created", "creating"), ("query", "queries"), ("search", "searching", "searched"),
        ("stop", "stopped", "stopping"), ("document", "documentation"), ("visualize", "visualise", "visualization"), ("neighbor", "neighbour"),
        ("address", "addresses"), ("delete", "deleted", "deleting"),
    ],
)  # fmt: skip
def test_forms_of_a_word_meet(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("customer", "custom"), ("status", "state"), ("policy", "police"), ("number", "numb")]
)
def test_different_words_stay_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_names_of_doers_give_the_deed() -> None:
    assert list(doers("pdf_merger text_splitter validator user")) == [stem("merge"), stem("split"), stem("validate")]


def test_filler_is_left_out() -> None:
    assert words_of("how do I read the file") == [stem("read"), stem("file")]


def test_synonyms_go_both_ways_and_never_to_the_word_itself() -> None:
    groups = synonyms()
    assert all(word in groups[other] for word, others in groups.items() for other in others)
    assert not any(word in others for word, others in groups.items())


def test_no_labelled_question_gives_its_answer_away() -> None:
    """Neither the name nor its words in a row."""
    told = [
        (row.query, tool)
        for row in QUERIES
        for tool in row.tools
        for name in [tool.partition(".")[2]]
        if name.lower() in row.query.lower().split()
        or f" {' '.join(tokens(name))} " in f" {' '.join(tokens(row.query))} "
        or (len(list(tokens(name))) > 1 and joined(name) in joined(row.query))
    ]
    assert told == []


def test_the_labelled_questions_are_many_and_each_is_there_once() -> None:
    assert len(QUERIES) >= 300
    assert len({row.query for row in QUERIES}) == len(QUERIES)
    assert {row.half for row in QUERIES} == {"tuning", "held_out"}
