"""Is the Realtime API timed truly, and is the simulator one that OpenAI's own client
understands? A server of another make, which follows the public reference of the API and
notes when it sent what, against what tokenmeter recorded, in text and in sound; and the
official Python client against `tokenmeter sim`:

    python benchmarks/websocket/realtime.py TOKENMETER

It needs the packages websockets (15 or later) and openai[realtime] (3 or later). It takes
half a minute, exits 1 when the median error of a time is 1 ms or more, or when anything
was misunderstood, and needs a machine that does nothing else.
"""

import asyncio
import base64
import json
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from openai import AsyncOpenAI
from websockets.asyncio.server import serve

TURNS, TOKENS, SESSIONS, SPOKEN = 3, 40, 8, 10
GAP = 0.020
PIECE = 960  # bytes of sound in a delta: 20 ms of 24,000 samples of 16 bits
truth, broken = {}, []


class Session:
    """What the API's reference says that a connection keeps."""

    def __init__(self, ws, name):
        self.ws, self.name, self.events, self.items, self.heard, self.turn, self.set_up = ws, name, 0, [], 0, 0, None
        self.rng = random.Random(name)

    async def send(self, kind, **more):
        self.events += 1
        await self.ws.send(json.dumps({"type": kind, "event_id": f"event_{self.events}", **more}, indent=self.rng.choice([None, 2])))

    async def add(self, role, content):
        item = {"id": f"item_{len(self.items)}", "object": "realtime.item", "type": "message", "status": "completed", "role": role, "content": content}
        before = self.items[-1]["id"] if self.items else None
        self.items.append(item)
        for kind in ("conversation.item.added", "conversation.item.done"):
            await self.send(kind, previous_item_id=before, item=item)

    async def take(self, m, came):
        kind = m["type"]
        if kind == "session.update":
            self.set_up = m["session"]
            await self.send("session.updated", session=m["session"])
        elif kind == "conversation.item.create":
            if m["item"]["type"] != "message" or any(part["type"] not in ("input_text", "output_text") for part in m["item"]["content"]):
                broken.append(f"item {m['item']}")
            await self.add(m["item"]["role"], m["item"]["content"])
        elif kind == "input_audio_buffer.append":
            self.heard += len(base64.b64decode(m["audio"], validate=True))
        elif kind == "input_audio_buffer.commit":
            if self.set_up is None or self.set_up["audio"]["input"]["turn_detection"] is not None:
                broken.append("the server may answer on its own")
            await self.send("input_audio_buffer.committed", previous_item_id=None, item_id=f"item_{len(self.items)}")
            await self.add("user", [{"type": "input_audio", "transcript": None}])
        elif kind == "response.create":
            await self.respond(m["response"], came)
        else:
            await self.send("error", error={"type": "invalid_request_error", "code": "invalid_value", "message": f"Invalid value: '{kind}'.", "param": "type", "event_id": None})

    async def respond(self, asked, came):
        speaks = asked["output_modalities"] == ["audio"]
        if len(self.items) != 2 * self.turn + 1:
            broken.append(f"turn {self.turn} with {len(self.items)} items")
        reply, item = f"resp_{self.turn}", f"answer_{self.turn}"
        of = {"response_id": reply, "item_id": item, "output_index": 0, "content_index": 0}
        state = {"object": "realtime.response", "id": reply, "status_details": None, "output_modalities": asked["output_modalities"], "max_output_tokens": asked.get("max_output_tokens", "inf"),
                 "audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "marin"}}, "conversation_id": "conv_1", "metadata": None}
        await self.send("response.created", response={**state, "status": "in_progress", "output": [], "usage": None})
        message = {"id": item, "object": "realtime.item", "type": "message", "role": "assistant"}
        await self.send("response.output_item.added", response_id=reply, output_index=0, item={**message, "status": "in_progress", "content": []})
        await self.send("conversation.item.added", previous_item_id=None, item={**message, "status": "in_progress", "content": []})
        part = {"type": "audio", "transcript": ""} if speaks else {"type": "text", "text": ""}
        await self.send("response.content_part.added", part=part, **of)
        start, sent, text = came + 0.100 + 0.050 * self.turn, [], ""
        for k in range(TOKENS):
            gap = 0.200 if speaks and k > TOKENS // 2 else 0  # once the sound stands still
            await asyncio.sleep(start + k * GAP + gap - time.monotonic())
            sent.append(time.monotonic() - came)
            if speaks and k % 4:
                sound = base64.b64encode(self.rng.randbytes(PIECE)).decode()
                await self.send("response.output_audio.delta", delta=sound, **of)
                continue
            text += f"word{k} "
            await self.send("response.output_audio_transcript.delta" if speaks else "response.output_text.delta", delta=f"word{k} ", **of)
        if speaks:
            await self.send("response.output_audio.done", **of)
            await self.send("response.output_audio_transcript.done", transcript=text, **of)
        else:
            await self.send("response.output_text.done", text=text, **of)
        content = [{"type": "output_audio", "transcript": text}] if speaks else [{"type": "output_text", "text": text}]
        done = {**message, "status": "completed", "content": content}
        self.items.append(done)
        await self.send("response.output_item.done", response_id=reply, output_index=0, item=done)
        await self.send("conversation.item.done", previous_item_id=None, item=done)
        usage = {"total_tokens": 30 + TOKENS, "input_tokens": 30, "output_tokens": TOKENS,
                 "input_token_details": {"text_tokens": 20, "audio_tokens": 10, "image_tokens": 0, "cached_tokens": 8, "cached_tokens_details": {"text_tokens": 8, "audio_tokens": 0, "image_tokens": 0}},
                 "output_token_details": {"text_tokens": TOKENS // 4, "audio_tokens": TOKENS - TOKENS // 4}}
        await self.send("response.done", response={**state, "status": "completed", "output": [done], "usage": usage})
        await self.send("rate_limits.updated", rate_limits=[{"name": "tokens", "limit": 50000, "remaining": 49950, "reset_seconds": 0.01}])
        truth[self.name, self.turn] = sent, self.heard
        self.turn += 1


async def connection(ws):
    if ws.request.path != "/v1/realtime?model=m":
        broken.append(f"path {ws.request.path}")
    s = Session(ws, ws.request.headers["X-Request-ID"])
    await s.send("session.created", session={"type": "realtime", "object": "realtime.session", "id": "sess_1", "model": "m", "output_modalities": ["audio"]})
    async for message in ws:
        await s.take(json.loads(message), time.monotonic())


def bench(program, port, work, *flags):
    subprocess.run([program, "bench", f"ws://127.0.0.1:{port}/v1/realtime", "--model", "m", "--preflight", "none", "--concurrency", "2", "--warmup", "0",
                    "--out", work, "--force", "--quiet", *flags], stdout=subprocess.DEVNULL, check=True)
    lines = subprocess.run([program, "export", work, "--as", "jsonl"], capture_output=True, check=True, text=True).stdout
    records = [json.loads(line) for line in lines.splitlines()]
    for r in records:
        if r["outcome"] != "ok" or r["http_status"] != 101 or r["output_tokens"] != TOKENS or r["input_tokens"] != 30 or r["cached_tokens"] != 8 or r["chunks"] != TOKENS:
            broken.append(f"{r['outcome']} {r['error']}: {r['input_tokens']} in, {r['output_tokens']} out in {r['chunks']}")
    return records


def waits(sound):
    """How long a player waits that begins with the first of pieces that play 20 ms each."""
    clock, waited = sound[0], 0
    for came in sound:
        if came > clock:
            waited, clock = waited + came - clock, came
        clock += PIECE / 48_000
    return waited


def compare(records, errors):
    first = None
    for r in sorted(records, key=lambda r: (r["session"] or r["id"], r["turn"] or 0)):
        if not r["turn"]:
            first = r["id"]  # the handshake has the name of its first turn
        sent, heard = truth[first, r["turn"] or 0]
        errors["TTFT"].append(1000 * abs(r["service_ttft_ms"] / 1000 - sent[0]))
        errors["gap"] += [abs(gap - 1000 * (sent[k + 1] - sent[k])) for k, gap in enumerate(r["icl_ms"])]
        if r["ttfa_ms"] is None:
            continue
        sound = [at for k, at in enumerate(sent) if k % 4]
        errors["TTFA"].append(abs(r["ttfa_ms"] - r["ttft_ms"] - 1000 * (sound[0] - sent[0])))
        errors["starved"].append(abs(r["starved_ms"] - 1000 * waits(sound)))
        if abs(r["audio_s"] - len(sound) * PIECE / 48_000) > 1e-6 or heard != 48_000:
            broken.append(f"{r['audio_s']} s of sound came, {heard} bytes were heard")


async def official(port):
    """The official client against the simulator: text, then sound for sound."""
    client = AsyncOpenAI(api_key="sk-none", base_url=f"http://127.0.0.1:{port}/v1", websocket_base_url=f"ws://127.0.0.1:{port}/v1")
    async with client.realtime.connect(model="sim") as c:
        await c.session.update(session={"type": "realtime", "output_modalities": ["text"]})
        await c.conversation.item.create(item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one two three"}]})
        await c.response.create(response={"max_output_tokens": 12})
        done, text, _, _ = await reply_of(c)
        if len(text.split()) != 12 or done.output[0].content[0].text != text or done.usage.input_tokens != 3 or done.usage.output_tokens != 12 or done.status_details.reason != "max_output_tokens":
            broken.append(f"the official client reads {done}")
        await c.input_audio_buffer.append(audio=base64.b64encode(bytes(96_000)).decode())
        await c.input_audio_buffer.commit()
        await c.response.create(response={"output_modalities": ["audio"], "max_output_tokens": 12})
        done, _, transcript, sound = await reply_of(c)
        if len(transcript.split()) != 3 or sound != 9 * 3840 or done.output[0].content[0].transcript != transcript:
            broken.append(f"the official client hears {sound} bytes and {transcript!r}")
        if done.usage.input_tokens != 3 + 12 + 20 or done.usage.input_token_details.audio_tokens != 20 or done.usage.output_token_details.audio_tokens != 9:
            broken.append(f"the official client counts {done.usage}")


async def reply_of(c):
    text = transcript = ""
    sound = 0
    async for e in c:
        if e.type == "response.output_text.delta":
            text += e.delta
        elif e.type == "response.output_audio_transcript.delta":
            transcript += e.delta
        elif e.type == "response.output_audio.delta":
            sound += len(base64.b64decode(e.delta))
        elif e.type == "error":
            broken.append(f"the official client is told {e.error}")
        elif e.type == "response.done":
            return e.response, text, transcript, sound


def simulator(program):
    with socket.create_server(("127.0.0.1", 0)) as s:
        port = s.getsockname()[1]
    server = subprocess.Popen([program, "sim", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                time.sleep(0.05)
        asyncio.run(asyncio.wait_for(official(port), 30))
    finally:
        server.terminate()
        server.wait()


def main():
    program, ready, loop, port = sys.argv[1], threading.Event(), asyncio.new_event_loop(), 0

    async def listen():
        nonlocal port
        server = await serve(connection, "127.0.0.1", 0, compression=None)
        port = server.sockets[0].getsockname()[1]
        ready.set()
        await asyncio.Future()

    threading.Thread(target=lambda: loop.run_until_complete(listen()), daemon=True).start()
    ready.wait()
    errors = {"TTFT": [], "gap": [], "TTFA": [], "starved": []}
    with tempfile.TemporaryDirectory() as work:
        with open(work + "/talk.yaml", "w") as f:
            f.write(f"name: talk\ninput: 30\noutput: {TOKENS}\nturns: {TURNS}\n")
        talk = bench(program, port, work + "/talk", "--workload", work + "/talk.yaml", "--requests", str(TURNS * SESSIONS))
        compare(talk, errors)
        spoken = bench(program, port, work + "/sound", "--audio", "1", "--parameters", '{"output_modalities":["audio"]}', "--requests", str(SPOKEN))
        compare(spoken, errors)
    opened = sum(not r["connection_reused"] for r in talk)
    if len(talk) != TURNS * SESSIONS or opened != SESSIONS or len(spoken) != SPOKEN:
        broken.append(f"{len(talk)} turns over {opened} connections, {len(spoken)} spoken")
    simulator(program)
    for name, all in errors.items():
        all.sort()
        print(f"{name}: {len(all)} of them, error p50 {statistics.median(all):.3f} ms, p99 {all[len(all) * 99 // 100]:.3f} ms, max {all[-1]:.3f} ms")
    for words in broken:
        print("broken:", words)
    sys.exit(bool(broken) or any(statistics.median(all) >= 1 for all in errors.values()))


main()
