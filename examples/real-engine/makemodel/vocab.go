package main

import (
	"fmt"
	"math/rand"
	"strings"
)

// ---- vocabulary ---------------------------------------------------------

const (
	typeNormal  = 1
	typeControl = 3
	typeUser    = 4
)

var englishWords = strings.Fields(`the of and to in is that it was for on are as with his they at be this have
from or one had by word but not what all were we when your can said there use an each which she do how their
if will up other about out many then them these so some her would make like him into time has look two more
write go see number no way could people my than first water been call who oil its now find long down day did
get come made may part over new sound take only little work know place year live me back give most very after
thing our just name good sentence man think say great where help through much before line right too mean old
any same tell boy follow came want show also around form three small set put end does another well large must
big even such because turn here why ask went men read need land different home us move try kind hand picture
again change off play spell air away animal house point page letter mother answer found study still learn
should world high every near add food between own below country plant last school father keep tree never start
city earth eye light thought head under story saw left few while along might close something seem next hard
open example begin life always those both paper together got group often run`)

var bigrams = strings.Fields(`t,h h,e i,n e,r a,n r,e o,n a,t e,n n,d t,i e,s o,r t,e o,f e,d i,s i,t a,l a,r
s,t t,o n,t n,g s,e h,a a,s o,u i,o l,e v,e c,o m,e d,e h,i r,i r,o i,c n,e e,a r,a c,e l,i c,h l,l b,e m,a
s,i o,m u,r c,a e,l t,a l,a n,s`)

