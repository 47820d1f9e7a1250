package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
	"tokenmeter/load/workload/records"
	"tokenmeter/wire/tokens"
)

type tokensCmd struct {
	Files     []string `arg:"" optional:"" name:"file" help:"Files to count; - or none is stdin."`
	Text      *string  `placeholder:"TEXT" help:"Count this text instead of files."`
	Tokenizer string   `default:"${tokenizer}" placeholder:"NAME|FILE" help:"${tokenizers}, or a Hugging Face tokenizer.json (or its folder). Default: ${default}."`
	JSONL     bool     `name:"jsonl" help:"Read lines of {\"text\":…} and print lines of {\"tokens\":n}."`
	Encode    bool     `xor:"way" help:"Print the ids of the tokens, not their number."`
	Decode    bool     `xor:"way" help:"Read ids and print their text; with --jsonl lines of {\"ids\":[…]} become {\"text\":…}."`
	Special   bool     `help:"Read the names of special tokens in a text, like <|endoftext|>, as one token each."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (tokensCmd) Help() string {
	return `Counts the tokens of each file exactly as it is, the last line break included. Nothing is added: no begin or end marker, no chat template, so an empty text has 0 tokens. A server's own count is larger by its template; what it says in usage comes first wherever tokenmeter has it.

    tokenmeter tokens --text "How many are we?"
    tokenmeter tokens --tokenizer ./Qwen3/tokenizer.json prompts/*.txt
    tokenmeter tokens --jsonl <prompts.jsonl

Blank lines of --jsonl are passed over; a line without a text ends the command with exit code 2.`
}

// Run counts.
func (c *tokensCmd) Run(a *app) error {
	if c.Text != nil && (len(c.Files) > 0 || c.JSONL) {
		return errors.New("--text goes with neither files nor --jsonl")
	}
	enc, err := tokens.Open(c.Tokenizer, tokens.Options{Specials: c.Special})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.stdout)
	job := tokensJob{tokensCmd: c, enc: enc, out: out}
	if err := job.run(); err != nil {
		return errors.Join(out.Flush(), err)
	}
	return out.Flush()
}

// tokensJob is one run of the command.
type tokensJob struct {
	*tokensCmd
	enc   tokens.Encoder
	out   *bufio.Writer
	ids   []uint32
	total int
}

func (j *tokensJob) run() error {
	if j.Text != nil {
		return j.whole("", strings.NewReader(*j.Text))
	}
	names := j.Files
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if err := j.file(name, len(names) > 1); err != nil {
			return err
		}
	}
	if len(names) > 1 && !j.JSONL && !j.Encode && !j.Decode {
		fmt.Fprintf(j.out, "%d total\n", j.total)
	}
	return nil
}

func (j *tokensJob) file(name string, several bool) error {
	r := io.Reader(os.Stdin)
	label := "stdin"
	if name != "-" {
		f, err := limitio.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r, label = f, name
	}
	in := bufio.NewReaderSize(r, 1<<16)
	head, _ := in.Peek(4) // an error comes again below
	if why := records.Encoding(head); why != "" {
		return fmt.Errorf("%s: %s", label, why)
	}
	if j.JSONL {
		return j.lines(label, in)
	}
	if !several {
		label = ""
	}
	return j.whole(label, in)
}

// whole takes all there is to read as one text.
func (j *tokensJob) whole(label string, r io.Reader) error {
	b, err := limitio.All(r, 1<<30)
	if err != nil {
		return err
	}
	switch {
	case j.Decode:
		return j.decode(string(b))
	case j.Encode:
		return j.encode(string(b))
	}
	n, err := j.enc.Count(string(b))
	if err != nil {
		return err
	}
	j.total += n
	if label != "" {
		_, err = fmt.Fprintf(j.out, "%d %s\n", n, printable.Text(label))
	} else {
		_, err = fmt.Fprintln(j.out, n)
	}
	return err
}

func (j *tokensJob) encode(text string) error {
	ids, err := j.enc.Append(j.ids[:0], text)
	if err != nil {
		return err
	}
	j.ids = ids
	for i, id := range j.ids {
		if i > 0 {
			j.out.WriteByte(' ')
		}
		j.out.WriteString(strconv.FormatUint(uint64(id), 10))
	}
	return j.out.WriteByte('\n')
}

// decode writes the text of ids that white space, commas or brackets separate.
func (j *tokensJob) decode(list string) error {
	for word := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]", r) }) {
		id, err := strconv.ParseUint(word, 10, 32)
		if err != nil {
			return fmt.Errorf("--decode: %q is no id", word)
		}
		j.ids = append(j.ids, uint32(id))
	}
	text, err := j.enc.AppendText(nil, j.ids)
	if err != nil {
		return err
	}
	_, err = j.out.Write(text)
	return err
}

// lines takes every line as one JSON object.
func (j *tokensJob) lines(label string, in *bufio.Reader) error {
	for number := 1; ; number++ {
		line, err := limitio.Line(in, 256<<20)
		if len(bytes.TrimSpace(line)) > 0 {
			if err := j.line(line); err != nil {
				return fmt.Errorf("%s:%d: %w", label, number, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", label, err)
		}
	}
}

func (j *tokensJob) line(line []byte) error {
	var given struct {
		Text *string  `json:"text"`
		IDs  []uint32 `json:"ids"`
	}
	if err := json.Unmarshal(line, &given); err != nil {
		return lineWords(err)
	}
	if j.Decode {
		if given.IDs == nil {
			return errors.New(`no "ids" in the line`)
		}
		text, err := j.enc.AppendText(nil, given.IDs)
		if err != nil {
			return err
		}
		return j.print(struct {
			Text string `json:"text"`
		}{string(text)})
	}
	if given.Text == nil {
		return errors.New(`no "text" in the line`)
	}
	if j.Encode {
		ids, err := j.enc.Append(j.ids[:0], *given.Text)
		if err != nil {
			return err
		}
		j.ids = ids
		return j.print(struct {
			Tokens int      `json:"tokens"`
			IDs    []uint32 `json:"ids"`
		}{len(j.ids), append([]uint32{}, j.ids...)})
	}
	n, err := j.enc.Count(*given.Text)
	if err == nil {
		_, err = fmt.Fprintf(j.out, "{\"tokens\":%d}\n", n)
	}
	return err
}

func (j *tokensJob) print(v any) error {
	e := json.NewEncoder(j.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// lineWords says what is wrong with a line without the names of our types.
func lineWords(err error) error {
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		return fmt.Errorf(`a %s does not belong there; a line is {"text":"…"}, or {"ids":[…]} with --decode`, kind.Value)
	}
	return fmt.Errorf(`it is no JSON (%w); a line is {"text":"…"}, or {"ids":[…]} with --decode`, err)
}
