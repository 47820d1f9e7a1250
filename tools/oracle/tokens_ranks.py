"""Packs rank files of tiktoken into the form that tokens/ranks embeds.

    pip install zstandard
    python tools/oracle/tokens_ranks.py o200k_base.tiktoken tokens/ranks/o200k_base.zst

The rank files are those that OpenAI publishes (they also lie in the Go module
github.com/pkoukk/tiktoken-go-loader, folder assets); their SHA-256 must be the
one that tiktoken itself demands.

Every token of more than one byte is the merge of two tokens of lower rank, so
the file holds two ranks a token instead of its bytes: first the 256 single
bytes in order of rank, then, as planes of bytes (low, middle, high), the left
parts and the right parts of all others. A token's left and right part are what
byte-pair encoding makes of its bytes with the ranks below its own.
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


source, target = sys.argv[1:]
raw = open(source, "rb").read()
name = os.path.basename(source).removesuffix(".tiktoken")
assert hashlib.sha256(raw).hexdigest() == KNOWN[name], "not the published rank file"

tokens = []
for line in raw.splitlines():
    token, rank = line.split()
    assert int(rank) == len(tokens)
    tokens.append(base64.b64decode(token))
ranks = {token: rank for rank, token in enumerate(tokens)}
assert all(len(token) == 1 for token in tokens[:256])
pairs = [parts(ranks, token, rank) for rank, token in enumerate(tokens) if rank >= 256]
out = b"".join(tokens[:256])
for side in (0, 1):
    for shift in (0, 8, 16):
        out += bytes(pair[side] >> shift & 255 for pair in pairs)
with open(target, "wb") as f:
    f.write(zstandard.ZstdCompressor(level=22).compress(out))
print(len(tokens), "tokens,", os.path.getsize(target), "bytes")
