#!/usr/bin/env python3
"""What `tokenmeter bench --http2` does with servers that break the rules of HTTP/2.

usage: http2_server.py TOKENMETER [-v]

A table: of each server the run's exit code, whether it was over in time and kept
its memory, and how its four requests ended. –: chance. -v says more.
"""
import gzip
import json
import os
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from frames import CONTINUATION, DATA, END, GOAWAY, HEADERS, PADDED, PING, PUSH, RESET, SETTINGS, WHOLE, WINDOW, fields, frame, number
from upstream import EVENT, Upstream

LAST = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
OK = fields((b':status', b'200'), (b'content-type', b'text/event-stream'))
CODE = {'none': 0, 'protocol': 1, 'internal': 2, 'flow': 3, 'refused': 7, 'cancel': 8, 'calm': 11, 'http1': 13}


def code(name):
    return struct.pack('>I', CODE[name])


def goaway(last, why='none'):
    return frame(GOAWAY, 0, 0, struct.pack('>I', last) + code(why))


def setting(key, value):
    return frame(SETTINGS, 0, 0, struct.pack('>HI', key, value))


def head(stream, flags=WHOLE, block=OK):
    return frame(HEADERS, flags, stream, block)


def tokens(stream, n=3):
    return b''.join(frame(DATA, 0, stream, EVENT) for _ in range(n))


def reply(stream):
    return head(stream) + tokens(stream) + frame(DATA, END, stream, LAST)


def forever(what):
    """Sends it until the client has had enough."""
    def send(c, stream):
        until = time.time() + 8
        while time.time() < until:
            c.sendall(what(stream) if callable(what) else what)
    return send


def once(*parts):
    """Sends the parts with a pause between."""
    def send(c, stream):
        for what in parts:
            c.sendall(what(stream))
            time.sleep(.05)
    return send


def first_then(first, then):
    """The first request of all is treated in one way, the others in another."""
    seen = []

    def send(c, stream):
        seen.append(stream)
        (first if len(seen) == 1 else then)(c, stream)
    return send


