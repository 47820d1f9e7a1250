package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ones finds a count of one in front of a word that means several, but where that is a
// unit, as of requests/s.
var ones = regexp.MustCompile(`(?:^|[^0-9.,×x/-])1 (?:(?:[a-z]+ )?(?:requests|streams|runs|records|answers|prompts|conversations|sessions|arrivals|turns|agents|pictures|checks|models|points|events|connections|files|texts|rows|columns|tokens|chunks|tries|users|probes|GPUs|times|sides|windows|days|lengths|replies|counts))\b[^/]`)

// A count of one reads as English wherever people see it: a run of one request by one
// stream, of a server that answers or fails.
func TestCountsOfOne(t *testing.T) {
	var status int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		if status != http.StatusOK {
			http.Error(w, "no", status)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for range 3 {
			fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n")
			w.(http.Flusher).Flush()
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	top := t.TempDir()
	file := filepath.Join(top, "one.jsonl")
	os.WriteFile(file, []byte(`{"prompt":"a","max_tokens":1}`), 0o600)
	for _, status = range []int{http.StatusOK, http.StatusInternalServerError} {
		dir := filepath.Join(top, fmt.Sprint(status))
		bench := []string{"bench", server.URL, "--requests", "1", "--concurrency", "1", "--warmup", "0", "--retries", "1", "--out"}
		outputs := [][]string{
			append(bench, dir, "--html"), append(bench, dir+"-prompts", "--prompts", file), append(bench, dir+"-open", "--rate", "1", "--force"),
			append(bench, dir+"-warm", "--warmup", "1", "--repeat", "1"),
			{"sweep", server.URL, "--concurrency", "1", "--requests", "1", "--warmup", "0", "--out", dir + "-sweep", "--html"},
			{"sweep", server.URL, "--concurrency", "1,2", "--requests", "1", "--warmup", "0", "--out", dir + "-points"},
			{"doctor", server.URL}, {"probe", server.URL, "--only", "light", "--out", dir + "-probes"},
			{"compare", dir, dir + "-prompts", "--html", dir + "-compare.html"}, {"slo", "check", dir, "--objective", "p50 ttft < 1h"},
			{"merge", dir, dir + "-prompts", "--out", dir + "-merged"}, {"report", dir, "--lens", "all"}, {"report", dir + "-merged"},
			{"export", dir, "--as", "csv", "--out", dir + ".csv"}, {"import", dir + ".csv", "--out", dir + "-import"}, {"report", dir + "-import"},
			{"workload", "show", file}, {"workload", "validate", file}, {"workload", "show", file, "--items", "1"},
		}
		for _, form := range forms {
			outputs = append(outputs, []string{"report", dir, "--format", form}, []string{"report", dir + "-sweep", "--format", form},
				[]string{"compare", dir, dir + "-prompts", "--format", form}, []string{"trend", dir, dir + "-probes", "--format", form},
				[]string{"history", "list", "-C", dir, "--format", form}, []string{"history", "best", "-C", dir, "--format", form})
		}
		for _, args := range outputs {
			var stdout, stderr bytes.Buffer
			Main(args, &stdout, &stderr, func(string) (string, bool) { return "", false })
			said := strings.Join(strings.Fields(stdout.String()+" "+stderr.String()), " ") // lines are broken anywhere
			for _, found := range ones.FindAllString(said, -1) {
				t.Errorf("%s: %q in %s", strings.Join(args, " "), found, said)
			}
		}
	}
}
