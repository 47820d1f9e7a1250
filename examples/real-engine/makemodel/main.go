// Command makemodel writes a small, offline, random-weight Llama-architecture model in
// the GGUF v3 format, for exercising real inference servers (llama-server,
// ollama, node-llama-cpp, ...) without downloading anything.
//
//	go run ./examples/real-engine/makemodel -preset tiny -o tiny.gguf
//	go run ./examples/real-engine/makemodel -list
//
// What makes it useful for load tests:
//
//   - Every layer is a full transformer block with random weights, so prefill
//     and decode cost what a real model of that shape costs.
//   - The attention and feed-forward outputs are scaled down, so that the
//     residual stream keeps the embedding of the last token, and the output
//     matrix is built from the embedding rows: row next(t) of the output
//     matrix is the embedding of t. The model therefore walks a fixed chain of
//     tokens: at any temperature up to about 1 it prints the same words, it
//     never prints end-of-text unless told to (-eos-after), so it always fills
//     max_tokens, and a test knows in advance what it will say.
//   - Any prompt tokenises: the vocabulary holds all 256 bytes (byte-level BPE),
//     common English words, and made-up words up to the wanted size.
//   - The last token of the chat template picks a chain: plain talk, a short
//     answer that ends by itself, a tool call, or a <think> block.
//
// Standard library only. Format facts: the public GGUF specification (magic,
// version, tensor count, key-value count, key-values, tensor infos, padding to
// the alignment, tensor data), Q8_0 = blocks of one float16 scale and 32 int8.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand"
	"os"
	"sort"
	"strings"
)

