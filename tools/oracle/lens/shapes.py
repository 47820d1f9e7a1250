"""Scripted replies of awkward forms, as other tools' clients are asked to read them.

    python3 tools/oracle/lens/shapes.py     writes record/metric/lens/testdata/peers/shapes.json

A shape is a list of requests, a request when it is sent, its status, and the reads of its
body with their times in ms since it was sent. The letters are the tokens: each is one.
"""

import json
import pathlib
import random

OUT = pathlib.Path(__file__).resolve().parents[3] / "record/metric/lens/testdata/peers"
PROMPT = 16  # tokens of each prompt, letters too


class Reply:
    """One request and its reply; at and gap move the clock, in ms."""

    def __init__(self, sent=0, status=200, head=20, asked=64, completions=False):
        self.sent, self.status, self.head, self.asked, self.completions = sent, status, head, asked, completions
        self.reads, self.now, self.end = [], 0, "eof"

    def at(self, ms):
        self.now = ms
        return self

    def gap(self, ms):
        self.now += ms
        return self

    def raw(self, data):
        self.reads.append([round(self.now, 3), data])
        return self

    def event(self, data):
        return self.raw("data: " + (data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))) + "\n\n")

    def chunk(self, delta=None, finish=None, usage=None, choices=True, index=0):
        what = {"id": "r", "object": "text_completion" if self.completions else "chat.completion.chunk", "choices": []}
        if choices:
            inner = {"text": (delta or {}).get("content", "")} if self.completions else {"delta": delta if delta is not None else {}}
            what["choices"] = [{"index": index, **inner, "finish_reason": finish}]
        if usage:
            what["usage"] = used(*usage)
        return self.event(what)

    def text(self, letters=1, **more):
        return self.chunk({"content": "a" * letters}, **more)

    def tokens(self, n, first=200, gap=40):
        self.at(first).text()
        for _ in range(n - 1):
            self.gap(gap).text()
        return self

    def close(self, *usage):
        """The finish reason, the usage and [DONE], with their pauses."""
        self.gap(60).chunk({}, finish="stop")
        if usage:
            self.gap(30).chunk(choices=False, usage=usage)
        return self.gap(30).event("[DONE]").ends(10)

    def ends(self, ms, how="eof"):
        self.now += ms
        self.end = how
        return self


def used(output, reasoning=None, prompt=PROMPT):
    u = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    if reasoning is not None:
        u["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return u


def plain(sent, n, gap=40, **more):
    return Reply(sent, **more).tokens(n, gap=gap).close(n)


def failed(sent, status, after=50):
    r = Reply(sent, status, head=after).at(after).raw('{"error":{"message":"no","type":"server_error","code":%d}}' % status)
    return r.ends(0)


def others(*first):
    """Two ordinary replies beside those that are meant: an aggregate of nothing says little."""
    return [*first, plain(5000, 9), plain(5500, 6, gap=55)]


def reasons(sent, field, n=4, m=8):
    r = Reply(sent).at(150)
    for _ in range(n):
        r.chunk({field: "a"}).gap(30)
    for _ in range(m):
        r.text().gap(40)
    return r.close(n + m, n)


def many():
    """Forty requests side by side, of lengths and paces by chance."""
    draw = random.Random(7)
    out = []
    for _ in range(40):
        r = Reply(draw.randrange(0, 8000)).at(draw.randrange(50, 900)).text()
        n = draw.randrange(1, 20)
        for _ in range(n - 1):
            r.gap(draw.choice([5, 20, 20, 21, 300])).text()
        out.append(r.close(n))
    return out


def tied():
    r = Reply(0)
    r.at(200).raw("".join('data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}\n\n' for _ in range(6)))
    return r.close(6)


def split(sep):
    """Events cut in the middle, and lines that end in another way."""
    r = Reply(0)
    for i in range(5):
        line = 'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}' + sep * 2
        r.at(200 + 40 * i).raw(line[:30]).gap(15).raw(line[30:])
    return r.gap(60).raw('data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}' + sep * 2).gap(30).raw("data: [DONE]" + sep * 2).ends(10)


def choices():
    r = Reply(0).at(200)
    for i in range(8):
        r.chunk({"content": "a"}, index=i % 2).gap(25)
    return r.close(8)


def running():
    """Usage so far in every chunk, and the whole once more in the end."""
    r = Reply(0).at(200)
    for i in range(6):
        r.text(usage=(i + 1,)).gap(40)
    return r.close(6)


def tools():
    r = Reply(0).at(200).chunk({"tool_calls": [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}]})
    for _ in range(5):
        r.gap(40).chunk({"tool_calls": [{"index": 0, "function": {"arguments": "a"}}]})
    return r.gap(60).chunk({}, finish="tool_calls").gap(30).chunk(choices=False, usage=(7,)).gap(30).event("[DONE]").ends(10)


