"""Makes small tokenizer.json files with every part that tokens/hf knows.

    pip install tokenizers sentencepiece zstandard
    python tools/oracle/tokens_train.py tokens/testdata/corpus.zst tokens/hf/testdata
    python tools/oracle/tokens_hf.py tokens/testdata/corpus.zst tokens/hf/testdata 9

They are trained on the first texts of the corpus, sentences in forty languages
(Unigram, which needs every letter in its vocabulary, in fewer).
"""
import json
import os
import sys

import sentencepiece
import zstandard
from tokenizers import AddedToken, Regex, Tokenizer, decoders as D, models as M, normalizers as N, pre_tokenizers as P, trainers as T

source, folder = sys.argv[1:]
raw = zstandard.ZstdDecompressor().stream_reader(open(source, "rb")).read()
texts = [json.loads(line) for line in raw.decode().split("\n") if line]
TRAIN = texts[10:52]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
BYTES = [f"<0x{b:02X}>" for b in range(256)]
MARK = "▁"


def charsmap(name):
    path = os.path.join(os.path.dirname(sentencepiece.__file__), "package_data", name + ".bin")
    return N.Precompiled(open(path, "rb").read())


def build(model, trainer, normalizer=None, pre=None, decoder=None, added=(), edit=None, train=TRAIN):
    t = Tokenizer(model)
    if normalizer is not None:
        t.normalizer = normalizer
    if pre is not None:
        t.pre_tokenizer = pre
    if decoder is not None:
        t.decoder = decoder
    t.train_from_iterator(train, trainer)
    data = json.loads(t.to_str())
    if edit:
        edit(data)
    if added:
        t = Tokenizer.from_str(json.dumps(data))
        for a in added:
            (t.add_special_tokens if a.special else t.add_tokens)([a])
        data = json.loads(t.to_str())
    return data


def byte_bpe(pre, size=420, normalizer=None, added=(), edit=None, **model):
    return build(M.BPE(**model), T.BpeTrainer(vocab_size=size, initial_alphabet=P.ByteLevel.alphabet(), show_progress=False),
                 normalizer, pre, D.ByteLevel(), added, edit)


def fallback(data):
    """Adds the 256 byte tokens to a BPE model and turns byte_fallback on."""
    vocab = data["model"]["vocab"]
    for b in BYTES:
        vocab.setdefault(b, len(vocab))
    data["model"]["byte_fallback"] = True


def sp_bpe(normalizer=None, pre=None, decoder=None, added=(), **model):
    return build(M.BPE(unk_token="<unk>", fuse_unk=True, **model),
                 T.BpeTrainer(vocab_size=500, special_tokens=["<unk>"], limit_alphabet=150, show_progress=False), normalizer, pre, decoder, added, fallback)


