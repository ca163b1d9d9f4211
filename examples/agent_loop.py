"""A toy agent without a network: a model that writes a script into each reply, messages, compaction, and what it all cost."""

from pathlib import Path

import anyio

from harness import Harness, detect

READ = 'const page = await tools.files.read({ path: "orders.py" });'
SCRIPTS = [  # what a model would write
    f"{READ} show(page.text.split('\\n').slice(0, 14).join('\\n'));",
    f"{READ} show(page.text.split('\\n').slice(4, 18).join('\\n'));",
    'const { files } = await tools.search.grep({ pattern: "TODO" }); return files.map(file => file.path);',
]
TURNS_KEPT = 2


def fake_model(messages: list[dict[str, str]]) -> str:
    done = sum(message["role"] == "assistant" for message in messages)
    return f"I look.\n<tool-calls>\n{SCRIPTS[done]}\n</tool-calls>" if done < len(SCRIPTS) else "orders.py has TODOs."


async def main() -> None:
    async with Harness(["files", "search"], root=Path(__file__).parent / "tour") as harness, harness.session() as session:
        messages = [
            {"role": "system", "content": harness.prompt(in_reply=True)},
            {"role": "user", "content": "What is left to do?"},
        ]
        in_view: dict[int, dict[str, str]] = {}
        while detect(reply := fake_model(messages)) is not None:
            turn = await session.run_reply(reply)
            in_view[turn.number] = {"role": "user", "content": turn.text}
            messages += [{"role": "assistant", "content": reply}, in_view[turn.number]]
            print(f"turn {turn.number}: {turn.items[0].text.splitlines()[0]}")

            old = list(in_view)[:-TURNS_KEPT]
            for number in old:
                in_view.pop(number)["content"] = "[compacted]"
            for number, text in (await session.forget(old)).mended.items():
                in_view[number]["content"] = text
                print(f"turn {number} again, since turn 1 went: {text.splitlines()[1]}")
        print(reply)
        print("bytes produced and shown:", session.ledger.produced, session.ledger.shown)


anyio.run(main)
