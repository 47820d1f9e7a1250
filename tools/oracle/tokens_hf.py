"""Encodes the test corpus with tokenizer.json files, as Hugging Face does.

    pip install tokenizers zstandard
    python tools/oracle/tokens_hf.py tokens/testdata/corpus.zst FOLDER [EVERY]

For every NAME.json (or NAME.json.zst) in the folder it writes NAME.expect with
four bytes for every EVERYth text (see tokens_lib.py), special tokens being
ordinary text, and NAME.decoded with the low half of the CRC-32 of what the ids
decode to.

    TOKENMETER_TOKENIZERS=FOLDER go test ./wire/tokens/hf -run Folder

compares a folder of files that are too large to commit.
"""
import glob
import json
import struct
import sys
import zlib

import zstandard
from tokenizers import Tokenizer

from tokens_lib import write_expected

source, folder, *rest = sys.argv[1:]
every = int(rest[0]) if rest else 1
raw = zstandard.ZstdDecompressor().stream_reader(open(source, "rb")).read()
texts = [json.loads(line) for line in raw.decode().split("\n") if line][::every]

for path in sorted(glob.glob(folder + "/*.json") + glob.glob(folder + "/*.json.zst")):
    raw = open(path, "rb").read()
    if path.endswith(".zst"):
        raw = zstandard.ZstdDecompressor().stream_reader(raw).read()
    tokenizer = Tokenizer.from_str(raw.decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    encoded = [tokenizer.encode(t, add_special_tokens=False).ids for t in texts]
    name = path.split(".json")[0]
    write_expected(name + ".expect", encoded)
    with open(name + ".decoded", "wb") as f:
        for ids in encoded:
            f.write(struct.pack("<H", zlib.crc32(tokenizer.decode(ids, skip_special_tokens=False).encode()) & 0xFFFF))
    tokenizer.encode_special_tokens = False
    write_expected(name + ".special.expect", (tokenizer.encode(t, add_special_tokens=False).ids for t in texts if "<|" in t or "<s>" in t or "[MASK]" in t))
    print(name, sum(map(len, encoded)), "tokens")
