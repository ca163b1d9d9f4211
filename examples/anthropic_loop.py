"""A loop over Anthropic's Messages whose one tool runs scripts. Its model says two replies, so no network is needed."""

import anyio

from catalog import tool
from harness import Harness
from harness.adapters.anthropic import assistant, respond, tools
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


def fake_model(messages: list[dict], tools: list[dict]) -> dict:  # client.messages.create(…)
    use = {"type": "tool_use", "id": "1", "name": tools[0]["name"], "input": {"script": SCRIPT}}
    text = {"type": "text", "text": "A lamp is coming."}
    return {"content": [use if len(messages) == 1 else text]}


async def main() -> None:
    async with Harness(tools={"shop.order": order}, approver=Asking(ask)) as harness, harness.session() as session:
        surface, messages = Surface(session), [{"role": "user", "content": "Furnish the room."}]
        while answered := await respond(surface, reply := fake_model(messages, tools(surface))):
            messages += [assistant(reply), answered]
    print(messages[-1]["content"][0]["content"], reply["content"][0]["text"], sep="\n")


anyio.run(main)
