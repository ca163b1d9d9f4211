"""A loop over OpenAI's Responses, with scripts as free-form input. Its model says two replies, so no network is needed."""

import anyio

from catalog import tool
from harness import Harness
from harness.adapters.openai import respond, responses_tools
from harness.adapters.surface import Surface
from harness.approval import Asking

SCRIPT = """for (const item of ["lamp", "sofa", "desk"])
  try { show(await tools.shop.order({ item })) } catch (problem) { show(problem.message) }"""


@tool(writes=["orders:all"], approval=True)
async def order(item: str) -> str:
    return item + " ordered for " + {"lamp": "40", "desk": "120"}[item]


async def ask(name: str, arguments: object) -> bool:
    print(f"may {name} run with {arguments}?", said := "yes" if "desk" not in str(arguments) else "no")
    return said == "yes"


def fake_model(items: list[dict], tools: list[dict]) -> list[dict]:  # client.responses.create(…).output
    if items[-1].get("type") != "custom_tool_call_output":
        return [{"type": "custom_tool_call", "call_id": "1", "name": tools[0]["name"], "input": SCRIPT}]
    return [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "A lamp is coming."}]}]


async def main() -> None:
    async with Harness(tools={"shop.order": order}, approver=Asking(ask)) as harness, harness.session() as session:
        surface, items = Surface(session), [{"role": "user", "content": "Furnish the room."}]
        while made := await respond(surface, reply := fake_model(items, responses_tools(surface, free=True))):
            items += [*reply, *made]
    print(items[-1]["output"], reply[0]["content"][0]["text"], sep="\n")


anyio.run(main)
