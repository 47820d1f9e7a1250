// Package imports reads the result files of other tools into runs. One file per
// tool, one line in the table below. What a file does not tell stays unknown: an
// importer never makes up a time or a count.
package imports

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"tokenmeter/base/limitio"
	"tokenmeter/base/pyjson"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Importer reads the files of one tool.
type Importer struct {
	Name string // as --from names it
	Says string // one line for the help: which files
	// Is tells the tool's files by their first bytes.
	Is func(head []byte) bool
	// Read calls add for every request, in the order of the file, and returns
	// what the file tells of the run. Of a file that holds no request, only the
	// figures of a whole run, these are the run's Told.
	Read func(in *Input, add func(*timeline.Timeline) error) (run.Run, error)
}

// Importers lists the tools, in the order in which files are recognised.
var Importers = []Importer{
	{"aiperf", "AIPerf's profile_export.jsonl and profile_export_aiperf.json", isAIPerf, readAIPerf},
	{"vllm", "vllm bench serve --save-result, with --save-detailed every request; SGLang's bench_serving", isVLLM, readVLLM},
	{"guidellm", "GuideLLM's benchmarks.json", isGuideLLM, readGuideLLM},
	{"inference-perf", "inference-perf's per_request_lifecycle_metrics.json", isInferencePerf, readInferencePerf},
	{"llmeter", "llmeter's responses.jsonl, and stats.json as a summary", isLLMeter, readLLMeter},
	{"genai-perf", "genai-perf's and perf_analyzer's profile_export.json", contains(`"experiments"`, `"response_timestamps"`), readGenAIPerf},
	{"genai-bench", "genai-bench's file of a scenario and a number of streams", contains(`"aggregated_metrics"`, `"mean_output_throughput_tokens_per_s"`), readGenAIBench},
	{"llama-bench", "llama-bench -o json, jsonl, csv or md", isLLAMABench, readLLAMABench},
	{"mlperf", "MLPerf LoadGen's mlperf_log_summary.txt and mlperf_log_detail.txt", isMLPerf, readMLPerf},
	{"mlperf-endpoints", "MLPerf Endpoints' result_summary.json", contains(`"n_samples_issued"`, `"duration_ns"`), readEndpoints},
	{"inferencex", "rows of InferenceX's results", isInferenceX, readInferenceX},
	{"llm-d", "llm-d's benchmark report 0.2 and 0.2.1, YAML or JSON", contains("request_performance", "aggregate"), readLLMD},
	{"otel", "OpenTelemetry spans of GenAI clients, as OTLP in JSON", isOTel, readOTel},
	{"csv", "a table with the columns start_s, ttft_ms, e2e_ms, input_tokens, output_tokens, error", isCSV, readCSV},
}

// contains tells files by words that all stand in their first bytes.
func contains(words ...string) func(head []byte) bool {
	return func(head []byte) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !bytes.Contains(head, []byte(word)) })
	}
}

// Names lists the tools, for messages.
func Names() string {
	names := make([]string, len(Importers))
	for i, m := range Importers {
		names[i] = m.Name
	}
	return strings.Join(names, ", ")
}

// ByName finds a tool. The error lists what there is.
func ByName(name string) (*Importer, error) {
	for i := range Importers {
		if Importers[i].Name == name {
			return &Importers[i], nil
		}
	}
	return nil, fmt.Errorf("unknown tool %q; known are %s", name, Names())
}

// headBytes is how much of a file is looked at to recognise it.
const headBytes = 64 << 10

// Recognise finds the tool whose file begins so; nil: none.
func Recognise(head []byte) *Importer {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	for i := range Importers {
		if Importers[i].Is(head) {
			return &Importers[i]
		}
	}
	return nil
}

// MostBytes is the largest file that is read: the largest are whole in memory.
const MostBytes = 1 << 30

// Input is one file. Errors name places in it.
type Input struct {
	Name string // for messages
	// Part is which run of the file is meant, from 1; 0: the only one.
	Part int
	// Notes are what Read says of the file beside the run: what it left out, and why.
	Notes []string
	// ZeroS is the moment at which the run's clock begins, in seconds of the file's own
	// clock; NaN where the file tells none, or was not read yet.
	ZeroS float64
	// Reply reads a reply of which a file has all that its server wrote; it returns nil for
	// one of no known API. Nil: of such replies only what the tool tells is known.
	Reply func(body string) *timeline.Timeline
	data  []byte
}

