"""An agent of the OpenAI Agents SDK whose one tool runs scripts. Its model is the SDK's scripted one, so no network is needed."""

import asyncio

from agents import Agent, RunConfig, Runner
from agents.testing import ScriptedModel, assistant_message, function_call

from catalog import tool
from harness import Harness
from harness.adapters.openai_agents import script_tool
from harness.approval import Asking

SCRIPT = """for (const item of ["lamp", "sofa", "desk"])
  try { show(await tools.shop.order({ item })) } catch (problem) { show(problem.message) }"""


@tool(writes=["orders:all"], approval=True)
async def order(item: str) -> str:
    return item + " ordered for " + {"lamp": "40", "desk": "120"}[item]


async def ask(name: str, arguments: object) -> bool:
    print(f"may {name} run with {arguments}?", said := "yes" if "desk" not in str(arguments) else "no")
    return said == "yes"


async def main() -> None:
    model = ScriptedModel(
        [[function_call("run_script", {"script": SCRIPT}, call_id="1")], [assistant_message("A lamp is coming.")]]
    )
    async with Harness(tools={"shop.order": order}, approver=Asking(ask)) as harness, harness.session() as session:
        agent = Agent(name="buyer", model=model, tools=[script_tool(session)])
        run = await Runner.run(agent, "Furnish the room.", run_config=RunConfig(tracing_disabled=True))
    print(model.calls[1].input[-1]["output"], run.final_output, sep="\n")


asyncio.run(main())
