"""Writes the category of every code point, as the regular expressions of
tiktoken and of Hugging Face tokenizers see it, to a file of runs.

    pip install tiktoken tokenizers
    python tools/oracle/tokens_unicode.py tokens/char/categories.bin

tiktoken uses the regular expressions of Rust, tokenizers those of Oniguruma.
The script asks both about every code point and stops where they disagree, so
that one table serves both. A run is its length as a varint and one byte, the
index of the category in NAMES.
"""
import sys

import tiktoken
from tokenizers import Regex, pre_tokenizers

# The order is that of the constants in tokens/char.
NAMES = """Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So
Zs Zl Zp Cc Cf Co Newline CcSpace SoWord CfJoin""".split()
PLAIN = [n for n in NAMES if len(n) == 2 and n != "Cn"]

points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
text = "".join(map(chr, points))
bytes_only = {bytes([i]): i for i in range(256)}


def rust(pattern):
    """The code points that a pattern of one character matches in tiktoken."""
    e = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=bytes_only, special_tokens={})
    return set(map(ord, bytes(e.encode_ordinary(text)).decode()))


def onig(pattern):
    """The same in tokenizers."""
    split = pre_tokenizers.Split(Regex(pattern), "removed", invert=True)
    found = set()
    for i in range(0, len(text), 50000):
        for piece, _ in split.pre_tokenize_str(text[i : i + 50000]):
            found.update(map(ord, piece))
    return found


category = bytearray(0x110000)
for name in PLAIN:
    a, b = rust(r"\p{%s}" % name), onig(r"\p{%s}" % name)
    if a != b:
        sys.exit(f"{name}: tiktoken and tokenizers disagree on {sorted(a ^ b)[:10]}")
    for c in a:
        assert category[c] == 0
        category[c] = NAMES.index(name)

space, word = rust(r"\s"), rust(r"\w")
assert space == onig(r"\s")
for c in points:
    name = NAMES[category[c]]
    if c in (10, 13):
        name = "Newline"
    elif name == "Cc" and c in space:
        name = "CcSpace"
    elif name == "So" and c in word:
        name = "SoWord"
    elif name == "Cf" and c in word:
        name = "CfJoin"
    category[c] = NAMES.index(name)

# The masks of tokens/char must say the same as the expressions do.
SPACE = {"Zs", "Zl", "Zp", "Newline", "CcSpace"}
WORD = {"Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "Pc", "SoWord", "CfJoin"}
for c in points:
    name = NAMES[category[c]]
    assert (name in SPACE) == (c in space), hex(c)
    assert (name in WORD) == (c in word), hex(c)

out = bytearray()
start = 0
for c in range(1, 0x110001):
    if c == 0x110000 or category[c] != category[start]:
        n = c - start
        while n >= 0x80:
            out.append(n & 0x7F | 0x80)
            n >>= 7
        out += bytes([n, category[start]])
        start = c
with open(sys.argv[1], "wb") as f:
    f.write(out)
print(len(out), "bytes")
