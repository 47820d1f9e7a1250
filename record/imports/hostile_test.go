package imports

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// small are files of each tool that hold little more than what is needed.
var small = map[string]string{
	"aiperf":           `{"metadata":{"request_start_ns":1000000000,"benchmark_phase":"profiling"},"metrics":{"request_latency":{"value":1000,"unit":"ms"},"time_to_first_token":{"value":100,"unit":"ms"}}}`,
	"vllm":             `{"ttfts":[0.1],"itls":[[0.1,0.1]],"input_lens":[1],"output_lens":[3],"start_times":[1],"request_rate":2}`,
	"guidellm":         `{"benchmarks":[{"start_time":1,"requests":{"successful":[{"request_start_time":1,"request_end_time":2,"info":{"timings":{"request_start":1,"first_iteration":1.5,"last_iteration":2,"request_end":2}}}]}}]}`,
	"inference-perf":   `[{"start_time":5,"end_time":6,"info":{"output_token_times":[5.5,5.8]}}]`,
	"llmeter":          `{"response_text":"x","time_to_first_token":0.1,"time_to_last_token":0.5,"request_time":"2026-03-01T00:00:00Z"}`,
	"genai-perf":       `{"experiments":[{"requests":[{"timestamp":1000000000,"response_timestamps":[1100000000,1200000000]}]}]}`,
	"llama-bench":      `[{"n_prompt":5,"n_gen":0,"n_depth":1,"test_time":"2025-04-24T11:59:33Z","samples_ns":[1000,2000]}]`,
	"mlperf-endpoints": `{"n_samples_issued":3,"n_samples_completed":3,"duration_ns":5000000000,"ttft":{"avg":3}}`,
	"inferencex":       `{"infmax_model_prefix":"a","conc":1,"mean_ttft":0.5}`,
	"llm-d":            "version: 0.2.1\nresults: {request_performance: {aggregate: {requests: {total: 5}}}}\n",
	"csv":              "start_s,ttft_ms,e2e_ms\n1,100,500\n",
}

func readSmall(t *testing.T, name, file string) (n int, err error) {
	t.Helper()
	m, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInput("f", strings.NewReader(file))
	if err != nil {
		return 0, err
	}
	r, err := m.Read(in, func(tl *timeline.Timeline) error {
		n++
		if tl.DueUS < 0 || tl.CloseUS.Or(0) < 0 {
			t.Errorf("%s: due %d, closed %d", name, tl.DueUS, tl.CloseUS.Or(0))
		}
		return nil
	})
	if r.Told != nil {
		n++
	}
	return n, err
}

func inUTF16(text string, order binary.ByteOrder) string {
	units := utf16.Encode([]rune("\ufeff" + text))
	data := make([]byte, 2*len(units))
	for i, u := range units {
		order.PutUint16(data[2*i:], u)
	}
	return string(data)
}

// The same file packed, in other codes or behind a mark is the same file.
func TestFilesInOtherWrappings(t *testing.T) {
	for name, file := range small {
		want, err := readSmall(t, name, file)
		if err != nil || want == 0 {
			t.Errorf("%s: %d, %v", name, want, err)
			continue
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(file))
		z.Close()
		for how, same := range map[string]string{"gzip": packed.String(), "a mark": "\ufeff" + file, "UTF-16": inUTF16(file, binary.LittleEndian), "UTF-16, big": inUTF16(file, binary.BigEndian)} {
			if n, err := readSmall(t, name, same); err != nil || n != want {
				t.Errorf("%s, %s: %d of %d, %v", name, how, n, want, err)
			}
		}
		if _, err := readSmall(t, name, packed.String()[:packed.Len()/2]); err == nil {
			t.Errorf("%s: half of a packed file is read", name)
		}
	}
}

// Texts in UTF-16 are what Go's own decoder makes of them, also with halves of letters
// that stand alone.
func TestTextInUTF16(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		units := []uint16{0xfeff}
		for range random.IntN(12) {
			units = append(units, []uint16{'a', 0x20ac, 0xd83d, 0xde00, 0xdbff, 0xdfff, uint16(random.Uint32())}[random.IntN(7)])
		}
		var data []byte
		for _, u := range units {
			data = binary.LittleEndian.AppendUint16(data, u)
		}
		if got, want := string(plain(data)), string(utf16.Decode(units)); got != want {
			t.Fatalf("%x: %q, want %q", units, got, want)
		}
	}
}