SP_DECODER = D.Sequence([D.Replace(MARK, " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)])
BL = P.ByteLevel(add_prefix_space=False, use_regex=False)
ADDED = [
    AddedToken("<|endoftext|>", special=True, normalized=False), AddedToken("<|im_start|>", special=True, normalized=False), AddedToken("<|im_end|>", special=True, normalized=False),
    AddedToken("[MASK]", special=True, lstrip=True, normalized=False), AddedToken("the", single_word=True), AddedToken("  ", normalized=False, special=False),
    AddedToken("    ", normalized=False, special=False), AddedToken("Menschen", rstrip=True, lstrip=True, normalized=False), AddedToken("DIE", normalized=True),
    AddedToken("é", normalized=True), AddedToken("=>", normalized=False), AddedToken("==", normalized=True), AddedToken("<s>", special=True, normalized=True),
]


def unigram(normalizer=None, pre=None, decoder=None, size=600, byte_fallback=False, added=()):
    def edit(data):
        if byte_fallback:
            data["model"]["vocab"] += [[b, -20.0] for b in BYTES]
            data["model"]["byte_fallback"] = True

    return build(M.Unigram(), T.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=["<unk>", "<s>"], show_progress=False), normalizer, pre, decoder, added, edit, TRAIN[:16])


def word_piece(normalizer, added=(), cleanup=True, pre=None):
    return build(M.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20),
                 T.WordPieceTrainer(vocab_size=500, special_tokens=["[UNK]", "[MASK]"], limit_alphabet=250, show_progress=False),
                 normalizer, pre or P.BertPreTokenizer(), D.WordPiece(cleanup=cleanup), added)


def word_level(pre, normalizer=None):
    return build(M.WordLevel(unk_token="[UNK]"), T.WordLevelTrainer(vocab_size=600, special_tokens=["[UNK]"], show_progress=False), normalizer, pre)


def char_bpe(pre, normalizer=None, decoder=None, unk="<unk>", fuse=False, size=600, trainer={}, **model):
    special = [unk] if unk else []
    return build(M.BPE(unk_token=unk, fuse_unk=fuse, **model), T.BpeTrainer(vocab_size=size, special_tokens=special, limit_alphabet=200, show_progress=False, **trainer), normalizer, pre, decoder)


def legacy(data):
    """A file of old: no type, merges as text."""
    del data["model"]["type"]
    data["model"]["merges"] = [" ".join(m) for m in data["model"]["merges"]]
    data["model"]["unk_token"] = data["model"]["continuing_subword_prefix"] = ""


FILES = {
    # Byte-level BPE.
    "bytes_gpt2": lambda: byte_bpe(P.ByteLevel(add_prefix_space=False), size=700, added=ADDED),
    "bytes_prefix_legacy": lambda: byte_bpe(P.ByteLevel(add_prefix_space=True), edit=legacy),
    "bytes_llama3": lambda: byte_bpe(P.Sequence([P.Split(Regex(LLAMA3), "isolated"), BL]), normalizer=N.NFC(), ignore_merges=True, added=ADDED, size=700),
    "bytes_inverted": lambda: byte_bpe(P.Sequence([P.Split(Regex(LLAMA3), "removed", invert=True), BL])),
    "bytes_digits": lambda: byte_bpe(P.Sequence([P.Digits(True), P.ByteLevel(add_prefix_space=False)])),
    "bytes_falcon": lambda: byte_bpe(P.Sequence([P.Punctuation("contiguous"), P.ByteLevel(add_prefix_space=False), P.Digits(False), P.Split(Regex("[0-9][0-9][0-9]"), "isolated")])),
    "bytes_bloom": lambda: byte_bpe(P.Sequence([P.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), BL])),
    "bytes_normalizer": lambda: byte_bpe(P.Split(Regex("Ġ?[^Ġ]+"), "isolated"), normalizer=N.Sequence([N.NFKC(), N.ByteLevel()])),
    "bytes_fixed": lambda: byte_bpe(P.Sequence([P.FixedLength(5), BL]), normalizer=N.NFKD()),
    # SentencePiece-like BPE.
    "sp_llama2": lambda: sp_bpe(N.Sequence([N.Prepend(MARK), N.Replace(" ", MARK)]), None, SP_DECODER, added=[a for a in ADDED if a.normalized or a.special]),
    "sp_mistral": lambda: sp_bpe(None, P.Metaspace(MARK, "first", split=False), SP_DECODER, added=ADDED),
    "sp_strip_first": lambda: sp_bpe(N.Strip(), P.Metaspace(MARK, "first", split=True), D.Metaspace(MARK, "first"), added=ADDED[:5]),
    "sp_always": lambda: sp_bpe(N.NFKC(), P.Metaspace(MARK, "always"), D.Metaspace()),
    "sp_never": lambda: sp_bpe(N.NFD(), P.Metaspace(MARK, "never"), D.Sequence([D.ByteFallback(), D.Metaspace(MARK, "never")])),
    "sp_gemma": lambda: sp_bpe(N.Replace(" ", MARK), P.Split(" ", "merged_with_previous"), D.Sequence([D.Replace(MARK, " "), D.ByteFallback(), D.Fuse()]), ignore_merges=True),
    "sp_words_first": lambda: sp_bpe(None, P.Sequence([P.WhitespaceSplit(), P.Metaspace(MARK, "first")])),
    # BPE on characters.
    "chars_unk": lambda: char_bpe(P.Whitespace(), N.Sequence([N.NFD(), N.Lowercase(), N.StripAccents()])),
    "chars_fused": lambda: char_bpe(P.WhitespaceSplit(), N.NFKD(), fuse=True),
    "chars_dropped": lambda: char_bpe(P.Whitespace(), N.Nmt(), unk=None),
    "chars_suffix": lambda: char_bpe(P.Sequence([P.Split(Regex(r"<\|startoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True)]),
                                     N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]), D.BPEDecoder("</w>"), end_of_word_suffix="</w>", trainer=dict(end_of_word_suffix="</w>")),
    "chars_prefix": lambda: char_bpe(P.Whitespace(), N.Lowercase(), continuing_subword_prefix="##", trainer=dict(continuing_subword_prefix="##")),
    # WordPiece and WordLevel.
    "bert_uncased": lambda: word_piece(N.BertNormalizer(), ADDED),
    "bert_cased": lambda: word_piece(N.BertNormalizer(lowercase=False), cleanup=False),
    "bert_accents": lambda: word_piece(N.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)),
    "bert_kept": lambda: word_piece(N.Sequence([N.Strip(left=True, right=False), N.BertNormalizer(strip_accents=False)])),
    "level": lambda: word_level(P.Whitespace()),
    "level_delimiter": lambda: word_level(P.CharDelimiterSplit(" "), N.Replace(Regex("[,.;:!?]+"), "")),
    # Unigram.
    "unigram": lambda: unigram(None, P.Metaspace(), D.Metaspace()),
    "unigram_nmt": lambda: unigram(N.Sequence([charsmap("nmt_nfkc"), N.Replace(Regex(" {2,}"), " ")]), P.Metaspace(), D.Metaspace(), added=ADDED),
    "unigram_folded": lambda: unigram(charsmap("nfkc_cf"), P.Sequence([P.WhitespaceSplit(), P.Metaspace()]), D.Metaspace()),
    "unigram_bytes": lambda: unigram(N.Sequence([N.Nmt(), N.NFKC(), N.StripAccents()]), P.Metaspace(MARK, "never", split=False), D.Sequence([D.ByteFallback(), D.Fuse()]), byte_fallback=True),
    "unigram_whole": lambda: unigram(N.Lowercase(), None, D.Fuse()),
}
for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
    FILES["cut_text_" + behavior] = lambda b=behavior: byte_bpe(P.Sequence([P.Split("e", b), BL]), size=300)
    FILES["cut_pattern_" + behavior] = lambda b=behavior: byte_bpe(P.Sequence([P.Split(Regex(r"\s|\d\d|\p{Lu}+"), b), BL]), size=300)
    FILES["cut_inverted_" + behavior] = lambda b=behavior: byte_bpe(P.Sequence([P.Split(Regex(r"\p{L}|[^\p{L}\s]{2}"), b, invert=True), BL]), size=300)
    FILES["cut_punctuation_" + behavior] = lambda b=behavior: byte_bpe(P.Sequence([P.Punctuation(b), BL]), size=300)

only = set(os.environ.get("ONLY", "").split()) or set(FILES)
for name in FILES:
    if name in only:
        data = json.dumps(FILES[name](), ensure_ascii=False, separators=(",", ":")).encode()
        with open(f"{folder}/{name}.json.zst", "wb") as f:
            f.write(zstandard.ZstdCompressor(level=22).compress(data))
