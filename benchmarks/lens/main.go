//go:build linux

// Command lens shows that our lenses of other tools say what those tools print. It
// plays the same scripted replies to each tool and to tokenmeter, puts every figure
// that the tool printed beside the one that the lens makes of tokenmeter's record,
// and writes docs/lens.md:
//
//	benchmarks/peers/setup
//	go run ./benchmarks/lens
//
// A tool that setup did not install is left out, and the document says so.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"tokenmeter/benchmarks/harness"
)

var (
	venvsFlag = flag.String("venvs", harness.Venvs(), "the folder that benchmarks/peers/setup filled")
	workFlag  = flag.String("work", "", "where runs go, and stay; empty: a temporary folder")
	outFlag   = flag.String("out", "docs/lens.md", "the document to write")
	againFlag = flag.Bool("again", false, "play nothing: look at what an earlier run left in -work, with the lenses as they are now")
	toolsFlag = flag.String("tools", "", "lenses of the tools to play to, with commas between; empty: all")
	shapeFlag = flag.String("shapes", "", "shapes to play, with commas between; empty: all")
)

func main() {
	flag.Parse()
	if err := prove(); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "lens:", err)
	os.Exit(1)
}

// lensTable is a table of `report --lens`, as JSON.
type lensTable struct {
	Lens string `json:"lens"`
	Rows []struct {
		Name  string   `json:"name"`
		Unit  string   `json:"unit"`
		Value *float64 `json:"value"`
		Why   string   `json:"why"`
	} `json:"rows"`
}

func prove() error {
	work, err := workFolder()
	if err != nil {
		return err
	}
	venvs, err := filepath.Abs(*venvsFlag)
	if err != nil {
		return err
	}
	binary := filepath.Join(work, "tokenmeter")
	if out, err := exec.Command("go", "build", "-o", binary, "./cmd/tokenmeter").CombinedOutput(); err != nil {
		return fmt.Errorf("tokenmeter is not built: %w\n%s", err, out)
	}
	tokenizer := filepath.Join(work, "tokenizer")
	if err := writeTokenizer(tokenizer); err != nil {
		return err
	}
	var results []*result
	for i := range tools {
		if t := &tools[i]; chosen(*toolsFlag, t.lens) {
			r := &result{tool: t, version: t.version(venvs)}
			if r.program, err = t.find(venvs); err != nil {
				r.missing = err.Error()
				fmt.Fprintln(os.Stderr, "left out:", r.missing)
			}
			results = append(results, r)
		}
	}
	for i := range shapes {
		s := &shapes[i]
		if !chosen(*shapeFlag, s.name) {
			continue
		}
		for _, r := range results {
			if r.missing == "" {
				if err := r.best(s, &setting{binary: binary, tokenizer: tokenizer, venvs: venvs, work: work}); err != nil {
					return err
				}
			}
		}
	}
	return os.WriteFile(*outFlag, []byte(document(results)), 0o666)
}

func (s *shape) file() string { return strings.ReplaceAll(s.name, " ", "-") }

func chosen(list, name string) bool {
	return list == "" || slices.Contains(strings.Split(list, ","), name)
}

func workFolder() (string, error) {
	if *workFlag == "" {
		return os.MkdirTemp("", "lens")
	}
	if err := os.MkdirAll(*workFlag, 0o777); err != nil {
		return "", err
	}
	return filepath.Abs(*workFlag)
}

// setting is where things are.
type setting struct{ binary, tokenizer, venvs, work string }

// plays is how often a shape is played at most. What a busy machine does to times
// only adds to differences: of several plays the one counts with the fewest.
const plays = 5