// A file that was cut off, or is bent, ends in an error with its place, or is read as far
// as its format lets it be; it never crashes, and time never runs backwards.
func TestBentFiles(t *testing.T) {
	for name, file := range small {
		for i := range len(file) {
			if _, err := readSmall(t, name, file[:i]); err != nil && !strings.HasPrefix(err.Error(), "f") {
				t.Fatalf("%s cut at %d: %v", name, i, err)
			}
		}
		for how, bent := range map[string]string{
			"numbers as texts": strings.NewReplacer(":1", `:"1"`, "[0", `["0"`, ":5", `:"5"`, ": 5", `: "x"`, "1,100", "1,x").Replace(file),
			"NaN":              strings.NewReplacer("0.1", "NaN", "1000", "NaN", ": 5", ": .nan", "100", "NaN").Replace(file),
			"huge":             strings.NewReplacer("0.1", "1e308", "1000", "1e308", ": 5", ": 1e308", ",100", ",1e308").Replace(file),
			"negative":         strings.NewReplacer("0.1", "-0.1", ":1", ":-1", ": 5", ": -5", "\n1,", "\n-1,").Replace(file),
			"twice":            strings.NewReplacer(`"value":`, `"value":7,"value":`, `"ttfts":`, `"ttfts":[5],"ttfts":`).Replace(file),
			"deep":             strings.Replace(file, "[", strings.Repeat("[", 20000), 1),
		} {
			if _, err := readSmall(t, name, bent); err != nil && !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("%s, %s: the error has no place: %v", name, how, err)
			}
		}
	}
}

// An answer may stand where an error should: of a text no more is kept than tells.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("é", 5000)
	var got *timeline.Timeline
	in, _ := NewInput("f", strings.NewReader(fmt.Sprintf("start_s,e2e_ms,error,id,model\n1,2,%s,%s,%s\n", long, long, long)))
	if _, err := readCSV(in, func(tl *timeline.Timeline) error { got = tl; return nil }); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{got.Error.Message, got.ID, got.Model} {
		if len(text) < mostWords || len(text) > mostWords+len("…") || strings.Trim(text, "é") != "…" {
			t.Errorf("%d bytes are kept: %.20s", len(text), text)
		}
	}
}

// A row, or a request, of a few bytes takes twenty to fifty times as much memory: what
// a file may ask for is bounded.
func TestTablesAreBounded(t *testing.T) {
	wide := strings.Repeat("a,", 1<<20)
	lines := strings.Repeat("\"\n\",", 1<<19)
	for name, table := range map[string]string{
		"a wide head":            wide,
		"a wide row":             "start_s,e2e_ms\n1,2\n" + wide,
		"a row of many lines":    "start_s,e2e_ms\n" + lines,
		"a field without an end": "start_s,e2e_ms\n\"" + wide,
	} {
		for _, read := range []func(*Input, func(*timeline.Timeline) error) (run.Run, error){readCSV, readLLAMABench} {
			in := &Input{Name: "x", data: []byte(table)}
			_, err := read(in, func(*timeline.Timeline) error { return nil })
			if err == nil {
				t.Errorf("%s was read", name)
			}
		}
		in := &Input{Name: "x", data: []byte(table)}
		if _, err := readCSV(in, func(*timeline.Timeline) error { return nil }); !errors.Is(err, errRow) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"inferencex":       `[{"a":[0` + strings.Repeat(",1000", mostFigures/5) + "]}]",
		"mlperf-endpoints": `{"a":[0` + strings.Repeat(",1000", mostFigures/5) + "]}",
	} {
		m, err := ByName(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Read(&Input{Name: "x", data: []byte(text)}, func(*timeline.Timeline) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := &Input{Name: "x"}
	if in.fits(0, mostRequests-1) != nil || in.fits(0, mostRequests) == nil {
		t.Error("requests without end")
	}
	for text, want := range map[string]bool{
		`{"benchmarks":[{"requests":{"successful":[{}` + strings.Repeat(",{}", 3<<20) + "]}}]}":        true,
		`{"itls":[[]` + strings.Repeat(",[]", 3<<20) + "]}":                                            true,
		`[{"info":{"output_token_times":[5` + strings.Repeat(",5", 6<<20) + "]}}]":                     true,
		"start_s,e2e_ms" + strings.Repeat("\n1,2", 3<<20):                                              false,
		`[` + strings.Repeat(`{"key":"gen_ai.system","value":{"stringValue":"\"{{{"}},`, 1<<20) + "1]": false,
		`{"text":"` + strings.Repeat("{[", 3<<20) + `"}`:                                               false,
	} {
		if _, err := NewInput("x", strings.NewReader(text)); (err != nil) != want {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}
