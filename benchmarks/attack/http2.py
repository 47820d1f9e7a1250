#!/usr/bin/env python3
"""What tokenmeter's proxy does with clients that break the rules of HTTP/2.

usage: http2.py TOKENMETER

One table: of each attack what came back (a status; whole: with its end; refused:
the stream was reset or the connection ended; –: chance), how many requests reached
the server (INNER: bytes of one in another's head), whether the server was let go,
and whether the next client was answered.
"""
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from frames import CONTINUATION, DATA, END, GOAWAY, HEADERS, PADDED, PING, PRIORITY, RESET, SETTINGS, WHOLE, WINDOW, fields, frame, number
from upstream import EVENT, HEAD, Upstream, chunk

CANCEL = struct.pack('>I', 8)
ASK = b'{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'
LAST = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


class Server(Upstream):
    """Answers each request with ten tokens; notes the heads and how many replies are open."""

    def __init__(self):
        self.heads, self.open, self.lock = [], 0, threading.Lock()
        super().__init__(1024)

    def handle(self, c):
        buf = b''
        while True:
            while b'\r\n\r\n' not in buf:
                data = c.recv(65536)
                if not data:
                    return
                buf += data
            head, _, buf = buf.partition(b'\r\n\r\n')
            length = re.search(rb'\r\ncontent-length: *(\d+)', head, re.I)
            while len(buf) < int(length.group(1) if length else 0):
                data = c.recv(65536)
                if not data:
                    return
                buf += data
            buf = b''
            if head.startswith(b'GET /v1/models '):  # the proxy's own
                c.sendall(b'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')
                continue
            with self.lock:
                self.heads.append(head)
                self.open += 1
            try:
                c.sendall(HEAD)
                for _ in range(10):
                    c.sendall(chunk(EVENT))
                    time.sleep(.02)
                c.sendall(chunk(LAST) + b'0\r\n\r\n')
            finally:
                with self.lock:
                    self.open -= 1


def head(*more, method=b'POST', path=b'/v1/chat/completions'):
    return fields((b':method', method), (b':scheme', b'http'), (b':authority', b'127.0.0.1'), (b':path', path),
                  (b'content-type', b'application/json'), *more)


DIGITS = {'00000': '0', '00001': '1', '00010': '2', '011001': '3', '011010': '4', '011011': '5', '011100': '6', '011101': '7',
          '011110': '8', '011111': '9'}


def status(block):
    """:status of a head, which Go writes first."""
    while block and block[0] & 0xe0 == 0x20:  # size of the table
        block = block[1:]
    if block[0] & 0x80:
        return {8: '200', 9: '204', 10: '206', 11: '304', 12: '400', 13: '404', 14: '500'}[block[0] & 0x7f]
    text = block[2:2 + (block[1] & 0x7f)]
    if not block[1] & 0x80:
        return text.decode()
    out, bits = '', ''
    for bit in ''.join(f'{b:08b}' for b in text):
        bits += bit
        if bits in DIGITS:
            out, bits = out + DIGITS[bits], ''
    return out[:3]


