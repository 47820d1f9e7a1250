"""What the servers behind the proxy share: a thread a connection, and pieces of a reply."""
import socket
import threading

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"tok"}}]}\n\n'
HEAD = b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'


def chunk(data):
    return b'%x\r\n%s\r\n' % (len(data), data)


class Upstream:
    """Listens on a free port; handle(connection) says what becomes of one."""

    def __init__(self, backlog):
        self.listener = socket.create_server(('127.0.0.1', 0), backlog=backlog)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            c, _ = self.listener.accept()
            threading.Thread(target=self.safely, args=(c,), daemon=True).start()

    def safely(self, c):
        try:
            self.handle(c)
        except OSError:
            pass
        finally:
            c.close()
