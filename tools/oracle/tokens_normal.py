"""Sums up what every normaliser makes of every code point that is assigned.

    pip install tokenizers
    python tools/oracle/tokens_normal.py > tokens/hf/testdata/normal.txt

A line is a name and the CRC-32 of all results, each of a code point between
two others, with a mark behind it. The last lines are of runs of many marks.
"""
import zlib

from tokenizers import normalizers as N

# Beyond these nothing is assigned but private use.
points = [c for c in [*range(0x32400), *range(0xE0000, 0xE0200), *range(0x10FFF0, 0x110000)] if not 0xD800 <= c <= 0xDFFF]
marks = "\u0301\u0323\u0334\u0345\u0591\u05b0\u093c\u3099\u0f71\u1dfa"
for name in "NFC NFD NFKC NFKD Lowercase StripAccents Nmt Strip".split():
    n = getattr(N, name)()
    total = 0
    for c in points:
        total = zlib.crc32(n.normalize_str("a" + chr(c) + "\u0323\u0301 " + chr(c)).encode(), total)
    print(name, f"{total:08x}")
    total = 0
    for length in range(1, 90):
        text = "e" + "".join(marks[i * i % len(marks)] for i in range(length)) + "\u1e69x"
        total = zlib.crc32(n.normalize_str(text).encode(), total)
    print(name + ":marks", f"{total:08x}")
