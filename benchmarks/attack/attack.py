#!/usr/bin/env python3
"""What tokenmeter's proxy does with requests and clients that mean harm, beside nginx.

usage: attack.py TOKENMETER [NGINX]

Two tables: of each attack the statuses that came back, whether the connection was
closed, and what reached the server (INNER: the request inside another, or behind it); and whether the server was let go when a client
left, by what the client had sent behind its request.
"""
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from attacks import B, C
from upstream import EVENT, HEAD, Upstream, chunk

BODY = b'{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}'


class Server(Upstream):
    """Reads requests leniently, and notes the line of each and when its client went."""

    def __init__(self):
        self.seen, self.gone = [], {}
        super().__init__(256)

    def handle(self, c):
        buf = b''
        c.settimeout(30)
        while True:
            while b'\r\n\r\n' not in buf:
                data = c.recv(65536)
                if not data:
                    if buf:
                        self.seen.append('left over ' + repr(buf[:20]))
                    return
                buf += data
            head, _, buf = buf.partition(b'\r\n\r\n')
            fields = {k.strip().lower(): v.strip() for k, _, v in (line.partition(b':') for line in head.split(b'\r\n')[1:])}
            if fields.get(b'transfer-encoding', b'').lower() == b'chunked':
                while not (buf.endswith(b'0\r\n\r\n')):
                    data = c.recv(65536)
                    if not data:
                        self.seen.append('cut ' + head.split(b' ')[0].decode('latin1'))
                        return
                    buf += data
                buf = b''
            else:
                n = int(fields.get(b'content-length', b'0'))
                while len(buf) < n:
                    data = c.recv(65536)
                    if not data:
                        self.seen.append('cut ' + head.split(b' ')[0].decode('latin1'))
                        return
                    buf += data
                buf = buf[n:]
            line = head.split(b'\r\n')[0].decode('latin1')
            self.seen.append(('INNER ' if 'SMUGGLED' in line else '') + line.split(' ')[0][:12])
            mode = re.search(r'[?&]m=(\w+)&tag=(\w+)', line)
            if mode:
                return self.stream(c, *mode.groups())
            length = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % len(BODY)
            c.sendall(length + (b'' if head.startswith(b'HEAD') else BODY))

    def stream(self, c, mode, tag):
        try:
            if mode != 'silent':
                c.sendall(HEAD)
            c.settimeout(.05)
            until = time.time() + 20
            while time.time() < until:
                if mode == 'tick':
                    c.sendall(chunk(EVENT))
                elif mode == 'fast':
                    c.settimeout(20)
                    c.sendall(chunk(EVENT * 400))
                    c.settimeout(.001)
                try:
                    if not c.recv(65536):
                        break
                except TimeoutError:
                    pass
            else:
                return
        except OSError:
            pass
        self.gone[tag] = time.time()


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as s:
        return s.getsockname()[1]


def up(port):
    for _ in range(300):
        try:
            return socket.create_connection(('127.0.0.1', port)).close()
        except OSError:
            time.sleep(.05)
    sys.exit('nothing listens on %d' % port)


def start(binary, nginx, server, folder):
    ports, processes = {'tokenmeter': free_port()}, []
    config = os.path.join(folder, 'tokenmeter.yaml')
    with open(config, 'w') as f:
        f.write('listeners: [{listen: "127.0.0.1:%d"}]\nupstreams: [{name: up, url: "http://127.0.0.1:%d"}]\nroutes: [{name: all, upstreams: [{name: up}]}]\nmodels: [m]\nadmin: {listen: "off"}\n'
                % (ports['tokenmeter'], server.port))
    processes.append(subprocess.Popen([binary, 'serve', '-c', config, '--quiet']))
    if nginx:
        ports['nginx'] = free_port()
        config = os.path.join(folder, 'nginx.conf')
        with open(config, 'w') as f:
            f.write('daemon off; pid %s/pid; error_log /dev/null; events {}\nhttp { access_log off; %s server { listen 127.0.0.1:%d; location / { proxy_pass http://127.0.0.1:%d; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection ""; } } }\n'
                    % (folder, ' '.join('%s_temp_path %s/%s;' % (k, folder, k) for k in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi')), ports['nginx'], server.port))
        processes.append(subprocess.Popen([nginx, '-p', folder, '-c', config, '-e', '/dev/null'], stderr=subprocess.DEVNULL))
    for port in ports.values():
        up(port)
    return ports, processes


def attack(port, data, server):
    """Sends bytes and tells in words what came of it."""
    before = len(server.seen)
    out, end = b'', 'open'
    with socket.create_connection(('127.0.0.1', port), timeout=5) as s:
        try:
            s.sendall(data)
            s.settimeout(.7)
            while True:
                part = s.recv(65536)
                if not part:
                    end = 'closed'
                    break
                out += part
        except TimeoutError:
            pass
        except OSError:
            end = 'closed'
    time.sleep(.05)
    statuses = ' '.join(x.decode() for x in re.findall(rb'HTTP/1\.[01] (\d\d\d) ', out)) or '-'
    return '%s %s, %s' % (statuses, end, ' '.join(server.seen[before:]) or 'nothing')


def leave(port, mode, extra, how, tag, server):
    """Tells whether the server was let go within 3 s of a client's leaving."""
    s = socket.create_connection(('127.0.0.1', port))
    body = b'{"model":"m","stream":true,"messages":[]}'
    s.sendall(b'POST /v1/chat/completions?m=%s&tag=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n' % (mode.encode(), tag.encode(), len(body)) + body)
    time.sleep(.3)
    if extra:
        s.sendall(extra)
        time.sleep(.2)
    if how == 'reset':
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    if how == 'half-close':
        s.shutdown(socket.SHUT_WR)
    else:
        s.close()
    until = time.time() + 3
    while time.time() < until and tag not in server.gone:
        time.sleep(.02)
    s.close()
    return 'let go' if tag in server.gone else 'KEPT'


def main():
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        ports, processes = start(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None, server, folder)
        try:
            print('requests: statuses and the connection, what reached the server\n')
            for name, data in C.items():
                print('%-24s %s' % (name, '   '.join('%s: %-34s' % (who, attack(port, data, server)) for who, port in ports.items()).rstrip()))
            print('\nclients that leave, by what the server does and what they had sent behind their request\n')
            extras = {'nothing': b'', 'an empty line': b'\r\n', 'a byte': b'G', 'a request': b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n', '200 kB': b'G' * 200_000}
            jobs = [(mode, name, how, who) for mode in ('silent', 'head', 'tick', 'fast') for name in extras for how in ('close', 'reset', 'half-close') for who in ports]
            found = {}

            def one(i, job):
                mode, name, how, who = job
                found[job] = leave(ports[who], mode, extras[name], how, '%sx%d' % (who, i), server)
            for at in range(0, len(jobs), 12):
                some = [threading.Thread(target=one, args=(at + k, job)) for k, job in enumerate(jobs[at:at + 12])]
                for t in some:
                    t.start()
                for t in some:
                    t.join()
            for mode, name, how, who in jobs:
                if who == 'tokenmeter':
                    print('%-8s %-14s %-11s %s' % (mode, name, how, '   '.join('%s: %-6s' % (w, found[mode, name, how, w]) for w in ports).rstrip()))
        finally:
            for p in processes:
                p.terminate()
                p.wait()


main()