func main() {
	var (
		out     = flag.String("o", "model.gguf", "file to write")
		preset  = flag.String("preset", "tiny", "nano, tiny, small, medium, large or xl")
		list    = flag.Bool("list", false, "list the presets")
		typName = flag.String("type", "q8_0", "weights: q8_0, f16 or f32")
		name    = flag.String("name", "", "general.name (default: synthetic-<preset>)")
		layers  = flag.Int("layers", 0, "override the preset")
		dim     = flag.Int("dim", 0, "override the preset (a multiple of 32 and of heads)")
		ff      = flag.Int("ff", 0, "override the preset")
		heads   = flag.Int("heads", 0, "override the preset")
		kvHeads = flag.Int("kv-heads", 0, "override the preset")
		vsize   = flag.Int("vocab", 0, "override the preset")
		ctx     = flag.Int("ctx", 0, "override the preset: trained context length")
		sharp   = flag.Float64("sharpness", 30, "logit of the next token of the chain; low values (6 to 10) make sampled text vary")
		noise   = flag.Float64("noise", 0.1, "size of all layers' contributions beside the embedding")
		uni     = flag.Bool("unicode", false, "put an emoji, an accented letter and two Chinese characters, as single-byte tokens, in the passage")
		bad     = flag.Bool("bad-utf8", false, "put a lone continuation byte in the passage, about 40 tokens in")
		eos     = flag.Int("eos-after", 0, "end a chat turn's passage after this many tokens (0: never)")
		start   = flag.String("start", "talk", "what a plain chat turn does: talk, brief, tool or think")
		multi   = flag.Bool("think-by-default", false, "let the template's enable_thinking start a <think> block")
		plain   = flag.Bool("plain-template", false, "a ChatML template without tools and thinking (for engines that guess from the template)")
		seed    = flag.Int64("seed", 1, "random seed: the same flags and seed give the same file")
	)
	flag.Parse()
	if *list {
		var names []string
		for n := range presets {
			names = append(names, n)
		}
		sort.Slice(names, func(i, j int) bool { return presets[names[i]].dim < presets[names[j]].dim })
		for _, n := range names {
			fmt.Printf("%-7s %+v\n", n, presets[n])
		}
		return
	}
	fail := func(f string, a ...any) { fmt.Fprintf(os.Stderr, "makemodel: "+f+"\n", a...); os.Exit(1) }
	p, ok := presets[*preset]
	if !ok {
		fail("no preset %q", *preset)
	}
	for _, o := range []struct{ flag, field *int }{{layers, &p.layers}, {dim, &p.dim}, {ff, &p.ff}, {heads, &p.heads}, {kvHeads, &p.kvHeads}, {vsize, &p.vocab}, {ctx, &p.ctx}} {
		if *o.flag > 0 {
			*o.field = *o.flag
		}
	}
	if p.dim%32 != 0 || p.ff%32 != 0 || p.dim%p.heads != 0 || p.heads%p.kvHeads != 0 || p.dim/p.heads%2 != 0 {
		fail("dim and ff must be multiples of 32, dim of 2*heads, heads of kv-heads")
	}
	var typ int
	var ftype uint32
	switch *typName {
	case "f32":
		typ, ftype = ggmlF32, 0
	case "f16":
		typ, ftype = ggmlF16, 1
	case "q8_0":
		typ, ftype = ggmlQ8_0, 7
	default:
		fail("no type %q", *typName)
	}
	if *name == "" {
		*name = "synthetic-" + *preset
	}

	rng := rand.New(rand.NewSource(*seed))
	v, next, err := buildVocab(p.vocab, options{*uni, *bad, *eos, *start}, rng)
	if err != nil {
		fail("%v", err)
	}

	// Embedding rows, and who comes before whom.
	embed := make([]int8, p.vocab*p.dim)
	fillRow(embed, rng)
	row := func(i int) []int8 { return embed[i*p.dim : (i+1)*p.dim] }
	prev := make([][]int, p.vocab)
	for t, n := range next {
		prev[n] = append(prev[n], t)
	}

	if n, weak := checkChain(embed, next, p.dim); n > 0 {
		fmt.Fprintf(os.Stderr, "makemodel: %d of the chain's steps checked have a rival token (least margin %.2f of the step's own logit): take a larger -dim or another -seed\n", n, weak)
	}

	headDim := p.dim / p.heads
	kvDim := headDim * p.kvHeads
	small := *noise / math.Sqrt(float64(2*p.layers)) // per block, of an embedding with elements of size 1
	in := 1 / math.Sqrt(float64(p.dim))
	ts := []tensor{{"token_embd.weight", []int{p.dim, p.vocab}, typ, func(w io.Writer) error {
		var buf []byte
		for i := 0; i < p.vocab; i++ {
			buf = encodeRow(buf[:0], typ, row(i), 1/int8Std)
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	}}}
	for l := 0; l < p.layers; l++ {
		s := *seed*1000003 + int64(l)*16
		b := fmt.Sprintf("blk.%d.", l)
		ts = append(ts,
			ones(b+"attn_norm.weight", p.dim),
			randomMatrix(b+"attn_q.weight", p.dim, p.dim, typ, in, s+1),
			randomMatrix(b+"attn_k.weight", p.dim, kvDim, typ, in, s+2),
			randomMatrix(b+"attn_v.weight", p.dim, kvDim, typ, in, s+3),
			randomMatrix(b+"attn_output.weight", p.dim, p.dim, typ, small*in, s+4),
			ones(b+"ffn_norm.weight", p.dim),
			randomMatrix(b+"ffn_gate.weight", p.dim, p.ff, typ, in, s+5),
			randomMatrix(b+"ffn_up.weight", p.dim, p.ff, typ, in, s+6),
			randomMatrix(b+"ffn_down.weight", p.ff, p.dim, typ, small/math.Sqrt(float64(p.ff)), s+7),
		)
	}
	ts = append(ts, ones("output_norm.weight", p.dim), tensor{"output.weight", []int{p.dim, p.vocab}, typ, func(w io.Writer) error {
		var buf []byte
		q := make([]int8, p.dim)
		unit := *sharp / (int8Std * float64(p.dim))
		for i := 0; i < p.vocab; i++ {
			n := len(prev[i])
			for j := range q {
				sum := 0
				for _, t := range prev[i] {
					sum += int(embed[t*p.dim+j])
				}
				if n > 0 {
					sum /= n
				}
				q[j] = int8(sum)
			}
			buf = encodeRow(buf[:0], typ, q, float32(unit*float64(max(n, 1))))
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
		return nil
	}})

	tmpl := strings.Replace(chatTemplate, "MULTI", fmt.Sprint(*multi), 1)
	if *plain {
		tmpl = plainTemplate
	}
	kvs := []kv{
		{"general.architecture", "llama"},
		{"general.type", "model"},
		{"general.name", *name},
		{"general.file_type", ftype},
		{"general.quantization_version", uint32(2)},
		{"general.alignment", uint32(32)},
		{"llama.context_length", uint32(p.ctx)},
		{"llama.embedding_length", uint32(p.dim)},
		{"llama.block_count", uint32(p.layers)},
		{"llama.feed_forward_length", uint32(p.ff)},
		{"llama.attention.head_count", uint32(p.heads)},
		{"llama.attention.head_count_kv", uint32(p.kvHeads)},
		{"llama.attention.key_length", uint32(headDim)},
		{"llama.attention.value_length", uint32(headDim)},
		{"llama.attention.layer_norm_rms_epsilon", float32(1e-5)},
		{"llama.rope.dimension_count", uint32(headDim)},
		{"llama.rope.freq_base", float32(10000)},
		{"llama.vocab_size", uint32(p.vocab)},
		{"tokenizer.ggml.model", "gpt2"},
		{"tokenizer.ggml.pre", "llama-bpe"},
		{"tokenizer.ggml.tokens", v.text},
		{"tokenizer.ggml.token_type", v.typ},
		{"tokenizer.ggml.merges", v.merges},
		{"tokenizer.ggml.bos_token_id", uint32(256)},
		{"tokenizer.ggml.eos_token_id", uint32(257)},
		{"tokenizer.ggml.padding_token_id", uint32(258)},
		{"tokenizer.ggml.add_bos_token", true},
		{"tokenizer.ggml.add_eos_token", false},
		{"tokenizer.chat_template", tmpl},
	}

	f, err := os.Create(*out)
	if err != nil {
		fail("%v", err)
	}
	w := &writer{buf: bufio.NewWriterSize(f, 1<<20)}
	io.WriteString(w, "GGUF")
	w.le(uint32(3))
	w.le(uint64(len(ts)))
	w.le(uint64(len(kvs)))
	for _, x := range kvs {
		w.str(x.key)
		w.value(x.val)
	}
	var off, params int64
	for _, t := range ts {
		w.str(t.name)
		w.le(uint32(len(t.dims)))
		n := int64(1)
		for _, d := range t.dims {
			w.le(uint64(d))
			n *= int64(d)
		}
		params += n
		w.le(uint32(t.typ))
		w.le(uint64(off))
		off += (t.bytes() + 31) / 32 * 32
	}
	w.pad(32)
	for _, t := range ts {
		from := w.n
		if err := t.write(w); err != nil {
			fail("%s: %v", t.name, err)
		}
		if w.n-from != t.bytes() {
			fail("%s: wrote %d bytes, not %d", t.name, w.n-from, t.bytes())
		}
		w.pad(32)
	}
	if err := w.buf.Flush(); err != nil {
		fail("%v", err)
	}
	if err := f.Close(); err != nil {
		fail("%v", err)
	}
	fmt.Printf("%s: %d layers, dim %d, ff %d, heads %d/%d, vocab %d, ctx %d, %s, %.1fM parameters, %.1f MB\n",
		*out, p.layers, p.dim, p.ff, p.heads, p.kvHeads, p.vocab, p.ctx, *typName, float64(params)/1e6, float64(w.n)/1e6)
}