good = once(reply)
# Name, what the connection begins with, what each request is answered with.
SERVERS = [
    ('a plain server', setting(3, 100), good),
    ('no SETTINGS at all', b'', good),
    ('nothing but SETTINGS', setting(3, 100), once()),
    ('HTTP/1.1', b'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', once()),
    ('GOAWAY at once', setting(3, 100) + goaway(0), once()),
    ('GOAWAY of none, each connection', setting(3, 100), once(lambda s: goaway(0))),
    ('GOAWAY, and the reply goes on', setting(3, 100), once(lambda s: head(s) + tokens(s), lambda s: goaway(0x7fffffff), lambda s: frame(DATA, END, s, LAST))),
    ('GOAWAY of an error in mid-stream', setting(3, 100), once(lambda s: head(s) + tokens(s), lambda s: goaway(s, 'internal'))),
    ('RST of refused, the first time', setting(3, 100), first_then(once(lambda s: frame(RESET, 0, s, code('refused'))), good)),
    ('RST of refused, always', setting(3, 100), once(lambda s: frame(RESET, 0, s, code('refused')))),
    ('RST to use HTTP/1.1', setting(3, 100), once(lambda s: frame(RESET, 0, s, code('http1')))),
    ('RST to be calm', setting(3, 100), once(lambda s: frame(RESET, 0, s, code('calm')))),
    ('RST of cancel in mid-stream', setting(3, 100), once(lambda s: head(s) + tokens(s), lambda s: frame(RESET, 0, s, code('cancel')))),
    ('RST of no error in mid-stream', setting(3, 100), once(lambda s: head(s) + tokens(s), lambda s: frame(RESET, 0, s, code('none')))),
    ('RST after the whole reply', setting(3, 100), once(lambda s: head(s) + tokens(s) + frame(DATA, 0, s, LAST), lambda s: frame(RESET, 0, s, code('none')))),
    ('the end with the head', setting(3, 100), once(lambda s: head(s, WHOLE | END))),
    ('one stream at a time', setting(3, 1), good),
    ('no stream at a time', setting(3, 0), once()),
    ('no window for the request', setting(4, 0), once()),
    ('a window beyond its limit', setting(4, 0x80000000), once()),
    ('frames of 1 byte', setting(5, 1), once()),
    ('the window closes', setting(3, 100), once(lambda s: setting(4, 0), reply)),
    ('more than the window', setting(3, 100), forever(lambda s: head(s) + frame(DATA, 0, s, b'x' * 16000) * 600)),
    ('a table of no size', setting(1, 0), good),
    ('interim heads without end', setting(3, 100), forever(lambda s: head(s, WHOLE, fields((b':status', b'103'))) * 100)),
    ('a head without end', setting(3, 100), lambda c, s: (c.sendall(head(s, 0)), forever(frame(CONTINUATION, 0, s, fields((b'x-a', b'v' * 4000))))(c, s))),
    ('a head that unpacks to 48 MB', setting(3, 100), once(lambda s: head(s, 0) + frame(CONTINUATION, WHOLE, s, b'\x40\1a' + number(4000) + b'v' * 4000 + b'\xbe' * 12000))),
    ('HPACK that is none', setting(3, 100), once(lambda s: head(s, WHOLE, b'\xff' * 8))),
    ('DATA before the head', setting(3, 100), once(tokens)),
    ('DATA of nothing without end', setting(3, 100), forever(lambda s: (frame(DATA, 0, s)) * 1000)),
    ('head, DATA of nothing without end', setting(3, 100), lambda c, s: (c.sendall(head(s)), forever(frame(DATA, 0, s) * 1000)(c, s))),
    ('padding without end', setting(3, 100), lambda c, s: (c.sendall(head(s)), forever(frame(DATA, PADDED, s, b'\xff' + b'\0' * 255) * 10)(c, s))),
    ('PINGs without end', setting(3, 100), forever(frame(PING, 0, 0, bytes(8)) * 1000)),
    ('SETTINGS without end', setting(3, 100), forever(setting(3, 100) * 1000)),
    ('a pushed request', setting(3, 100), once(lambda s: frame(PUSH, WHOLE, s, struct.pack('>I', 2) + OK))),
    ('a reply on a stream nobody opened', setting(3, 100), once(lambda s: reply(s + 100))),
    ('two heads', setting(3, 100), once(lambda s: head(s) + tokens(s) + head(s) + frame(DATA, END, s, LAST))),
    ('trailers at the end', setting(3, 100), once(lambda s: head(s) + tokens(s) + frame(DATA, 0, s, LAST) + head(s, WHOLE | END, fields((b'x-t', b'1'))))),
    ('trailers with :status', setting(3, 100), once(lambda s: head(s) + tokens(s) + frame(DATA, 0, s, LAST) + head(s, WHOLE | END))),
    ('less than its length', setting(3, 100), once(lambda s: head(s, WHOLE, OK + fields((b'content-length', b'9999'))) + tokens(s) + frame(DATA, END, s, LAST))),
    ('more than its length', setting(3, 100), once(lambda s: head(s, WHOLE, OK + fields((b'content-length', b'10'))) + tokens(s) + frame(DATA, END, s, LAST))),
    ('no :status', setting(3, 100), once(lambda s: head(s, WHOLE, fields((b'content-type', b'text/event-stream'))) + tokens(s))),
    (':status of letters', setting(3, 100), once(lambda s: head(s, WHOLE, fields((b':status', b'abc'))) + tokens(s))),
    (':status 99999', setting(3, 100), once(lambda s: head(s, WHOLE, fields((b':status', b'99999'))) + tokens(s))),
    (':status 101', setting(3, 100), once(lambda s: head(s, WHOLE, fields((b':status', b'101'))) + tokens(s))),
    ('a value with CR LF', setting(3, 100), once(lambda s: head(s, WHOLE, OK + fields((b'x-a', b'1\r\ninner: 1'))) + tokens(s) + frame(DATA, END, s, LAST))),
    ('WINDOW_UPDATE of 0', setting(3, 100), once(lambda s: head(s) + frame(WINDOW, 0, s, bytes(4)))),
    ('a frame of 16 MB', setting(3, 100), forever(lambda s: head(s) + b'\xff\xff\xff' + bytes([DATA, 0]) + struct.pack('>I', s) + b'x' * 100000)),
    ('silence after a token', setting(3, 100), once(lambda s: head(s) + tokens(s))),
    ('closed within a frame', setting(3, 100), lambda c, s: (c.sendall(head(s) + tokens(s)[:-20]), c.shutdown(socket.SHUT_RDWR))),
    ('closed after the request', setting(3, 100), lambda c, s: c.shutdown(socket.SHUT_RDWR)),
    ('Retry-After of nonsense', setting(3, 100), once(lambda s: head(s, WHOLE | END, fields((b':status', b'429'), (b'retry-after', b'-1e400'))))),
    ('two codings in two fields', setting(3, 100), once(lambda s: head(s, WHOLE, OK + fields((b'content-encoding', b'gzip'), (b'content-encoding', b'gzip'))) + frame(DATA, END, s, gzip.compress(gzip.compress(EVENT * 3 + LAST))))),
    ('a coding that is none', setting(3, 100), once(lambda s: head(s, WHOLE, OK + fields((b'content-encoding', b'gzip'))) + frame(DATA, END, s, EVENT))),
]


