"""A network and a clock that are played: a client's own code reads a scripted reply, and each
of its looks at the clock is answered by when the script's last read came.
"""

import asyncio
import json
import time

PROMPT = 16  # as in shapes.py
ORIGIN = 1000.0  # seconds; not 0, which some take for no time


class Clock:
    now = ORIGIN
    tick = 0.0  # seconds that each look takes, for those that divide by what lies between two


def seconds():
    Clock.now += Clock.tick
    return Clock.now


def nanoseconds():
    return round(Clock.now * 1e9)


# Before a client is imported, which may take the functions by name.
time.perf_counter = time.monotonic = time.time = seconds
time.perf_counter_ns = time.monotonic_ns = time.time_ns = nanoseconds


class Play:
    """One request: its reads move the clock as they are taken."""

    def __init__(self, request):
        self.request, self.sent = request, ORIGIN + request["sent_ms"] / 1000
        Clock.now = self.sent
        self.status, self.end = request["status"], request["end"]

    def to(self, ms):
        Clock.now = max(Clock.now, self.sent + ms / 1000)

    def begin(self):
        self.to(self.request["head_ms"])
        return self

    def reads(self, broken):
        """The bytes as they come; broken is raised where the connection breaks."""
        for ms, data in self.request["reads"]:
            self.to(ms)
            yield data.encode()
        self.to(self.request["end_ms"])
        if self.end == "reset":
            raise broken

    def lines(self, broken):
        """The same, by lines with their ends."""
        rest = b""
        for data in self.reads(broken):
            *whole, rest = (rest + data).split(b"\n")
            for line in whole:
                yield line + b"\n"
        if rest:
            yield rest


class Session:
    """Stands for aiohttp's ClientSession: post answers with what is played."""

    def __init__(self, play):
        self.play = play

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    def post(self, *_, **__):
        return Response(self.play)


class Response:
    reason = "no"
    headers = {"Content-Type": "text/event-stream"}
    ok = property(lambda self: self.status < 400)

    def __init__(self, play):
        self.play, self.status, self.content = play, play.status, Content(play)

    async def __aenter__(self):
        self.play.begin()
        return self

    async def __aexit__(self, *_):
        pass

    async def read(self):
        return b"".join(self.play.reads(broken()))

    async def text(self, *_):
        return (await self.read()).decode()

    async def json(self, *_, **__):
        return json.loads(await self.read())


class Content:
    """aiohttp's StreamReader: by what comes, and by lines."""

    def __init__(self, play):
        self.play = play

    async def iter_any(self):
        for data in self.play.reads(broken()):
            yield data

    iter_chunked = lambda self, _: self.iter_any()  # noqa: E731

    async def __aiter__(self):
        for line in self.play.lines(broken()):
            yield line


def broken():
    import aiohttp

    return aiohttp.ClientPayloadError("Response payload is not completed")


class Letters:
    """A tokenizer of which each letter is a token."""

    vocab_size = 256

    def encode(self, text, **_):
        return list(text.encode())

    def __call__(self, text, **_):
        return type("Encoded", (), {"input_ids": self.encode(text)})()


def window(requests):
    """Seconds from the first send to the end of the last body."""
    return (max(r["sent_ms"] + r["end_ms"] for r in requests) - min(r["sent_ms"] for r in requests)) / 1000


def run(coroutine):
    return asyncio.new_event_loop().run_until_complete(coroutine)
