package hf

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tokenmeter/wire/tokens/pattern"
)

// A file of a few KiB whose parts make gigabytes of a short text is an error, not
// the end of the process for want of memory.
func TestGrowthEnds(t *testing.T) {
	times := func(n int, part string) string { return strings.TrimSuffix(strings.Repeat(part+",", n), ",") }
	replace := func(what, by string) string {
		return fmt.Sprintf(`{"type":"Replace","pattern":%s,"content":%q}`, what, by)
	}
	double, long := replace(`{"String":"a"}`, "aa"), strings.Repeat("a", 100_000)
	letters := `{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":false}`
	for name, file := range map[string]string{
		"one by two, forty times":  `"normalizer":{"type":"Sequence","normalizers":[` + times(40, double) + `]}`,
		"one by many":              `"normalizer":` + replace(`{"String":"a"}`, long),
		"one by many, by pattern":  `"normalizer":` + replace(`{"Regex":"a"}`, long),
		"letters of letters":       `"normalizer":{"type":"Sequence","normalizers":[` + times(60, `{"type":"ByteLevel"}`) + `]}`,
		"letters of letters, cut":  `"pre_tokenizer":{"type":"Sequence","pretokenizers":[` + times(60, letters) + `]}`,
		"one by two, of a token":   `"added_tokens":[{"id":3,"content":"aaa","normalized":true}],"normalizer":{"type":"Sequence","normalizers":[` + times(40, double) + `]}`,
		"words before many tokens": `"added_tokens":[` + times(200, `{"id":3,"content":"b","normalized":true}`) + `],"normalizer":{"type":"Prepend","prepend":"` + long + `"}`,
	} {
		tok, err := Parse([]byte("{"+file+","+tiny+"}"), Options{})
		if err == nil {
			_, err = tok.Count(strings.Repeat("aé", 2000))
		}
		if grown := (*pattern.GrownError)(nil); !errors.As(err, &grown) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	for name, decoder := range map[string]string{
		"one by two, forty times": `{"type":"Sequence","decoders":[` + times(40, double) + `]}`,
		"one by many":             replace(`{"String":"a"}`, long),
		"a blank between all":     `{"type":"Sequence","decoders":[` + times(60, `{"type":"BPEDecoder","suffix":""}`) + `]}`,
	} {
		tok, err := Parse([]byte(`{"decoder":`+decoder+","+tiny+"}"), Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = tok.AppendText(nil, make([]uint32, 2000))
		if grown := (*pattern.GrownError)(nil); !errors.As(err, &grown) {
			t.Errorf("decoder, %s: error %v", name, err)
		}
	}
}

// The characters that Unicode's forms make most of, written as letters of their
// bytes, are far from the bound.
func TestLigaturesGrow(t *testing.T) {
	tok, err := Parse([]byte(`{"normalizer":{"type":"Sequence","normalizers":[{"type":"NFKD"},{"type":"ByteLevel"}]},`+tiny+"}"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Count(strings.Repeat("\uFDFA", 200_000)); err != nil {
		t.Error(err)
	}
}
