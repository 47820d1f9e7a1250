"""Writes a folder with a byte-level tokenizer: peers want one on disk, and what it counts is not compared."""
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
vocabulary = {c: i for i, c in enumerate(letters + ["<|end|>"])}
t = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
t.decoder = decoders.ByteLevel()
PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<|end|>", eos_token="<|end|>", pad_token="<|end|>").save_pretrained(sys.argv[1])
