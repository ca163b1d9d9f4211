"""An agent of smolagents, which is not async, whose one tool runs scripts. Its model says two replies; no network."""

from smolagents import ChatMessage, Model, ToolCallingAgent

from catalog import tool
from harness import Harness
from harness.adapters.smolagents import script_tool
from harness.blocking import AskingInThread, blocking_session

SCRIPT = """for (const item of ["lamp", "sofa", "desk"])
  try { show(await tools.shop.order({ item })) } catch (problem) { show(problem.message) }"""


@tool(writes=["orders:all"], approval=True)
async def order(item: str) -> str:
    return item + " ordered for " + {"lamp": "40", "desk": "120"}[item]


def ask(name: str, arguments: object) -> bool:
    print(f"may {name} run with {arguments}?", said := "yes" if "desk" not in str(arguments) else "no")
    return said == "yes"


class Scripted(Model):
    calls = iter([("run_script", {"script": SCRIPT}), ("final_answer", {"answer": "A lamp is coming."})])

    def generate(self, messages: list[ChatMessage], **rest: object) -> ChatMessage:
        name, arguments = next(self.calls)
        call = {"id": name, "type": "function", "function": {"name": name, "arguments": arguments}}
        return ChatMessage(role="assistant", content="", tool_calls=[call])


with blocking_session(Harness(tools={"shop.order": order}, approver=AskingInThread(ask))) as session:
    agent = ToolCallingAgent(tools=[script_tool(session)], model=Scripted(), verbosity_level=-1)
    answer = agent.run("Furnish the room.")
    print(agent.memory.steps[1].observations, answer, sep="\n")