def broken(how, n=4):
    return Reply(0).tokens(n).ends(70, how)


def commented():
    r = Reply(0).at(100).raw(": ping\n\n").at(200)
    for _ in range(5):
        r.text().gap(20).raw(": ping\n\n").gap(20)
    return r.close(5)


SHAPES = {
    "one request": [plain(0, 7)],
    "two requests": [plain(0, 7), plain(400, 5, gap=61)],
    "many requests": many(),
    "one token": others(plain(0, 1)),
    "only one token": [plain(0, 1)],
    "two tokens": others(plain(0, 2)),
    "no token": others(Reply(0).at(80).chunk({"role": "assistant", "content": ""}).close(0)),
    "only no token": [Reply(0).at(80).chunk({"role": "assistant", "content": ""}).close(0)],
    "hidden tokens": others(Reply(0).at(80).chunk({"role": "assistant", "content": ""}).at(900).close(12, 12)),
    "hidden reasoning": others(Reply(0).tokens(5, first=900).close(30, 25)),
    "all in one chunk": others(Reply(0).at(200).text(20).close(20)),
    "several a chunk": others(Reply(0).at(200).text(3).gap(70).text(1).gap(80).text(5).gap(90).text(2).close(11)),
    "all in one read": others(tied()),
    "a long gap": others(Reply(0).tokens(4).gap(3000).text().gap(40).text().close(6)),
    "no usage": [plain(0, 4), Reply(700).tokens(6).close(), Reply(1500).tokens(5, gap=52).close()],
    "only no usage": [Reply(0).tokens(6).close(), Reply(1500).tokens(5, gap=52).close()],
    "usage beside the last token": others(Reply(0).tokens(4).gap(40).text(usage=(5,)).gap(60).chunk({}, finish="stop").gap(30).event("[DONE]").ends(10)),
    "usage beside the finish": others(Reply(0).tokens(5).gap(60).chunk({}, finish="stop", usage=(5,)).gap(30).event("[DONE]").ends(10)),
    "usage beside token and finish": others(Reply(0).tokens(4).gap(40).text(finish="length", usage=(5,)).gap(30).event("[DONE]").ends(10)),
    "usage so far": others(running()),
    "more tokens than chunks": others(Reply(0).tokens(5).close(9)),
    "fewer tokens than chunks": others(Reply(0).tokens(5).close(3)),
    "usage of nothing": others(Reply(0).tokens(5).close(0)),
    "no prompt in usage": others(Reply(0).tokens(5).gap(60).chunk({}, finish="stop").gap(30).event({"object": "chat.completion.chunk", "choices": [], "usage": {"completion_tokens": 5}}).gap(30).event("[DONE]").ends(10)),
    "asked for more": [Reply(0, asked=16).tokens(5).close(5), Reply(900, asked=16).tokens(7).close(7)],
    "asked for more, no usage": [Reply(0, asked=16).tokens(5).close(), Reply(900, asked=16).tokens(7).close()],
    "role first": others(Reply(0).at(80).chunk({"role": "assistant", "content": ""}).tokens(6).close(6)),
    "role alone": others(Reply(0).at(80).chunk({"role": "assistant"}).tokens(6).close(6)),
    "role with the text": others(Reply(0).at(200).chunk({"role": "assistant", "content": "a"}).gap(40).chunk({"role": "assistant", "content": "a"}).gap(40).chunk({"role": "assistant", "content": "a"}).close(3)),
    "role and null": others(Reply(0).at(80).chunk({"role": "assistant", "content": None}).tokens(6).close(6)),
    "an empty text between": others(Reply(0).at(200).text().gap(40).chunk({"content": ""}).gap(40).text().gap(40).text().close(4)),
    "an empty text at the end": others(Reply(0).tokens(4).gap(50).chunk({"content": ""}, finish="stop").gap(30).chunk(choices=False, usage=(5,)).gap(30).event("[DONE]").ends(10)),
    "finish beside the last token": others(Reply(0).tokens(4).gap(40).text(finish="length").gap(30).chunk(choices=False, usage=(5,)).gap(30).event("[DONE]").ends(10)),
    "reasoning": others(reasons(0, "reasoning")),
    "reasoning_content": others(reasons(0, "reasoning_content")),
    "reasoning under both names": others(Reply(0).at(150).chunk({"reasoning": "a", "reasoning_content": "a"}).gap(30).chunk({"reasoning": "a", "reasoning_content": "a"}).gap(40).text().gap(40).text().close(4, 2)),
    "reasoning and text in one": others(Reply(0).at(150).chunk({"reasoning_content": "a"}).gap(30).chunk({"reasoning_content": "a", "content": "a"}).gap(40).text().close(4, 2)),
    "reasoning alone": others(reasons(0, "reasoning", m=0)),
    "a call of a tool": others(tools()),
    "refusal": others(Reply(0).at(200).chunk({"refusal": "a"}).gap(40).chunk({"refusal": "a"}).close(2)),
    "two choices": others(choices()),
    "comments": others(commented()),
    "no [DONE]": others(Reply(0).tokens(5).gap(60).chunk({}, finish="stop").gap(30).chunk(choices=False, usage=(5,)).ends(40)),
    "no finish": others(Reply(0).tokens(5).gap(30).chunk(choices=False, usage=(5,)).gap(30).event("[DONE]").ends(10)),
    "cut off": others(broken("eof")),
    "broken": others(broken("reset")),
    "broken before a token": others(Reply(0).at(80).chunk({"role": "assistant", "content": ""}).ends(300, "reset")),
    "an error in the stream": others(Reply(0).tokens(4).gap(40).event({"error": {"message": "out of memory", "type": "server_error", "code": 500}}).ends(30)),
    "an error before a token": others(Reply(0).at(100).event({"error": {"message": "out of memory", "type": "server_error", "code": 500}}).ends(30)),
    "no JSON": others(Reply(0).tokens(3).gap(40).event("oops").gap(40).text().close(4)),
    "http errors": others(failed(0, 500), failed(100, 429), failed(300, 400)),
    "the last fails": [plain(0, 6), plain(400, 5), failed(900, 503, after=2500)],
    "all fail": [failed(0, 500), failed(100, 429)],
    "events in pieces": others(split("\n")),
    "slow to close": others(Reply(0).tokens(6).close(6).ends(1500)),
    "after [DONE]": others(Reply(0).tokens(4).gap(40).event("[DONE]").gap(40).chunk(choices=False, usage=(4,)).ends(40)),
    "completions": [Reply(0, completions=True).tokens(6).close(6), Reply(800, completions=True).tokens(4).close(4)],
    "completions, an empty text": [Reply(0, completions=True).at(80).chunk({"content": ""}).tokens(6).close(7), Reply(1200, completions=True).tokens(4).close(4)],
}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    lines = []
    for name, replies in SHAPES.items():
        requests = [{"sent_ms": r.sent, "api": "openai-completions" if r.completions else "openai-chat", "status": r.status, "head_ms": r.head, "asked": r.asked, "reads": r.reads, "end": r.end, "end_ms": round(r.now, 3)} for r in replies]
        lines.append(json.dumps({"shape": name, "requests": requests}, separators=(",", ":")))
    (OUT / "shapes.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
