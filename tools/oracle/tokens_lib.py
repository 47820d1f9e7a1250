"""What the oracles of package tokens share."""
import json
import struct
import zlib


def read_corpus(path):
    return [json.loads(line) for line in open(path, encoding="utf-8", newline="\n")]


def write_expected(path, encoded):
    """Four bytes a text: the count, and the low half of the ids' CRC-32."""
    with open(path, "wb") as f:
        for ids in encoded:
            sum32 = zlib.crc32(struct.pack(f"<{len(ids)}I", *ids))
            f.write(struct.pack("<HH", len(ids), sum32 & 0xFFFF))
