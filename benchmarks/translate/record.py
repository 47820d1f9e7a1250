"""A server that writes down what it is asked: record.py FILE TOKENIZER. It prints its port,
and for each POST a line of JSON into FILE: when it came, the path, how many are being
answered, and the body. Answers are of as many tokens as are asked for, in OpenAI's and
SGLang's forms, and prompts are counted; vectors and scores are constant.
"""

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIRST, GAP = 0.03, 0.004  # seconds to the first token, and between tokens
TEMPLATE = 5  # tokens that a chat template adds
log = tokenizer = None
lock = threading.Lock()
busy = 0


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.endswith("/models"):
            self.whole({"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "x", "max_model_len": 32768}]})
        elif "info" in self.path:
            self.whole({"model_path": "m"})
        else:
            self.whole({}, 200 if self.path in ("/health", "/ping") else 404)

    def do_POST(self):
        global busy
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while n := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(n)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        came = time.monotonic()
        asked = json.loads(body)
        with lock:
            busy += 1
            log.write(json.dumps({"t": came, "path": self.path, "busy": busy, "body": asked}) + "\n")
        try:
            self.answer(asked)
        except OSError:
            pass
        finally:
            with lock:
                busy -= 1

    def whole(self, what, status=200):
        data = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def event(self, what):
        data = ("data: " + (what if isinstance(what, str) else json.dumps(what)) + "\n\n").encode()
        self.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")
        self.wfile.flush()

    def answer(self, asked):
        if "/embeddings" in self.path:
            time.sleep(FIRST)
            read = sum(tokens(text) for text in texts(asked))
            return self.whole({"object": "list", "model": "m", "usage": {"prompt_tokens": read, "total_tokens": read},
                               "data": [{"object": "embedding", "index": i, "embedding": [0.5] * 4} for i in range(len(texts(asked)))]})
        if "rerank" in self.path:
            time.sleep(FIRST)
            return self.whole({"id": "x", "model": "m", "usage": {"total_tokens": 9}, "results": [{"index": i, "relevance_score": 0.5} for i in range(len(texts(asked)))]})
        count = length(asked) or 16
        read = sum(tokens(text) for text in texts(asked)) + ("messages" in asked) * TEMPLATE
        usage = {"prompt_tokens": read, "completion_tokens": count, "total_tokens": read + count}
        chat, native = "chat" in self.path, self.path.startswith("/generate")
        words = "hi " * count
        if not asked.get("stream"):
            time.sleep(FIRST + GAP * count)
            if native:
                return self.whole({"text": words, "meta_info": meta(read, count, True)})
            choice = {"message": {"role": "assistant", "content": words}} if chat else {"text": words}
            return self.whole({"id": "x", "object": "chat.completion" if chat else "text_completion", "created": 1, "model": "m",
                               "choices": [{"index": 0, "finish_reason": "length", **choice}], "usage": usage})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        time.sleep(FIRST)
        kind = {"id": "x", "object": "chat.completion.chunk" if chat else "text_completion", "created": 1, "model": "m"}
        for i in range(count):
            if i:
                time.sleep(GAP)
            last = i == count - 1
            if native:
                self.event({"text": "hi " * (i + 1), "meta_info": meta(read, i + 1, last)})
                continue
            part = {"delta": {"content": "hi "}} if chat else {"text": "hi "}
            self.event({**kind, "choices": [{"index": 0, "finish_reason": "length" if last else None, **part}]})
        if (asked.get("stream_options") or {}).get("include_usage"):
            self.event({**kind, "choices": [], "usage": usage})
        self.event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")


def meta(read, count, last):
    return {"id": "x", "prompt_tokens": read, "completion_tokens": count, "finish_reason": {"type": "length"} if last else None}


def length(asked):
    """The length that is asked for."""
    inner = asked.get("sampling_params") or asked.get("parameters") or {}
    for where in asked, inner:
        for name in "max_completion_tokens", "max_tokens", "max_output_tokens", "max_new_tokens":
            if where.get(name):
                return where[name]
    return None


def texts(body):
    """The texts of a request."""
    if "messages" in body:
        return [" ".join(m["content"] if isinstance(m["content"], str) else " ".join(c.get("text", "") for c in m["content"]) for m in body["messages"])]
    what = body.get("documents") or body.get("prompt") or body.get("input") or body.get("text") or body.get("inputs") or ""
    return what if isinstance(what, list) and what and isinstance(what[0], str) else [what]


def tokens(text):
    return len(text) if isinstance(text, list) else len(tokenizer.encode(text, add_special_tokens=False).ids)


class Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True


if __name__ == "__main__":
    from tokenizers import Tokenizer

    log, tokenizer = open(sys.argv[1], "w", buffering=1), Tokenizer.from_file(sys.argv[2] + "/tokenizer.json")
    server = Server(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
