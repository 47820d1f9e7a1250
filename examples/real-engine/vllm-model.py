"""Writes a folder that vLLM loads with --load-format dummy: the shape of a small Llama, and a tokenizer
with a token for each printable character, so that a chunk is a token and no answer ends early."""
import json
import os
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
vocabulary = {c: i for i, c in enumerate(["\n"] + [chr(c) for c in range(32, 127)])}


def write(name, what):
    with open(os.path.join(folder, name), "w") as f:
        json.dump(what, f, indent=1)


write("tokenizer.json", {
    "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None,
    "pre_tokenizer": None, "post_processor": None, "decoder": {"type": "Fuse"},
    "model": {"type": "BPE", "vocab": vocabulary, "merges": []}})
write("tokenizer_config.json", {
    "tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 4096,
    "chat_template": "{% for m in messages %}{{ m['content'] }}\n{% endfor %}"})
write("config.json", {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": len(vocabulary),
    "hidden_size": 512, "intermediate_size": 1536, "num_hidden_layers": 8,
    "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 64, "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu", "torch_dtype": "bfloat16",
    "tie_word_embeddings": False, "bos_token_id": None, "eos_token_id": None})
