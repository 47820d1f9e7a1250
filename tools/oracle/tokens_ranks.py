"""Packs rank files of tiktoken into the form that tokens/ranks embeds.

    pip install zstandard
    python tools/oracle/tokens_ranks.py o200k_base.tiktoken wire/tokens/ranks/o200k_base.zst
    python tools/oracle/tokens_ranks.py cl100k_base.tiktoken wire/tokens/ranks/cl100k_base.zst o200k_base.tiktoken

The rank files are those that OpenAI publishes (they also lie in the Go module
github.com/pkoukk/tiktoken-go-loader, folder assets); their SHA-256 must be the
one that tiktoken itself demands.

Every token of more than one byte is the merge of two tokens of lower rank, so
the file holds two ranks a token instead of its bytes: first the 256 single
bytes in order of rank and the number of the others (four bytes, little-endian),
then, as planes of bytes (low, middle, high), the left parts and the right parts
of all others. A token's left and right part are what byte-pair encoding makes of
its bytes with the ranks below its own. A token that the newer vocabulary has, too,
is its rank there, counted from the end of this one, in place of a left part.
"""
import base64
import hashlib
import os
import sys

import zstandard

KNOWN = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


def parts(ranks, token, below):
    pieces = [token[i : i + 1] for i in range(len(token))]
    while len(pieces) > 2:
        merges = [(ranks.get(pieces[i] + pieces[i + 1], below), i) for i in range(len(pieces) - 1)]
        rank, i = min(merges)
        assert rank < below, token
        pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
    return ranks[pieces[0]], ranks[pieces[1]]


def read(source):
    raw = open(source, "rb").read()
    name = os.path.basename(source).removesuffix(".tiktoken")
    assert hashlib.sha256(raw).hexdigest() == KNOWN[name], "not the published rank file"
    tokens = []
    for line in raw.splitlines():
        token, rank = line.split()
        assert int(rank) == len(tokens)
        tokens.append(base64.b64decode(token))
    return tokens, {token: rank for rank, token in enumerate(tokens)}


source, target, *newer = sys.argv[1:]
tokens, ranks = read(source)
known = read(newer[0])[1] if newer else {}
assert all(len(token) == 1 for token in tokens[:256])
lefts, rights = [], []
for rank, token in enumerate(tokens[256:], 256):
    if token in known:
        lefts.append(len(tokens) + known[token])
    else:
        left, right = parts(ranks, token, rank)
        lefts.append(left)
        rights.append(right)
out = b"".join(tokens[:256]) + len(lefts).to_bytes(4, "little")
for side in (lefts, rights):
    for shift in (0, 8, 16):
        out += bytes(half >> shift & 255 for half in side)
with open(target, "wb") as f:
    f.write(zstandard.ZstdCompressor(level=22).compress(out))
print(len(tokens), "tokens,", os.path.getsize(target), "bytes")