# Which of the requests on a connection are answered before it ends is chance.
CHANCE = ['frames of 1 byte', 'the window closes', 'trailers with :status', 'closed within a frame', 'GOAWAY of an error in mid-stream', 'a window beyond its limit', 'interim heads without end']


class Server(Upstream):
    """Speaks frames: a hello, and an answer when a request has come whole."""

    def __init__(self, hello, answer):
        self.hello, self.answer = hello, answer
        super().__init__(64)

    def handle(self, c):
        c.sendall(self.hello)
        buf = b''
        c.settimeout(20)
        lock = threading.Lock()

        class Out:
            def sendall(_, data):
                with lock:
                    c.sendall(data)
            shutdown = c.shutdown

        def safely(stream):
            try:
                self.answer(Out(), stream)
            except OSError:
                pass
        preface = True
        while True:
            data = c.recv(65536)
            if not data:
                return
            buf += data
            if preface:
                if len(buf) < 24:
                    continue
                buf, preface = buf[24:], False
            while len(buf) >= 9 and len(buf) >= 9 + int.from_bytes(buf[:3], 'big'):
                n = 9 + int.from_bytes(buf[:3], 'big')
                f, buf = buf[:n], buf[n:]
                kind, flags, stream = f[3], f[4], int.from_bytes(f[5:9], 'big') & 0x7fffffff
                if kind == SETTINGS and not flags & 1:
                    try:
                        with lock:
                            c.sendall(frame(SETTINGS, 1, 0))
                    except OSError:
                        return
                if kind in (HEADERS, DATA) and flags & END:
                    threading.Thread(target=safely, args=(stream,), daemon=True).start()


def measured(binary, hello, answer, folder):
    """How a run of four requests ended: its exit code, seconds, peak in MB, and what became of the requests."""
    server = Server(hello, answer)
    out = os.path.join(folder, str(server.port))
    start = time.time()
    p = subprocess.Popen([binary, 'bench', f'http://127.0.0.1:{server.port}', '--http2', '--preflight', 'none', '--model', 'm', '--warmup', '0',
                          '--server-metrics', 'off', '--requests', '4', '--concurrency', '2', '--timeout', '4s', '--idle-timeout', '2s', '--connect-timeout', '2s',
                          '--out', out, '--quiet'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while p.poll() is None and time.time() < start + 40:
        try:
            with open(f'/proc/{p.pid}/status') as f:
                peak = max([peak] + [int(line.split()[1]) for line in f if line.startswith('VmHWM')])
        except OSError:
            pass
        time.sleep(.05)
    took = time.time() - start
    if p.poll() is None:
        p.kill()
    server.listener.close()
    with open(os.path.join(out, 'run.json')) as f:
        requests = json.load(f)['requests']
    return p.wait(), took, peak >> 10, {**requests['by_class'], **requests['excluded']}


def main():
    with tempfile.TemporaryDirectory() as folder:
        print('bench --http2: the exit code, in time, in memory, how its requests ended')
        for name, hello, answer in SERVERS:
            code, took, peak, ends = measured(sys.argv[1], hello, answer, folder)
            words = '–' if name in CHANCE else ', '.join(c for c, n in sorted(ends.items()) if n)
            print(f'{name:34} {"–" if name in CHANCE else code} {"in time" if took < 20 else "LATE   "} {"small" if peak < 200 else "LARGE"} {words}', flush=True)
            if '-v' in sys.argv:
                print(f'    {took:.1f} s, {peak} MB, {ends}')


main()
