package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"tokenmeter/base/printable"
	"tokenmeter/record/export"
)

// Nothing that a server says, and no name, acts on a terminal in any form that a
// terminal shows.
func TestNoEscapes(t *testing.T) {
	const hostile = "\x1b[2J\u009b31m\u202e\u2066\u0085\x7f\U000e0041"
	var n atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		said := strings.Trim(strings.ReplaceAll(fmt.Sprintf("%+q", "m"+hostile), `\x`, `\u00`), `"`)
		said = strings.ReplaceAll(said, `\U000e0041`, `\udb40\udc41`)
		switch nth := n.Add(1); {
		case r.Method == http.MethodGet:
			fmt.Fprintf(w, `{"data":[{"id":"%s"}]}`, said)
		case nth%3 == 0:
			w.WriteHeader(500)
			fmt.Fprintf(w, `{"error":{"code":"%s","message":"%s"}}`, said, said)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"model\":\"%s\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},\"finish_reason\":\"%s\"}]}\n\ndata: [DONE]\n\n", said, said, said)
		}
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "run")
	runs := [][]string{{"bench", server.URL, "--requests", "6", "--concurrency", "1", "--warmup", "0", "--keep-text", "--name", "n" + hostile, "--tag", "k=" + hostile, "--out", dir}}
	for _, form := range forms {
		runs = append(runs, []string{"report", dir, "--format", form}, []string{"compare", dir, dir, "--format", form},
			[]string{"slo", "report", dir, "--objective", "p50 ttft < 1s", "--format", form})
	}
	runs = append(runs, []string{"report", dir, "--lens", "vllm"}, []string{"report", dir, "--lens", "vllm", "--format", "json"})
	for _, form := range strings.Split(export.Names(), ", ") {
		if form != "parquet" {
			runs = append(runs, []string{"export", dir, "--as", form})
		}
	}
	for _, args := range runs {
		var stdout, stderr bytes.Buffer
		Main(args, &stdout, &stderr, func(string) (string, bool) { return "", false })
		if stdout.Len() == 0 {
			t.Errorf("%v: no output: %s", args, stderr.String())
		}
		for name, text := range map[string]string{"stdout": stdout.String(), "stderr": stderr.String()} {
			text = strings.ReplaceAll(text, "\r\n", "\n")
			if calm := printable.Lines(text); calm != text {
				i := 0
				for i < len(text) && i < len(calm) && text[i] == calm[i] {
					i++
				}
				t.Errorf("%s %s: %s acts on a terminal: %q", args[0], args[len(args)-1], name, text[max(0, i-40):min(len(text), i+40)])
			}
		}
	}
}