// best plays the shape to the tool and to tokenmeter until all figures are equal.
func (r *result) best(s *shape, at *setting) error {
	var best []cell
	for i := range plays {
		dir := filepath.Join(at.work, s.file(), r.tool.lens, fmt.Sprint(i+1))
		if *againFlag {
			if _, err := os.Stat(dir); err != nil {
				break
			}
		} else if err := os.RemoveAll(dir); err != nil {
			return err
		}
		ours, err := measure(at.binary, s, filepath.Join(dir, "ours"), at.tokenizer)
		if err != nil {
			return fmt.Errorf("%s: tokenmeter: %w", s.name, err)
		}
		cells, err := r.measure(s, at, filepath.Join(dir, "theirs"), ours[r.tool.lens])
		if err != nil {
			return fmt.Errorf("%s: %s: %w (%s)", s.name, r.tool.name, err, filepath.Join(dir, "theirs", "said.txt"))
		}
		if cells == nil {
			return nil
		}
		if best == nil || open(cells) < open(best) {
			best = cells
		}
		fmt.Fprintf(os.Stderr, "%-18s %-15s %s\n", s.name, r.tool.lens, soFar(cells))
		if open(best) == 0 {
			break
		}
	}
	r.cells = append(r.cells, best...)
	return nil
}

// measure has tokenmeter measure the shape, and looks through all lenses.
func measure(binary string, s *shape, dir, tokenizer string) (map[string]*lensTable, error) {
	run := filepath.Join(dir, "run")
	if !*againFlag {
		if err := bench(binary, s, dir, run, tokenizer); err != nil {
			return nil, err
		}
	}
	out, err := exec.Command(binary, "report", run, "--lens", "all", "--format", "json").Output()
	if err != nil {
		return nil, err
	}
	var tables []*lensTable
	if err := json.Unmarshal(out, &tables); err != nil {
		return nil, err
	}
	byLens := map[string]*lensTable{}
	for _, t := range tables {
		byLens[t.Lens] = t
	}
	return byLens, nil
}

func bench(binary string, s *shape, dir, run, tokenizer string) error {
	p, err := play(s)
	if err != nil {
		return err
	}
	defer p.stop()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	args := []string{"bench", p.url, "--model", "sim", "--api", "openai-chat", "--preflight", "none", "--server-metrics", "off",
		"--concurrency", "1", "--requests", asked, "--warmup", "0", "--prompt", fmt.Sprintf(promptForm, 0), "--output-tokens", "16",
		"--tokenizer", filepath.Join(tokenizer, "tokenizer.json"), "--no-strict", "--force", "--out", run}
	if s.whole {
		args = append(args, "--no-stream")
	}
	// Its exit code says other things too: what the replies do is on purpose.
	said, _ := exec.Command(binary, args...).CombinedOutput()
	if got := p.played.Load(); got != requests {
		return fmt.Errorf("%d requests came, not %d:\n%s", got, requests, said)
	}
	return nil
}

// writeTokenizer makes a tokenizer of which every byte is a token: the replies'
// letters are the tokens that the server counts.
func writeTokenizer(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	vocab := map[string]int{}
	next := 256
	for b := range 256 { // as GPT-2 writes bytes that are no printable sign
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r = rune(next)
			next++
		}
		vocab[string(utf8.AppendRune(nil, r))] = b
	}
	bytes := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	for name, v := range map[string]any{
		"tokenizer.json": map[string]any{
			"version": "1.0", "truncation": nil, "padding": nil, "normalizer": nil, "pre_tokenizer": bytes,
			"post_processor": nil, "decoder": bytes,
			"added_tokens": []any{map[string]any{"id": 256, "content": "<end>", "single_word": false, "lstrip": false, "rstrip": false,
				"normalized": false, "special": true}},
			"model": map[string]any{"type": "BPE", "dropout": nil, "unk_token": nil, "continuing_subword_prefix": nil,
				"end_of_word_suffix": nil, "fuse_unk": false, "byte_fallback": false, "vocab": vocab, "merges": []any{}},
		},
		"config.json": map[string]any{"model_type": "gpt2"}, // some look for it
		"tokenizer_config.json": map[string]any{
			"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<end>", "eos_token": "<end>", "pad_token": "<end>",
			"model_max_length": 1000000, "chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}",
		},
	} {
		text, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
