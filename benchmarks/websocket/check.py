"""Are turns over a WebSocket timed truly? A server of another make, which follows
the public documentation of the Responses API's WebSocket mode and notes when it
sent each token, against what tokenmeter recorded:

    python benchmarks/websocket/check.py TOKENMETER

It needs the package websockets (15 or later). It takes half a minute, exits 1 when
the median error of TTFT or of a gap between tokens is 1 ms or more, or when the protocol was
broken, and needs a machine that does nothing else.
"""

import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from websockets.asyncio.server import serve

TURNS, TOKENS, SESSIONS = 3, 40, 8
GAP = 0.020
truth = {}  # (session, turn): moments of the tokens since the message came, s
broken = []


async def respond(ws, session, turn, message, answers, rng):
    came = time.monotonic()
    before = message.get("previous_response_id")
    if message.get("type") != "response.create" or "stream" in message:
        broken.append(f"turn {turn}: {message}")
    if turn and before != answers[-1]:
        broken.append(f"turn {turn} goes on from {before}, not from {answers[-1]}")
    if turn and not isinstance(message["input"], str):
        broken.append(f"turn {turn} sends more than what is new")
    name = f"resp_{session}_{turn}"
    answers.append(name)
    number = 0

    async def send(kind, pieces=1, **more):
        nonlocal number
        text = json.dumps({"type": kind, "sequence_number": number, **more}, indent=rng.choice([None, 2]))
        number += 1
        if pieces == 1:
            await ws.send(text)
        else:  # in fragments, as RFC 6455 allows
            cut = len(text) // 2
            await ws.send([text[:cut], text[cut:]])

    state = {"id": name, "object": "response", "status": "in_progress", "output": []}
    await send("response.created", response=state)
    await send("response.in_progress", response=state)
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    await send("response.output_item.added", output_index=0, item=item)
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    await send("response.content_part.added", part={"type": "output_text", "text": "", "annotations": []}, **place)
    first, sent, text = came + 0.100 + 0.050 * turn, [], ""
    for k in range(TOKENS):
        await asyncio.sleep(first + k * GAP - time.monotonic())
        if k % 10 == 5:
            await ws.ping()
        sent.append(time.monotonic() - came)
        await send("response.output_text.delta", pieces=rng.choice([1, 2]), delta=f"word{k} ", logprobs=[], **place)
        text += f"word{k} "
    await send("response.output_text.done", text=text, logprobs=[], **place)
    part = {"type": "output_text", "text": text, "annotations": []}
    await send("response.content_part.done", part=part, **place)
    done = {**item, "status": "completed", "content": [part]}
    await send("response.output_item.done", output_index=0, item=done)
    usage = {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": TOKENS,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 30 + TOKENS}
    await send("response.completed", response={**state, "status": "completed", "output": [done], "usage": usage})
    truth[session, turn] = sent


async def conversation(ws):
    session = ws.request.headers["X-Session-ID"].rpartition("-s")[2]
    rng, answers = random.Random(session), []
    async for message in ws:
        await respond(ws, session, len(answers), json.loads(message), answers, rng)


def run(program, port, work):
    with open(work + "/talk.yaml", "w") as f:
        f.write(f"name: talk\ninput: 30\noutput: {TOKENS}\nturns: {TURNS}\n")
    subprocess.run([program, "bench", f"ws://127.0.0.1:{port}/v1/responses", "--model", "m", "--workload", work + "/talk.yaml", "--preflight", "none",
                    "--concurrency", "2", "--requests", str(TURNS * SESSIONS), "--warmup", "0", "--out", work + "/run", "--quiet"],
                   stdout=subprocess.DEVNULL, check=True)
    lines = subprocess.run([program, "export", work + "/run", "--as", "jsonl"], capture_output=True, check=True, text=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def main():
    ready, loop = threading.Event(), asyncio.new_event_loop()
    port = 0

    async def listen():
        nonlocal port
        server = await serve(conversation, "127.0.0.1", 0, compression=None)
        port = server.sockets[0].getsockname()[1]
        ready.set()
        await asyncio.Future()

    threading.Thread(target=lambda: loop.run_until_complete(listen()), daemon=True).start()
    ready.wait()
    with tempfile.TemporaryDirectory() as work:
        records = run(sys.argv[1], port, work)
    ttft, tokens = [], []
    for r in records:
        if r["outcome"] != "ok" or r["http_status"] != 101 or r["output_tokens"] != TOKENS:
            broken.append(f"{r['outcome']} {r['error']}")
            continue
        sent = truth[r["session"], r["turn"]]
        ttft.append(1000 * abs(r["service_ttft_ms"] / 1000 - sent[0]))
        for k, gap in enumerate(r["icl_ms"]):
            tokens.append(abs(gap - 1000 * (sent[k + 1] - sent[k])))
    opened = sum(not r["connection_reused"] for r in records)
    if len(records) != TURNS * SESSIONS or opened != SESSIONS:
        broken.append(f"{len(records)} turns over {opened} connections, want {TURNS * SESSIONS} over {SESSIONS}")
    for name, errors in (("TTFT from the message", ttft), ("gap between tokens", tokens)):
        errors.sort()
        print(f"{name}: {len(errors)} of them, error p50 {statistics.median(errors):.3f} ms, p99 {errors[len(errors) * 99 // 100]:.3f} ms, max {errors[-1]:.3f} ms")
    for words in broken:
        print("broken:", words)
    sys.exit(bool(broken) or statistics.median(ttft) >= 1 or statistics.median(tokens) >= 1)


main()
