"""Writes the sets of code points that parts of Hugging Face tokenizers know.

    pip install tokenizers unicodedata2
    python tools/oracle/tokens_sets.py tokens/hf/sets.txt tokens/pattern/scripts.txt

Some parts of tokenizers use older tables of Unicode than its regular
expressions do. A line is a name, a colon and ranges in hexadecimal."""
import sys

import unicodedata2 as unicode
from tokenizers import Regex, normalizers as N, pre_tokenizers as P

points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def ranges(cps):
    out = []
    for c in sorted(cps):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return " ".join(f"{a:x}" if a == b else f"{a:x}-{b:x}" for a, b in out)


def isolated(p):
    return {c for c in points if len(p.pre_tokenize_str("a" + chr(c) + "b")) == 3}


def gone(n):
    return {c for c in points if n.normalize_str(chr(c)) == ""}


def bert(**on):
    return N.BertNormalizer(**(dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False) | on))


def unnormalized():
    """What Unicode normalises and the older tables of tokenizers do not."""
    found = set()
    for c in points:
        s, order = chr(c), unicode.combining(chr(c))
        if unicode.decomposition(s):
            if N.NFKD().normalize_str(s) == s:
                found.add(c)
        elif order:
            # A mark that is known changes places with one of another class.
            other = "\u0300" + s if order < 230 else s + "\u0334"
            if N.NFD().normalize_str(other) == other:
                found.add(c)
    return found


def main():
    with open(sys.argv[1], "w") as f:
        for name, cps in {
            "punctuation": isolated(P.Punctuation()),
            "number": isolated(P.Digits(individual_digits=True)),
            "bert_control": gone(bert(clean_text=True)) - {0, 0xFFFD},
            "bert_chinese": {c for c in points if bert(handle_chinese_chars=True).normalize_str(chr(c)) != chr(c)},
            "bert_accent": gone(bert(strip_accents=True)),
            "accent": gone(N.StripAccents()),
            "unnormalized": unnormalized(),
        }.items():
            f.write(f"{name}: {ranges(cps)}\n")
        assert isolated(P.BertPreTokenizer()) == isolated(P.Punctuation())
    text = "".join(map(chr, points))
    with open(sys.argv[2], "w") as f:
        for name in "Han Hiragana Katakana Hangul Latin Greek Cyrillic Armenian Hebrew Arabic Devanagari Bengali Tamil Telugu Thai Lao Tibetan Georgian Ethiopic Khmer Myanmar Mongolian Bopomofo".split():
            split = P.Split(Regex(r"\p{%s}" % name), "removed", invert=True)
            found = {ord(c) for i in range(0, len(text), 50000) for piece, _ in split.pre_tokenize_str(text[i : i + 50000]) for c in piece}
            f.write(f"{name}: {ranges(found)}\n")


main()
