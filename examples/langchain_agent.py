"""A LangChain agent whose tools are scripts: an approval, a tool inside that fails and is caught, and calls as child runs."""

import anyio
from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

from harness import Harness, Policy, Rule, Setup
from harness.adapters.langchain import script_tool
from harness.adapters.nested import NestedCalls
from harness.approval import Asking

SCRIPT = 'return Promise.all(["apple", "fig"].map(name => tools.shop.order({ name }).catch(e => e.message)))'
SAYS = [AIMessage("", tool_calls=[{"name": "run_script", "args": {"script": SCRIPT}, "id": "1"}]), AIMessage("One is coming.")]


class Scripted(FakeMessagesListChatModel):
    def bind_tools(self, tools, **rest):
        return self


async def order(name: str) -> str:
    return {"apple": "ordered an apple"}[name]


async def approve(tool, arguments):
    return True  # a person would be asked here


async def main() -> None:
    nested, rules = NestedCalls(), Policy((Rule(tool="shop.*", then="ask"),))
    harness = Harness(tools={"shop.order": order}, setup=Setup(policy=rules), approver=Asking(approve))
    async with harness, harness.session(watch=nested) as session:
        agent = create_agent(Scripted(responses=SAYS), [script_tool(session, nested=nested)])
        async for one in agent.astream_events({"messages": [("user", "Order fruit.")]}, include_types=["tool"]):
            print(one["event"], one["name"], getattr(one["data"].get("output"), "content", ""))


anyio.run(main)
