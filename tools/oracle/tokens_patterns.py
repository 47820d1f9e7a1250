"""Splits the test corpus by patterns, as Hugging Face tokenizers do.

    pip install tokenizers zstandard
    python tools/oracle/tokens_patterns.py tokens/testdata/corpus.zst tokens/testdata/patterns

For every pattern of PATTERNS it writes NAME.expect with four bytes a text: the
number of pieces (matches and what lies between them) and the low half of the
CRC-32 of their lengths in bytes. patterns.json holds the patterns.
"""
import io
import json
import sys

import zstandard
from tokenizers import Regex, pre_tokenizers as P

from tokens_lib import write_expected

TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
SUFFIX = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
O200K = [
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
]
KNOWN = {
    "gpt2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama3": SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL,
    "qwen2": SUFFIX + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL,
    "qwen35": SUFFIX + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + TAIL,
    "o200k": "|".join([O200K[0] + SUFFIX + "?", O200K[1] + SUFFIX + "?", r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", TAIL]),
    "tekken": "|".join([O200K[0], O200K[1], r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", TAIL]),
}
DEEPSEEK3 = [
    r"\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^""" + "\r\n" + r"""\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[""" + "\r\n" + r"""]*|\s*[""" + "\r\n" + r"""]+|\s+(?!\S)|\s+""",
]
OTHER = {
    "deepseek_llm_letters": r"\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕ]+",
    "deepseek_llm_punct": r"\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "deepseek_coder_letters": r"\s?\p{L}+",
    "cjk": r"[一-龥ࠀ-一가-퟿]+",
    "breaks": r"[\r\n]",
    "tail": r"\s+$",
    "bloom": r" ?[^(\s|[.,!?…。，、।۔،])]+",
    "falcon": r"[0-9][0-9][0-9]",
    "phi4": r"[^\r\n\p{L}\p{N}]?[\p{Lu}]*[\p{Ll}]+" + SUFFIX + r"?|\p{N}{1,2}",
    "exaone": r"(?:\r?\n)+|\s+(?=\S)|[^\s\p{P}]{2,4}?|\p{P}",
    "superbpe": r"(?=(\d{3})+(?!\d))\d|[^\d]+?",
    "possessive": r"[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    "han": r"[\p{Han}&&[^一]]+|[\p{Hiragana}\p{Katakana}ー]+|\p{Hangul}+|[^\p{Latin}\p{Cyrillic}\P{L}]+",
    "behind": r"(?<=\p{Ll})\p{Lu}+|(?<!\s)\d+|^\w+|\W$|(?>a+b?)c",
    "word": r"\w+|[^\w\s]+",
    "lazy": r"\p{L}+?(?=\p{Lu}|\b{0}\s|$)|\d{2,3}?|..{0,2}?\s",
    "octal": r"[\x21-\x2f\u3000-\u303f\x{1f300}-\x{1faff}]+|\t| {2,}|[-a-c_]+|[^\S\n]",
    "fold": r"(?i:w[a-e]+|k|[sz]x?)+|(?i:the|and|or)\b{0}",
}
OTHER["lazy"] = OTHER["lazy"].replace(r"\b{0}", "")
OTHER["fold"] = OTHER["fold"].replace(r"\b{0}", "")

source, folder = sys.argv[1:]
raw = zstandard.ZstdDecompressor().stream_reader(open(source, "rb")).read()
texts = [json.loads(line) for line in raw.decode().split("\n") if line]


def lengths(pieces):
    return [len(piece.encode()) for piece, _ in pieces]


def split(*patterns):
    steps = [P.Split(Regex(p), "isolated") for p in patterns]
    p = P.Sequence(steps)
    return lambda t: lengths(p.pre_tokenize_str(t))


with open(folder + "/patterns.json", "w") as f:
    json.dump({"known": KNOWN, "deepseek3": DEEPSEEK3, "other": OTHER}, f, ensure_ascii=False, indent=1)
    f.write("\n")
for name, pattern in (KNOWN | OTHER).items():
    every = 1 if name in KNOWN else 5
    write_expected(f"{folder}/{name}.expect", map(split(pattern), texts[::every]))
write_expected(f"{folder}/deepseek3.expect", map(split(*DEEPSEEK3), texts))
