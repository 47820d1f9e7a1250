"""Frames of HTTP/2 as bytes, right or wrong."""
import struct

DATA, HEADERS, PRIORITY, RESET, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END, WHOLE, PADDED = 1, 4, 8  # of a stream; of a head; a frame with padding


def frame(kind, flags, stream, payload=b''):
    return struct.pack('>I', len(payload))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + payload


def number(n, bits=7):
    most = (1 << bits) - 1
    if n < most:
        return bytes([n])
    out, n = [most], n - most
    while n >= 128:
        out.append(n % 128 | 128)
        n //= 128
    return bytes(out + [n])


def fields(*pairs):
    """HPACK: literals without an index."""
    return b''.join(b'\0' + number(len(k)) + k + number(len(v)) + v for k, v in pairs)
