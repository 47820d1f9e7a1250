package hf

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const tiny = `"model":{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":["a b"]}`

// What is not known is an error that names it.
func TestParseRefuses(t *testing.T) {
	word := func(rest string) string {
		return `{` + rest + `,"model":{"type":"WordLevel","vocab":{"u":0},"unk_token":"u"}}`
	}
	model := func(m string) string { return `{"model":` + m + `}` }
	for file, why := range map[string]string{
		``: "JSON is broken", `[]`: "JSON is broken", `{"model":`: "JSON is broken", `{} x`: "JSON is broken", `{}`: "no model",
		`{` + tiny + `,"extra":1}`: `"extra"`, `{"version":"2.0",` + tiny + `}`: `"2.0"`,
		word(`"normalizer":{"type":"Foo"}`): `normalizer "Foo"`, word(`"normalizer":{"type":"NFC","x":1}`): `unknown field "x"`,
		word(`"normalizer":{"type":"Strip","strip_left":true}`):                           `"strip_right" is missing`,
		word(`"normalizer":{"type":"Replace","pattern":{"Regex":"(a)\\1"},"content":""}`): `\1`,
		word(`"normalizer":{"type":"Sequence","normalizers":[{"type":"Bar"}]}`):           `normalizer "Bar"`,
		word(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"!"}`):            "Precompiled", word(`"normalizer":{"type":"Precompiled","precompiled_charsmap":"/////w=="}`): "cut short",
		word(`"pre_tokenizer":{"type":"Foo"}`): `pre-tokenizer "Foo"`, word(`"pre_tokenizer":{"type":"UnicodeScripts"}`): `pre-tokenizer "UnicodeScripts"`,
		word(`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"\\bx"},"behavior":"Isolated","invert":false}`): `\b`,
		word(`"pre_tokenizer":{"type":"Split","pattern":{"String":"x"},"behavior":"Odd","invert":false}`):        `"Odd"`,
		word(`"pre_tokenizer":{"type":"Digits"}`):                                                                `"individual_digits" is missing`, word(`"pre_tokenizer":{"type":"FixedLength","length":0}`): "length is 0",
		word(`"pre_tokenizer":{"type":"Metaspace","replacement":"_","prepend_scheme":"last"}`):  `"last"`,
		word(`"pre_tokenizer":{"type":"Metaspace","replacement":"_","add_prefix_space":false}`): "add_prefix_space is off",
		word(`"pre_tokenizer":{"type":"Metaspace","replacement":"__"}`):                         "is no character",
		word(`"added_tokens":[{"id":1,"content":"x","sort":2}]`):                                `"sort"`, word(`"added_tokens":[{"id":99999999,"content":"x"}]`): "too large",
		model(`{"type":"Foo","vocab":{}}`): `model "Foo"`, model(`{"type":"BPE"}`): "no vocabulary", model(`{"type":"BPE","vocab":{}}`): "empty",
		model(`{"type":"BPE","vocab":{"a":0,"b":0},"merges":[]}`): "have one id", model(`{"type":"BPE","vocab":{"a":0,"b":1},"merges":["a b"]}`): "make no token",
		model(`{"type":"BPE","vocab":{"a":0},"merges":["a c"]}`): "not both in the vocabulary", model(`{"type":"BPE","vocab":{"a":-1},"merges":[]}`): "is no id",
		model(`{"type":"BPE","vocab":{"a":0},"merges":["a b c"]}`): "is no pair", model(`{"type":"BPE","vocab":{"a":0},"merges":[],"dropout":0.1}`): "dropout",
		model(`{"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"u"}`): `"u"`, model(`{"type":"BPE","vocab":{"a":0},"merges":[],"unk_token":"u","byte_fallback":true}`): `"u"`,
		model(`{"type":"BPE","vocab":{"a":0},"merges":[],"cache":1}`):                                                               `"cache"`,
		model(`{"type":"WordPiece","vocab":{"a":0},"unk_token":"u","continuing_subword_prefix":"##","max_input_chars_per_word":9}`): `"u"`,
		model(`{"type":"Unigram","vocab":[["a",-1]],"unk_id":null}`):                                                                "unknown characters", model(`{"type":"Unigram","vocab":[["a"]],"unk_id":0}`): "JSON is broken",
	} {
		if _, err := Parse([]byte(file), Options{}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error %v, want one with %q", file, err, why)
		}
	}
}

