package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"
)

// hostileWords act on what shows them: a terminal (ESC, C1, CR, backspace), a
// reader (marks that turn the direction of text), a page, an XML file (its end of
// CDATA, characters that it can't hold), Markdown, the log of a pipeline. Each begins and ends a word
// that is looked for, so that they are known to have been shown.
const hostileWords = "hos\x1b[2J\u009b31m\u202etile\u2066\ufeff\r\b\x00]]><script>alert(1)</script>\"><img src=x onerror=alert(1)>' |a|b| [x](javascript:alert(1)) ##vso[task.complete]x ::stop-commands::x \xff\xc3 end"

// jester answers with hostile words wherever a reply has room for them.
func jester() *httptest.Server {
	var n atomic.Int64
	quoted := func() string {
		b, _ := json.Marshal(strings.ToValidUTF8(hostileWords, "?"))
		return string(bytes.ReplaceAll(b, []byte("?"), []byte("\xff"))) // as it is, not escaped
	}()
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Server", "srv \u202e\u009b2J<script>alert(1)</script>")
		if r.URL.Path == "/metrics" {
			fmt.Fprintf(w, "vllm:num_requests_running{model_name=%s,n=\"%d\"} 2\nvllm:generation_tokens_total{model_name=%s} %d\n", quoted, n.Load(), quoted, n.Load())
			return
		}
		if r.Method == http.MethodGet {
			h.Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"data":[{"id":%s}]}`, quoted)
			return
		}
		if n.Add(1)%3 == 0 {
			h.Set("Content-Type", "application/json")
			w.WriteHeader(500)
			fmt.Fprintf(w, `{"error":{"code":%s,"message":%s,"type":%s}}`, quoted, quoted, quoted)
			return
		}
		h.Set("Content-Type", "text/event-stream")
		for range 4 {
			fmt.Fprintf(w, "data: {\"id\":%s,\"model\":%s,\"choices\":[{\"index\":0,\"delta\":{\"content\":%s}}]}\n\n", quoted, quoted, quoted)
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%s}]}\n\ndata: [DONE]\n\n", quoted)
	}))
}

// What a server or a name says acts on nobody who looks at any output.
func TestHostileWords(t *testing.T) {
	server := jester()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "run")
	env := func(name string) (string, bool) {
		return dir + "-summary.md", name == "GITHUB_STEP_SUMMARY"
	}
	name := strings.ReplaceAll(hostileWords, "\x00", "")
	for _, args := range everyOutput(server.URL, dir) {
		if args[0] == "bench" {
			args = append(args, "--name", name, "--tag", "t="+name)
		}
		var stdout, stderr bytes.Buffer
		if code := Main(args, &stdout, &stderr, env); code != exitOK && args[0] != "doctor" {
			t.Errorf("%s %v: exit code %d: %s", args[0], args[2:], code, stderr.String())
		}
		if !slices.Contains(args, "parquet") {
			harmless(t, fmt.Sprintf("%.60q stdout", args), stdout.Bytes())
			orderless(t, fmt.Sprintf("%.60q stdout", args), stdout.String())
		}
		harmless(t, args[0]+" stderr", stderr.Bytes())
		orderless(t, args[0]+" stderr", stderr.String())
	}
	shown, files := 0, 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(path, ".parquet") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if files++; bytes.Contains(data, []byte("hos")) {
			shown++
		}
		harmless(t, filepath.Base(path), data)
		switch filepath.Ext(path) {
		case ".html":
			if low := bytes.ToLower(data); bytes.Contains(low, []byte("<script>alert")) || bytes.Contains(low, []byte("<img src=x")) {
				t.Errorf("%s: a script or a picture came in", path)
			}
		case ".xml":
			for d := xml.NewDecoder(bytes.NewReader(data)); ; {
				if _, err := d.Token(); err == io.EOF {
					break
				} else if err != nil {
					t.Errorf("%s: %v", path, err)
					break
				}
			}
		case ".md":
			for _, bad := range []string{"<script", "<img", "](javascript:"} {
				if bytes.Contains(data, []byte(bad)) {
					t.Errorf("%s has %s", path, bad)
				}
			}
		case ".json":
			if !json.Valid(data) {
				t.Errorf("%s: no JSON", path)
			}
		}
		return nil
	})
	if err != nil || files < 12 || shown < 8 {
		t.Fatalf("%d files, in %d of them the words: %v", files, shown, err)
	}
}

// harmless wants UTF-8 without a character that acts on a terminal.
func harmless(t *testing.T, where string, data []byte) {
	t.Helper()
	if !utf8.Valid(data) {
		t.Errorf("%s: no UTF-8", where)
	}
	for i, r := range string(data) {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0xfeff {
			t.Errorf("%s holds %U: …%q…", where, r, data[max(0, i-60):min(len(data), i+30)])
			return
		}
	}
}

// orderless checks that no line of a log gives an order to Azure or GitHub.
func orderless(t *testing.T, where, log string) {
	t.Helper()
	for line := range strings.Lines(log) {
		if strings.Contains(line, "##vso[") || strings.HasPrefix(strings.TrimSpace(line), "::stop-commands::") {
			t.Errorf("%s gives an order: %q", where, line)
		}
	}
}
