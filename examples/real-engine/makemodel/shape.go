package main

type shape struct {
	layers, dim, ff, heads, kvHeads, vocab, ctx int
	note                                        string
}

// Speeds are decode speeds of one stream with llama-bench, one thread of an AMD
// EPYC 9004 (Zen 4) virtual machine, Q8_0: they say the order of size only.
var presets = map[string]shape{
	"nano":   {2, 128, 384, 4, 2, 1024, 8192, "0.8 MB: for unit tests; about 15000 tok/s"},
	"tiny":   {4, 256, 768, 4, 2, 4096, 8192, "6 MB: about 5000 tok/s"},
	"small":  {8, 512, 1536, 8, 4, 16384, 8192, "45 MB: about 600 tok/s"},
	"medium": {12, 768, 2304, 12, 4, 32000, 8192, "141 MB: about 200 tok/s"},
	"large":  {20, 1280, 3840, 20, 4, 32000, 8192, "485 MB: about 50 tok/s"},
	"xl":     {24, 1792, 5376, 28, 4, 32000, 8192, "1047 MB: about 20 tok/s"},
}
