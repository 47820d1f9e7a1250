package workload

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"tokenmeter/base/random"
)

//go:embed corpora/*.txt
var corpora embed.FS

// Words and IDs are the corpora that have no grammar.
const (
	Words = "words" // everyday words, one token each on most servers
	IDs   = "ids"   // random tokens of a tokenizer
)

// CorpusNames lists what texts can be made of.
func CorpusNames() []string {
	names := []string{Words, IDs}
	files, _ := corpora.ReadDir("corpora") // embedded: it can be read
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".txt"))
	}
	slices.Sort(names)
	return names
}

// grammar makes sentences: templates with slots, and what may stand in them.
type grammar struct {
	sentences []template
	// ends is what a sentence ends with, and so where a text may be cut: a
	// space goes in front of the next sentence, or a line break behind this one.
	lines bool // code: a sentence is lines
	tight bool // no spaces between sentences
}

// template is a sentence: text, slot, text, slot, … text.
type template []part

type part struct {
	text  string
	slots []string // nil: text alone
}

// grammarOf reads an embedded corpus, once.
func grammarOf(name string) (*grammar, error) {
	if !slices.Contains(CorpusNames(), name) {
		return nil, fmt.Errorf("corpus %q: want one of %s", name, strings.Join(CorpusNames(), ", "))
	}
	loaded.Lock()
	defer loaded.Unlock()
	if g := loaded.grammars[name]; g != nil {
		return g, nil
	}
	data, err := corpora.ReadFile(path.Join("corpora", name+".txt"))
	if err != nil {
		return nil, err
	}
	g := parseGrammar(string(data))
	g.lines = name == "code"
	g.tight = name == "chinese" || name == "japanese"
	loaded.grammars[name] = g
	return g, nil
}

var loaded = struct {
	sync.Mutex
	grammars map[string]*grammar
}{grammars: map[string]*grammar{}}

func parseGrammar(data string) *grammar {
	slots := map[string][]string{}
	heading := ""
	for line := range strings.Lines(data) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			heading = strings.Trim(line, "[]")
		default:
			slots[heading] = append(slots[heading], line)
		}
	}
	g := &grammar{}
	for _, s := range slots["sentence"] {
		g.sentences = append(g.sentences, parseTemplate(strings.ReplaceAll(s, "|", "\n"), slots))
	}
	return g
}

// parseTemplate splits a sentence at its slots. Braces without a known name
// inside are text.
func parseTemplate(s string, slots map[string][]string) template {
	var t template
	text := ""
	for s != "" {
		open := strings.IndexByte(s, '{')
		if open < 0 {
			text += s
			break
		}
		name, rest, closed := strings.Cut(s[open+1:], "}")
		if words := slots[name]; closed && words != nil {
			t = append(t, part{text: text + s[:open], slots: words})
			text, s = "", rest
			continue
		}
		text, s = text+s[:open+1], s[open+1:]
	}
	return append(t, part{text: text})
}

// sentence draws one, with a capital where the script has them.
func (g *grammar) sentence(src *random.Source) string {
	t := g.sentences[src.Between(0, int64(len(g.sentences)-1))]
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		if p.slots != nil {
			b.WriteString(p.slots[src.Between(0, int64(len(p.slots)-1))])
		}
	}
	if g.lines {
		b.WriteByte('\n')
		return b.String()
	}
	s := b.String()
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// pieces cuts a sentence where its tokens do not depend on each other: in front
// of a space, or behind a line break. The last piece of prose starts the next
// sentence with a space.
func (g *grammar) pieces(sentence string, yield func(string) bool) {
	if g.lines {
		for line := range strings.Lines(sentence) {
			if !yield(line) {
				return
			}
		}
		return
	}
	if g.tight {
		// A mark counts together with the letters behind it, so the stop of a
		// sentence is put in front of the next.
		yield("。" + strings.TrimSuffix(sentence, "。"))
		return
	}
	sentence = " " + sentence
	for sentence != "" {
		end := strings.IndexByte(sentence[1:], ' ') + 1
		if end <= 0 {
			end = len(sentence)
		}
		if !yield(sentence[:end]) {
			return
		}
		sentence = sentence[end:]
	}
}
