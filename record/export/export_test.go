package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// folder records requests and opens their run.
func folder(t *testing.T, objectives []string, tls ...*timeline.Timeline) *run.Folder {
	t.Helper()
	dir := t.TempDir()
	w, err := run.Create(dir, run.Run{Objectives: objectives}, run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range tls {
		if err := w.Append(tl); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Finish(run.Run{Objectives: objectives}); err != nil {
		t.Fatal(err)
	}
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// b1 is the stream of the first case: three tokens at 214, 234 and 254 ms.
func b1() *timeline.Timeline {
	tl := timeline.New()
	tl.API, tl.Model, tl.Attempts = "openai-chat", "m", 1
	tl.HTTPStatus, tl.Streamed, tl.Asked = 200, true, true
	tl.HeadUS = timeline.Some(int64(5000))
	for i, at := range []int64{214_000, 234_000, 254_000} {
		tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 1, Read: int64(i)})
	}
	tl.Usage = timeline.Usage{Input: timeline.Some(int64(10)), Output: timeline.Some(int64(3))}
	tl.CloseUS = timeline.Some(int64(255_000))
	tl.Outcome, tl.FinishReason = timeline.OK, "stop"
	return tl
}

func failed(text string) *timeline.Timeline {
	tl := timeline.New()
	tl.Request = 1
	tl.Fail(timeline.HTTP5xx, text)
	tl.Text = text
	return tl
}

func exported(t *testing.T, f *run.Folder, as string) string {
	t.Helper()
	var b bytes.Buffer
	e, err := ByName(as)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Write(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// table reads CSV and returns each row by column.
func table(t *testing.T, text string) (header []string, rows []map[string]string) {
	t.Helper()
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, cell := range line {
			row[all[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return all[0], rows
}

func TestCSV(t *testing.T) {
	f := folder(t, []string{"p50 ttft < 1s"}, b1(), failed("=1+1"))
	header, rows := table(t, exported(t, f, "csv"))
	if header[0] != "request" || header[len(header)-1] != "check" {
		t.Errorf("columns %v", header)
	}
	want := []map[string]string{
		{"outcome": "ok", "ttft_ms": "214", "tpot_ms": "20", "icl_ms": "20 20", "first_byte_ms": "5",
			"good": "true", "error": "", "session": "", "flags": "", "output_tokens": "3"},
		{"outcome": "http_5xx", "ttft_ms": "", "icl_ms": "", "good": "false",
			"error": "http_5xx: =1+1", "output_text": "'=1+1"},
	}
	for i, cells := range want {
		for name, value := range cells {
			if rows[i][name] != value {
				t.Errorf("row %d, %s: %q, want %q", i, name, rows[i][name], value)
			}
		}
	}
}

func TestJSONLines(t *testing.T) {
	hostile := "a\u2028b\u0085c<&>\n\"d\"\x00\x1b"
	f := folder(t, nil, b1(), failed(hostile))
	text := exported(t, f, "jsonl")
	if strings.Count(text, "\n") != 2 || strings.ContainsAny(text, "\u2028\u0085\x00\x1b\r") {
		t.Errorf("a line is broken: %q", text)
	}
	if !strings.HasPrefix(text, `{"request":0,"phase":"measure","worker":0,"session":null,`) {
		t.Errorf("starts with %.80s", text)
	}
	lines := strings.Split(text, "\n")
	var rec struct {
		Text  *string `json:"output_text"`
		Good  *bool   `json:"good"`
		Error *timeline.Error
	}
	if err := json.Unmarshal([]byte(lines[1]), &rec); err != nil {
		t.Fatal(err)
	}
	if *rec.Text != hostile || rec.Error.Message != hostile || rec.Good != nil {
		t.Errorf("got %+v", rec)
	}
}

// The columns of all forms have the same names.
func TestNamesAgree(t *testing.T) {
	f := folder(t, nil, b1())
	header, _ := table(t, exported(t, f, "csv"))
	var object map[string]any
	if err := json.Unmarshal([]byte(exported(t, f, "jsonl")), &object); err != nil {
		t.Fatal(err)
	}
	if len(object) != len(header) {
		t.Errorf("%d fields in JSON, %d in CSV", len(object), len(header))
	}
	parquet := exported(t, f, "parquet")
	for _, name := range header {
		if _, ok := object[name]; !ok {
			t.Errorf("%s is in CSV only", name)
		}
		if !strings.Contains(parquet, name) {
			t.Errorf("%s is not in Parquet", name)
		}
	}
}

func TestUnknownForm(t *testing.T) {
	_, err := ByName("xml")
	if err == nil || err.Error() != `unknown form "xml": --as takes `+Names() {
		t.Errorf("got %v", err)
	}
}
