"""A pydantic-ai agent whose tools are scripts. Its own handler of deferred calls approves; a tool inside fails and is caught."""

import anyio
from pydantic_ai import Agent, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.models.function import FunctionModel

from catalog import tool
from harness import Harness
from harness.adapters.pydantic_ai import DeferredApprover, script_toolset

SCRIPT = """
const stock = await Promise.all(["apple", "fig"].map(name => tools.shop.count({ name }).catch(e => e.message)));
return [...stock, await tools.shop.order({ name: "plum" })];
"""
SAYS = [ToolCallPart("run_script", {"script": SCRIPT}), TextPart("Plums are coming.")]  # what a model would say


async def count(name: str) -> int:
    return {"apple": 3}[name]


@tool(approval=True)
async def order(name: str) -> str:
    return f"ordered {name}"


async def main() -> None:
    handler = HandleDeferredToolCalls(handler=lambda run, requests: requests.build_results(approve_all=True))
    harness = Harness(tools={"shop.count": count, "shop.order": order}, approver=DeferredApprover())
    async with harness, harness.session() as session:
        model = FunctionModel(lambda messages, info: ModelResponse([SAYS[len(messages) // 2]]))
        agent = Agent(model, toolsets=[script_toolset(session)], capabilities=[handler])
        result = await agent.run("Order plums.")
    print("the model read:", result.all_messages()[2].parts[0].content)
    print("it said:       ", result.output)


anyio.run(main)