func TestUnsupportedNamesThePart(t *testing.T) {
	_, err := Parse([]byte(`{"normalizer":{"type":"Foo"},`+tiny+`}`), Options{})
	var unsupported *UnsupportedError
	if !errors.As(err, &unsupported) || unsupported.Name != "Foo" {
		t.Errorf("error %v", err)
	}
}

// A decoder that is not known does not keep a text from being counted.
func TestUnknownDecoder(t *testing.T) {
	tok := parsed(t, []byte(`{"decoder":{"type":"CTC"},`+tiny+`}`), Options{})
	if n, _ := tok.Count("abab"); n != 2 {
		t.Errorf("%d tokens, want 2", n)
	}
	if _, err := tok.AppendText(nil, []uint32{0}); err == nil || !strings.Contains(err.Error(), "CTC") {
		t.Errorf("error %v", err)
	}
}

// The scanner reads objects as encoding/json does.
func FuzzFields(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":[1,{"c":"\"]"}],"é":null, "x\u0041":"y"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := fields(raw)
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			return // what is wrong deeper inside is found by whoever reads it
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v, %d fields, want %d", raw, err, len(got), len(want))
		}
		for name, v := range want {
			if string(got[name]) != string(v) {
				t.Errorf("%q: %q is %q, want %q", raw, name, got[name], v)
			}
		}
	})
}

// No file makes Parse panic, nor a tokenizer that was read.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{`+tiny+`}`), "abab c")
	for _, part := range []string{`"normalizer":{"type":"NFKC"}`, `"pre_tokenizer":{"type":"Metaspace","replacement":"_"}`,
		`"pre_tokenizer":{"type":"Split","pattern":{"Regex":"a|b"},"behavior":"MergedWithNext","invert":false}`,
		`"normalizer":{"type":"Precompiled","precompiled_charsmap":"CAAAAAAAAAAAAAAAAAAA"}`,
		`"added_tokens":[{"id":3,"content":"c","single_word":true,"lstrip":true,"rstrip":true,"normalized":true,"special":true}]`} {
		f.Add([]byte(`{`+part+`,`+tiny+`}`), "ab c\u0301 ")
	}
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[["u",0],["a",-1],["ab",-1.5]],"unk_id":0}}`), "abcab")
	f.Fuzz(func(t *testing.T, raw []byte, text string) {
		if len(raw) > 1<<12 || len(text) > 1<<10 {
			return
		}
		tok, err := Parse(raw, Options{Specials: true})
		if err != nil {
			return
		}
		ids, _ := tok.Append(nil, text)
		if n, _ := tok.Count(text); n != len(ids) {
			t.Errorf("%s: Count(%q) = %d, but %d ids", raw, text, n, len(ids))
		}
		tok.AppendText(nil, ids)
	})
}

// A vocabulary need not have all bytes: Gemma's has a tab in place of its byte. A text of which
// one byte is missing is unknown as a whole, else it is spelled.
// The ids are those of Hugging Face's tokenizers 0.23.3.
func TestBytesThatAVocabularyLacks(t *testing.T) {
	const bytes = `"<0xC3>","<0xA9>","<0xE6>","<0x97>"` // é, and a part of 日
	list := func(with string) string {
		var parts []string
		for i, name := range strings.Split(`"<unk>","a","\t",`+bytes, ",") {
			parts = append(parts, fmt.Sprintf(with, name, i))
		}
		return strings.Join(parts, ",")
	}
	bpe := func(more string) string {
		return `{"model":{"type":"BPE","vocab":{` + list("%s:%d") + `},"merges":[],"byte_fallback":true` + more + `}}`
	}
	unigram := `{"model":{"type":"Unigram","unk_id":0,"byte_fallback":true,"vocab":[` + list("[%s,-%d.5]") + `]}}`
	for _, c := range []struct {
		name, file, text string
		ids              []uint32
	}{
		{"BPE", bpe(`,"unk_token":"<unk>"`), "a\té日a日日", []uint32{1, 2, 3, 4, 0, 1, 0, 0}},
		{"BPE, fused", bpe(`,"unk_token":"<unk>","fuse_unk":true`), "a\té日a日日", []uint32{1, 2, 3, 4, 0, 1, 0}},
		{"BPE, dropped", bpe(``), "a\té日a", []uint32{1, 2, 3, 4, 1}},
		{"Unigram", unigram, "aéa日日é", []uint32{1, 3, 4, 1, 0}},
	} {
		tok := parsed(t, []byte(c.file), Options{})
		if got, err := tok.Append(nil, c.text); err != nil || !slices.Equal(got, c.ids) {
			t.Errorf("%s: %v, want %v (%v)", c.name, got, c.ids, err)
		}
	}
}