// byteRune is the byte-to-character table of byte-level BPE vocabularies.
func byteRunes() [256]rune {
	var t [256]rune
	n := rune(0)
	for b := 0; b < 256; b++ {
		if (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || (b >= 0xae && b <= 0xff) {
			t[b] = rune(b)
		} else {
			t[b] = 256 + n
			n++
		}
	}
	return t
}

type vocab struct {
	runes  [256]rune
	text   []string // as stored (byte-level characters, or literal for special tokens)
	typ    []int32
	id     map[string]int
	merges []string
}

func (v *vocab) enc(raw string) string {
	var sb strings.Builder
	for i := 0; i < len(raw); i++ {
		sb.WriteRune(v.runes[raw[i]])
	}
	return sb.String()
}

func (v *vocab) put(stored string, typ int32) int {
	if i, ok := v.id[stored]; ok {
		return i
	}
	v.id[stored] = len(v.text)
	v.text = append(v.text, stored)
	v.typ = append(v.typ, typ)
	return len(v.text) - 1
}

func (v *vocab) piece(raw string) int    { return v.put(v.enc(raw), typeNormal) }
func (v *vocab) control(name string) int { return v.put(name, typeControl) }
func (v *vocab) user(name string) int    { return v.put(name, typeUser) }

type options struct {
	unicode  bool
	badUTF8  bool
	eosAfter int
	start    string
}

// buildVocab returns the vocabulary, and for each token the token that follows it.
func buildVocab(size int, o options, rng *rand.Rand) (*vocab, []int, error) {
	v := &vocab{runes: byteRunes(), id: map[string]int{}}
	for b := 0; b < 256; b++ {
		v.put(string(v.runes[b]), typeNormal)
	}
	v.control("<|begin_of_text|>") // 256
	im := v.control("<|im_end|>")  // 257: end of turn, and end of text
	v.control("<|pad|>")
	v.control("<|im_start|>")
	talk, brief := v.control("<|talk|>"), v.control("<|brief|>")
	act, ponder := v.control("<|act|>"), v.control("<|ponder|>")
	toolOpen, toolClose := v.user("<tool_call>"), v.user("</tool_call>")
	thinkOpen, thinkClose := v.user("<think>"), v.user("</think>")

	next := map[int]int{}
	var clash error
	chain := func(ids ...int) {
		for i := 0; i+1 < len(ids); i++ {
			if n, ok := next[ids[i]]; ok && n != ids[i+1] {
				clash = fmt.Errorf("token %d (%q) would have two successors", ids[i], v.text[ids[i]])
			}
			next[ids[i]] = ids[i+1]
		}
	}
	pieces := func(raw ...string) []int {
		out := make([]int, len(raw))
		for i, r := range raw {
			out[i] = v.piece(r)
		}
		return out
	}

	// A short answer that ends by itself.
	c := append([]int{brief}, pieces("Yes", ", here", " you", " are", "!")...)
	chain(append(c, im)...)

	// A tool call. After <tool_call> a server may constrain the text to a JSON schema.
	c = append([]int{act, toolOpen}, pieces("\n{\"", "name", "\": \"", "get", "_weather", "\", \"", "arguments", "\": {\"",
		"location", "\":", " \"", "San", " Francisco", ", CA", "\",", " \"unit", "\": ", "\"celsius", "\"}", "}\n")...)
	chain(append(c, toolClose, im)...)

	for _, b := range bigrams {
		l, r := b[:1], b[2:]
		v.merges = append(v.merges, l+" "+r)
		v.put(l+r, typeNormal)
	}
	sp := string(v.runes[' '])
	for r := 'a'; r <= 'z'; r++ {
		v.merges = append(v.merges, sp+" "+string(r))
		v.put(sp+string(r), typeNormal)
	}

	// A <think> block, then the passage.
	passage := pieces("Once")
	c = append([]int{ponder, thinkOpen}, pieces("\n", "Okay", ", let", " us", " consider", " it", " step", " by", " careful", " step:",
		" weigh", " facts", ", compare", " options", ", decide", ".\n")...)
	chain(append(c, thinkClose, passage[0])...)

	// The passage: English words, then made-up ones.
	fixed := len(v.text) + 40
	syl := func() string {
		return string("bdfgklmnprstvz"[rng.Intn(14)]) + string("aeiou"[rng.Intn(5)])
	}
	sentence := 0
	addWord := func(w string) {
		sentence++
		raw := " " + w
		if _, ok := v.id[v.enc(raw)]; ok {
			return
		}
		switch {
		case sentence%61 == 0:
			raw += ".\n\n"
		case sentence%13 == 0:
			raw += "."
		case sentence%7 == 0:
			raw += ","
		}
		if _, ok := v.id[v.enc(raw)]; ok {
			return
		}
		passage = append(passage, v.piece(raw))
	}
	if size < fixed+len(englishWords)/4 {
		return nil, nil, fmt.Errorf("vocabulary of %d is too small: at least %d", size, fixed+len(englishWords)/4)
	}
	for _, w := range englishWords {
		if len(v.text) >= size-40 {
			break
		}
		addWord(w)
	}

	for len(v.text) < size {
		w := syl() + syl()
		if rng.Intn(2) == 0 {
			w += syl()
		}
		if rng.Intn(3) == 0 {
			w += string("nrsl"[rng.Intn(4)])
		}
		addWord(w)
	}

	walk := passage
	if o.unicode {
		b := func(s string) (ids []int) {
			for i := 0; i < len(s); i++ {
				ids = append(ids, int(s[i])) // ids 0..255 are the bytes
			}
			return
		}
		// No byte may occur twice: a token has one successor.
		ins := map[int][]int{8: b(" \U0001F600"), 16: append(b("\u00e9"), b("\u4e2d\u6587")...)}
		walk = nil
		for i, id := range passage {
			walk = append(walk, id)
			walk = append(walk, ins[i]...)
		}
	}
	if o.badUTF8 {
		if len(walk) < 48 {
			return nil, nil, fmt.Errorf("the passage is too short for -bad-utf8")
		}
		walk = append(walk[:40:40], append([]int{0xbd}, walk[40:]...)...)
	}
	chain(walk...)
	if clash != nil {
		return nil, nil, clash
	}
	next[walk[len(walk)-1]] = walk[1]
	if o.eosAfter > 0 && o.eosAfter < len(walk) {
		next[walk[o.eosAfter-1]] = im
	}
	switch o.start {
	case "talk":
		next[talk] = walk[0]
	case "brief":
		next[talk] = next[brief]
	case "tool":
		next[talk] = toolOpen
	case "think":
		next[talk] = thinkOpen
	default:
		return nil, nil, fmt.Errorf("-start %q: want talk, brief, tool or think", o.start)
	}

	// Every other token (bytes, word parts: the end of some prompt) goes on
	// somewhere in the passage, spread so that few share a successor.
	out := make([]int, size)
	k := 1
	for t := range out {
		if n, ok := next[t]; ok {
			out[t] = n
			continue
		}
		out[t] = walk[k%len(walk)]
		k++
	}
	return v, out, nil
}