// Began is when the run began, of a file whose clock counts from 1970; zero: of any other.
func (in *Input) Began() time.Time {
	if !(in.ZeroS >= 1e9 && in.ZeroS < 4e9) { // from 2001 to 2096
		return time.Time{}
	}
	return time.UnixMicro(us(in.ZeroS)).UTC()
}

// NewInput reads a file of at most MostBytes, also one that gzip packed or that is
// written in UTF-16, as some shells do.
func NewInput(name string, r io.Reader) (*Input, error) {
	data, err := limitio.All(r, MostBytes)
	if err == nil && bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		packed := data
		data, err = limitio.Twice(func() (io.Reader, error) { return gzip.NewReader(bytes.NewReader(packed)) }, MostBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	data = pyjson.Finite(bytes.TrimPrefix(plain(data), []byte("\ufeff")))
	if crowded(data) {
		return nil, fmt.Errorf("%s: it has more objects, lists and numbers than a file of its size can have from any tool", name)
	}
	return &Input{Name: name, ZeroS: math.NaN(), data: data}, nil
}

// plain is the text in UTF-8 of one that begins with UTF-16's mark of its order.
func plain(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return data
	}
	text := make([]byte, 0, len(data)/2) // of most files each letter is one byte
	unit := func(i int) rune {
		if i+2 > len(data) {
			return 0
		}
		return rune(order.Uint16(data[i:]))
	}
	for i := 0; i+2 <= len(data); i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if r = utf16.DecodeRune(r, unit(i+2)); r != utf8.RuneError {
				i += 2
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}

// ID is that of the run that an importer makes of the file, and of each of its copies:
// their requests must not count twice.
func (in *Input) ID(of *Importer) string {
	h := sha256.New()
	fmt.Fprintf(h, "%s %d\n", of.Name, max(in.Part, 1)) // of a file of one run, 1 is the same as none
	h.Write(in.data)
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// Head is the start of the file, to recognise it by.
func (in *Input) Head() []byte { return in.data[:min(len(in.data), headBytes)] }

func (in *Input) note(says string) { in.Notes = append(in.Notes, says) }

// part chooses one of the runs that the file holds; names says what they are.
func (in *Input) part(names []string) (int, error) {
	n := len(names)
	switch {
	case in.Part == 0 && n == 1:
		return 0, nil
	case n == 0:
		return 0, in.at(0, errors.New("the file holds no run"))
	case in.Part >= 1 && in.Part <= n:
		return in.Part - 1, nil
	}
	return 0, &PartError{Name: in.Name, Parts: names}
}

// pick reads all runs of a file, as each hands them out, and chooses one: v, at its place,
// and what name calls it.
func pick[T any](in *Input, each func(*Input, func(int64, *T) error) error, name func(v *T) string) (v *T, at int64, called string, err error) {
	var all []*T
	var places []int64
	var names []string
	err = each(in, func(at int64, v *T) error {
		all, places, names = append(all, v), append(places, at), append(names, name(v))
		return nil
	})
	if err != nil {
		return nil, 0, "", err
	}
	part, err := in.part(names)
	if err != nil {
		return nil, 0, "", err
	}
	return all[part], places[part], names[part], nil
}

// PartError says that a file holds several runs, of which none was chosen, or one
// that there is not.
type PartError struct {
	Name  string
	Parts []string // what each is, in words
}

func (e *PartError) Error() string {
	var list strings.Builder
	for i, p := range e.Parts[:min(len(e.Parts), 30)] {
		fmt.Fprintf(&list, "; %d: %s", i+1, p)
	}
	runs := fmt.Sprintf("%d runs: choose one", len(e.Parts))
	if len(e.Parts) == 1 {
		runs = "one run"
	}
	return e.Name + " holds " + runs + list.String()
}

// at is an error at a place of the file.
func (in *Input) at(offset int64, err error) error {
	before := in.data[:min(max(offset, 0), int64(len(in.data)))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return fmt.Errorf("%s:%d:%d: %w", in.Name, line, column, err)
}

// decode reads the JSON text that starts at from into v and returns where it ends.
// The error names its place.
func (in *Input) decode(from int64, v any) (end int64, err error) {
	var text io.Reader = bytes.NewReader(in.data[from:])
	if _, free := v.(*object); free {
		text = &short{from: text, left: mostFigures, over: errFigures}
	}
	d := json.NewDecoder(text)
	err = d.Decode(v)
	return in.placed(from, from+d.InputOffset(), err)
}

// placed gives an error of JSON that starts at from its place.
func (in *Input) placed(from, end int64, err error) (int64, error) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil, err == io.EOF:
		return end, err
	case errors.As(err, &syntax):
		return end, in.at(from+syntax.Offset-1, fmt.Errorf("this is no JSON: %w", err))
	case errors.As(err, &kind):
		return end, in.at(from+kind.Offset-1, fmt.Errorf("%s is a %s here, not what the format has", kind.Field, kind.Value))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return end, in.at(int64(len(in.data)), errors.New("the file ends in the middle: it was cut off"))
	}
	return end, in.at(from, err)
}

// whole reads the file as one JSON text.
func (in *Input) whole(v any) error {
	if _, free := v.(*object); free && len(in.data) > mostFigures {
		return in.at(0, errFigures)
	}
	if json.Valid(in.data) { // a decoder would copy a file that may be large
		_, err := in.placed(0, 0, json.Unmarshal(in.data, v))
		return err
	}
	end, err := in.decode(0, v)
	if err == io.EOF {
		return in.at(0, errors.New("the file is empty"))
	}
	if err != nil {
		return err
	}
	return in.nothingAfter(end)
}

// reader decodes what stands at a place, the n-th of its kind, and returns where it ends;
// io.EOF where nothing stands there.
type reader func(at int64, n int) (end int64, err error)

// reading hands on values of one type. What is not in here is compiled once for all.
func reading[T any](in *Input, read func(at int64, v *T) error) reader {
	return func(at int64, n int) (int64, error) {
		v := new(T)
		end, err := in.one(at, n, v)
		if err == nil {
			err = read(at, v)
		}
		return end, err
	}
}

// one decodes the n-th of the values that a file may hold so many of.
func (in *Input) one(at int64, n int, v any) (end int64, err error) {
	if end, err = in.decode(at, v); err == nil {
		err = in.fits(at, n)
	}
	return end, err
}

// eachLine calls read for every JSON text of the file, with its place.
func eachLine[T any](in *Input, read func(at int64, v *T) error) error {
	return in.eachLine(reading(in, read))
}

func (in *Input) eachLine(read reader) error {
	n := 0
	for from := int64(0); ; n++ {
		end, err := read(in.space(from), n)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		from = end
	}
	if n == 0 {
		return in.at(0, errors.New("the file is empty"))
	}
	return nil
}

// elements calls read for every element of the JSON array that the file is, with
// its place.
func elements[T any](in *Input, read func(at int64, v *T) error) error {
	return in.elements(reading(in, read))
}

func (in *Input) elements(read reader) error {
	cut := in.at(int64(len(in.data)), errors.New("the file ends in the middle: it was cut off"))
	at := in.space(0)
	switch in.byteAt(at) {
	case 0:
		return in.at(0, errors.New("the file is empty"))
	case '[':
	default:
		return in.at(at, errors.New("this is no list of requests: want ["))
	}
	if at = in.space(at + 1); in.byteAt(at) == ']' {
		return in.at(0, errors.New("the list has no request"))
	}
	for n := 0; ; n++ {
		end, err := read(at, n)
		if err == io.EOF {
			return cut
		}
		if err != nil {
			return err
		}
		at = in.space(end)
		switch in.byteAt(at) {
		case ',':
			at = in.space(at + 1)
		case ']':
			return in.nothingAfter(at + 1)
		case 0:
			return cut
		default:
			return in.at(at, errors.New("this is no JSON: want , or ] behind an element"))
		}
	}
}

// runs calls read for every element of a list, or every JSON text of the file.
func runs[T any](in *Input, read func(at int64, v *T) error) error {
	if in.byteAt(in.space(0)) == '[' {
		return elements(in, read)
	}
	return eachLine(in, read)
}

// space is the next place from at on that holds no white space.
func (in *Input) space(at int64) int64 {
	for at < int64(len(in.data)) && strings.IndexByte(" \t\r\n", in.data[at]) >= 0 {
		at++
	}
	return at
}

// byteAt is 0 behind the end of the file.
func (in *Input) byteAt(at int64) byte {
	if at >= int64(len(in.data)) {
		return 0
	}
	return in.data[at]
}

// nothingAfter is an error if more than white space stands from a place on.
func (in *Input) nothingAfter(at int64) error {
	if at = in.space(at); at < int64(len(in.data)) {
		return in.at(at, errors.New("more stands behind the end of the JSON text"))
	}
	return nil
}
