"""Encodes the test corpus with tiktoken and writes what came out.

    pip install tiktoken zstandard
    TIKTOKEN_CACHE_DIR=… python tools/oracle/tokens_expect.py corpus.jsonl tokens/testdata

The cache directory holds the published rank files, named by the SHA-1 of their
address, as tiktoken itself keeps them; with a network tiktoken fetches them.
corpus.zst is the corpus; NAME.expect has four bytes a text: the number of
tokens and the low half of the CRC-32 of the ids (each four bytes), both little
endian. NAME.special.expect is the same with special tokens read as such.
"""
import sys

import tiktoken
import zstandard

from tokens_lib import read_corpus, write_expected

corpus, folder = sys.argv[1:]
with open(folder + "/corpus.zst", "wb") as f:
    f.write(zstandard.ZstdCompressor(level=22).compress(open(corpus, "rb").read()))
texts = read_corpus(corpus)
for name in ("o200k_base", "cl100k_base"):
    e = tiktoken.get_encoding(name)
    write_expected(f"{folder}/{name}.expect", (e.encode_ordinary(t) for t in texts))
    named = [t for t in texts if "<|" in t]
    write_expected(f"{folder}/{name}.special.expect", (e.encode(t, allowed_special="all") for t in named))
print(len(texts), "texts, tiktoken", tiktoken.__version__)