class Client:
    def __init__(self, port, settings=b''):
        self.s = socket.create_connection(('127.0.0.1', port))
        self.buf, self.gone = b'', False
        self.send(b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n' + frame(SETTINGS, 0, 0, settings))

    def send(self, *frames):
        try:
            self.s.settimeout(10)
            self.s.sendall(b''.join(frames))
        except OSError:
            self.gone = True

    def frames(self, seconds):
        until = time.time() + seconds
        while time.time() < until:
            while len(self.buf) >= 9 and len(self.buf) >= 9 + int.from_bytes(self.buf[:3], 'big'):
                n = 9 + int.from_bytes(self.buf[:3], 'big')
                f, self.buf = self.buf[:n], self.buf[n:]
                yield f[3], f[4], int.from_bytes(f[5:9], 'big') & 0x7fffffff, f[9:]
            try:
                self.s.settimeout(max(.01, until - time.time()))
                data = self.s.recv(65536)
            except TimeoutError:
                return
            except OSError:
                data = b''
            if not data:
                self.gone = True
                return
            self.buf += data

    def outcome(self, seconds, streams):
        """What came back, in words."""
        statuses, reset, over = [], False, set()  # over: streams that have ended
        for kind, flags, stream, payload in self.frames(seconds):
            if kind == SETTINGS and not flags & 1:
                self.send(frame(SETTINGS, 1, 0))
            if kind == HEADERS and not statuses:
                statuses.append(status(payload))
            reset = reset or kind == RESET and payload != bytes(4)
            if kind == GOAWAY and payload[4:8] != bytes(4):
                self.gone = True
                break
            if kind == RESET or kind in (HEADERS, DATA) and flags & END:
                over.add(stream)
                if len(over) >= streams:
                    break
        if reset or self.gone and not statuses:
            return 'refused'
        if statuses:
            return statuses[0] + (' whole' if over else '')
        return 'nothing'


def ask(stream, *more):
    return frame(HEADERS, WHOLE, stream, head(*more)) + frame(DATA, END, stream, ASK)


def with_head(*more, **how):
    return [frame(HEADERS, WHOLE, 1, head(*more, **how)) + frame(DATA, END, 1, ASK)]


def many(n, what):
    return [what(1 + 2 * i) for i in range(n)]


LENGTH = (b'content-length', b'%d' % len(ASK))
OPEN = frame(HEADERS, WHOLE, 1, head())
# Name, frames in groups with a pause of 0.1 s between, and what differs from: one
# stream, 5 s, no settings, and no flood, of which chance says how many get through.
ATTACKS = [
    ('a plain request', [ask(1)], {}),
    ('CONTINUATION without end', [frame(HEADERS, 0, 1, head()) + frame(CONTINUATION, 0, 1, fields((b'x-a', b'v' * 100))) * 20000], {}),
    ('CONTINUATION of nothing', [frame(HEADERS, 0, 1, head()) + frame(CONTINUATION, 0, 1) * 50000], {}),
    ('5,000 requests, reset at once', many(5000, lambda i: ask(i) + frame(RESET, 0, i, CANCEL)), {'flood': True, 'pause': 0}),
    ('5,000 heads, reset at once', many(5000, lambda i: frame(HEADERS, WHOLE | END, i, head()) + frame(RESET, 0, i, CANCEL)), {'flood': True, 'pause': 0}),
    ('1,500 requests at once', many(1500, ask), {'flood': True, 'pause': 0, 'streams': 1500}),
    ('a window of 0, 30 streams', many(30, ask), {'settings': struct.pack('>HI', 4, 0), 'pause': 0, 'seconds': 1}),
    ('GOAWAY in mid-stream', [ask(1), frame(GOAWAY, 0, 0, bytes(8))], {}),
    ('RST in mid-stream', [ask(1), frame(RESET, 0, 1, CANCEL)], {'seconds': 1}),
    ('RST after half a body', [frame(HEADERS, WHOLE, 1, head(LENGTH)) + frame(DATA, 0, 1, ASK[:30]), frame(RESET, 0, 1, CANCEL)], {'seconds': 1}),
    ('gone within a DATA frame', [frame(HEADERS, WHOLE, 1, head(LENGTH)) + frame(DATA, 0, 1, ASK)[:40]], {'seconds': .3}),
    ('trailers of framing', [OPEN + frame(DATA, 0, 1, ASK) + frame(HEADERS, WHOLE | END, 1, fields((b'transfer-encoding', b'chunked'), (b'content-length', b'3')))], {}),
    ('trailers with :path', [OPEN + frame(DATA, 0, 1, ASK) + frame(HEADERS, WHOLE | END, 1, fields((b':path', b'/inner')))], {}),
    ('trailers that do not end', [OPEN + frame(DATA, 0, 1, ASK) + frame(HEADERS, WHOLE, 1, fields((b'x-t', b'1')))], {}),
    ('HEADERS after the end', [ask(1), frame(HEADERS, WHOLE | END, 1, head())], {'seconds': 1}),
    ('DATA after the end', [ask(1), frame(DATA, END, 1, ASK)], {'seconds': 1}),
    ('more DATA than its length', [frame(HEADERS, WHOLE, 1, head((b'content-length', b'10'))) + frame(DATA, END, 1, ASK)], {}),
    ('less DATA than its length', [frame(HEADERS, WHOLE, 1, head((b'content-length', b'1000'))) + frame(DATA, END, 1, ASK)], {}),
    ('transfer-encoding', with_head((b'transfer-encoding', b'chunked')), {}),
    ('connection: content-length', with_head((b'connection', b'content-length'), LENGTH), {}),
    ('te: gzip', with_head((b'te', b'gzip')), {}),
    ('a name in capitals', with_head((b'X-A', b'1')), {}),
    ('a name with CR LF', with_head((b'x-a\r\ninner', b'1')), {}),
    ('a name with a colon', with_head((b'inner:x', b'1')), {}),
    ('a value with CR LF', with_head((b'x-a', b'1\r\ninner: 1')), {}),
    ('a value with LF', with_head((b'x-a', b'1\ninner: 1')), {}),
    ('a value with NUL', with_head((b'x-a', b'1\0')), {}),
    ('a path with CR LF', with_head(path=b'/v1/chat/completions HTTP/1.1\r\ninner: 1'), {}),
    ('a path with a space', with_head(path=b'/v1/chat/completions inner'), {}),
    ('a method with CR LF', with_head(method=b'POST /inner HTTP/1.1\r\na:'), {}),
    ('path *', with_head(path=b'*'), {}),
    ('a whole URL as path', with_head(path=b'http://inner/v1/chat/completions'), {}),
    ('two paths', with_head((b':path', b'/inner')), {}),
    ('another host than :authority', with_head((b'host', b'inner')), {}),
    ('CONNECT', [frame(HEADERS, WHOLE, 1, fields((b':method', b'CONNECT'), (b':authority', b'inner:80')))], {}),
    ('CONNECT of a protocol', [frame(HEADERS, WHOLE, 1, head((b':protocol', b'websocket'), method=b'CONNECT'))], {}),
    ('100,000 PINGs', [frame(PING, 0, 0, bytes(8)) * 100000], {'seconds': 1, 'flood': True}),
    ('100,000 SETTINGS', [frame(SETTINGS, 0, 0) * 100000], {'seconds': 1, 'flood': True}),
    ('WINDOW_UPDATE of 0', [OPEN + frame(WINDOW, 0, 1, bytes(4))], {}),
    ('WINDOW_UPDATE beyond its limit', [OPEN + frame(WINDOW, 0, 1, b'\x7f\xff\xff\xff')], {}),
    ('a stream that depends on itself', [frame(PRIORITY, 0, 1, struct.pack('>IB', 1, 1))], {}),
    ('DATA on stream 0', [frame(DATA, END, 0, ASK)], {}),
    ('an even stream', [ask(2)], {}),
    ('padding beyond the frame', [OPEN + frame(DATA, END | PADDED, 1, b'\xff' + ASK)], {}),
    ('a head that unpacks to 48 MB', [frame(HEADERS, 0, 1, head()) + frame(CONTINUATION, WHOLE, 1, b'\x40\1a' + number(4000) + b'v' * 4000 + b'\xbe' * 12000)], {'seconds': 2}),
    ('HPACK that is none', [frame(HEADERS, WHOLE | END, 1, b'\xff' * 8)], {}),
    ('a body that stops', [OPEN + frame(DATA, 0, 1, b'{')], {'seconds': 1}),
    ('a plain request at the end', [ask(1)], {}),
]


def attacked(port, server, frames, streams=1, seconds=5, settings=b'', pause=.1, flood=False):
    server.heads.clear()
    c = Client(port, settings)
    for f in frames if pause else [b''.join(frames)]:
        c.send(f)
        time.sleep(pause)
    what = c.outcome(seconds, streams)
    c.s.close()
    until = time.time() + 5
    while server.open and time.time() < until:
        time.sleep(.02)
    heads = list(server.heads)
    reached = str(len(heads))
    if flood:
        what, reached = '–', 'fewer' if len(heads) < len(frames) else 'ALL'
    if any(b'inner' in h.lower() or re.search(rb'\r\n(te|transfer-encoding|connection):', h, re.I) for h in heads):
        reached = 'INNER'
    return what, reached, 'KEPT' if server.open else 'let go'


def answered(port):
    c = Client(port)
    c.send(ask(1))
    what = c.outcome(10, 1)
    c.s.close()
    return what == '200 whole'


def main():
    server = Server()
    with socket.create_server(('127.0.0.1', 0)) as s:
        port = s.getsockname()[1]
    proxy = subprocess.Popen([sys.argv[1], 'proxy', '--upstream', f'http://127.0.0.1:{server.port}', '--listen', f'127.0.0.1:{port}',
                              '--metrics-listen', 'off'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                socket.create_connection(('127.0.0.1', port)).close()
                break
            except OSError:
                time.sleep(.1)
        print('HTTP/2: what came back, requests at the server, the server, the next client')
        for name, frames, how in ATTACKS:
            what, reached, kept = attacked(port, server, frames, **how)
            print(f'{name:31} {what:9} {reached:5} {kept:7} {"answered" if answered(port) else "NOT ANSWERED"}')
        assert proxy.poll() is None, 'the proxy has ended'
    finally:
        proxy.terminate()
        assert proxy.wait(30) == 0, 'it did not end well'


main()
