package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tokenmeter/record/export"
	"tokenmeter/record/run"
)

// The keys that a command is given, one in each way. None looks like a vendor's
// key, so only what is known of them can hide them.
var canaryKeys = map[string]string{
	"environment": "canary-Environment-Qx7", "header": "canary-Header-Wz8", "query": "canary-Query-Rt9",
	"short query": "canary-Short-Mn4", "signature": "canary-Signature-Gh6",
	"Amazon's secret": "canary-Secret-Lk2", "Amazon's session": "canary-Session-Pv5",
}

// parrot repeats all that it is sent in whatever a reply can hold, in other
// letters too; every third request fails.
func parrot() *httptest.Server {
	var n atomic.Int64
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := r.Header.Get("Authorization") + " " + r.Header.Get("X-Auth-Token") + " " + r.Header.Get("X-Amz-Security-Token") + " " + r.URL.RawQuery
		said += " " + strings.ToLower(said) + " " + strings.ToUpper(said)
		h := w.Header()
		h.Set("Server", said)
		h.Set("X-Request-Id", said)
		if r.Method == http.MethodGet {
			h.Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"data":[{"id":%q},{"id":"m","owned_by":%q}]}`, "m-"+said, said)
			return
		}
		if n.Add(1)%3 == 0 {
			h.Set("Content-Type", "application/json")
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"code":"refused","message":%q,"type":%q}}`, "no entry for "+said, said)
			return
		}
		h.Set("Content-Type", "text/event-stream")
		for i := range 4 {
			fmt.Fprintf(w, "data: {\"id\":%q,\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", said, said, fmt.Sprint(i, said))
			w.(http.Flusher).Flush()
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", said)
	}))
}

// everyOutput lists commands that together write all there is to write of a
// target: into a run's folder, beside it, and to stdout. An output that is new
// joins by being a file of the folder, a form of export, a form of report, or a
// line of this list; the daemon's are in package daemon.
func everyOutput(url, dir string, flags ...string) [][]string {
	target := func(command string, more ...string) []string {
		return slices.Concat([]string{command, url}, flags, more)
	}
	receivers, _, _ := strings.Cut(url, "?")
	outputs := [][]string{
		target("bench", "--requests", "9", "--concurrency", "1", "--warmup", "0", "--capture", "--keep-text", "--html", "--retries", "1", "--out", dir, "--force"),
		target("bench", "--dry-run"),
		// control.log has what commands print: here all that is in their environment.
		target("bench", "--requests", "2", "--concurrency", "1", "--warmup", "0", "--before-point", "set", "--after-point", "set; echo "+url, "--out", dir+"-control", "--force"),
		// Receivers that answer as that server does.
		target("bench", "--requests", "2", "--concurrency", "1", "--warmup", "0", "--telemetry", receivers, "--telemetry", receivers+"/api/v1/write",
			"--telemetry", receivers+"/api/2.0/mlflow", "--out", dir+"-told", "--force"),
		target("doctor"),
		target("sweep", "--concurrency", "1,2", "--requests", "4", "--warmup", "0", "--out", dir+"-sweep", "--html"),
		{"compare", dir, dir, "--html", dir + "-compare.html", "--junit", dir + "-junit.xml", "--gate", "error rate < 99%", "--github"},
		{"compare", dir, "--save-baseline", dir + "-baseline.json"},
		target("probe", "--only", "light,1k-short", "--out", dir+"-probes"),
		{"report", dir, "--lens", "all"},
		{"report", dir, "--lens", "all", "--format", "json"},
		{"slo", "check", dir, "--objective", "p50 ttft < 1h"},
	}
	for _, form := range forms {
		outputs = append(outputs, []string{"report", dir, "--format", form}, []string{"report", dir + "-sweep", "--format", form},
			[]string{"compare", dir, dir, "--format", form}, []string{"probe", "--out", dir + "-probes", "--format", form},
			[]string{"trend", dir, dir + "-probes", "--format", form},
			[]string{"history", "list", "-C", dir, "--format", form}, []string{"history", "best", "-C", dir, "--format", form})
	}
	for _, form := range strings.Split(export.Names(), ", ") {
		outputs = append(outputs, []string{"export", dir, "--as", form, "--out", dir + "-export." + form, "--force"}, []string{"export", dir, "--as", form})
	}
	outputs = append(outputs, target("bench", "--requests", "9", "--concurrency", "1", "--warmup", "0", "--retries", "1", "--out", dir+"-second", "--force"))
	return append(outputs, []string{"merge", dir, dir + "-second", "--out", dir + "-merged", "--force"}, []string{"analyze", dir})
}

// No key that a command sends is in anything that it writes, whatever the server
// repeats.
func TestCanaryKeys(t *testing.T) {
	server := parrot()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "run")
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"CANARY": canaryKeys["environment"], "GITHUB_STEP_SUMMARY": dir + "-summary.md"}[name]
		return v, ok
	}
	for _, args := range everyOutput(server.URL+"?key="+canaryKeys["query"]+"&sk="+canaryKeys["short query"]+"&sig="+canaryKeys["signature"], dir, "--api-key-env", "CANARY", "--header", "X-Auth-Token: "+canaryKeys["header"]) {
		var stdout, stderr bytes.Buffer
		code := Main(args, &stdout, &stderr, env)
		if code != exitOK && args[0] != "doctor" {
			t.Errorf("%s %v: exit code %d: %s", args[0], args[2:], code, stderr.String())
		}
		holdsNoKey(t, args[0]+" stdout", stdout.Bytes())
		holdsNoKey(t, args[0]+" stderr", stderr.Bytes())
	}
	files := 0
	err := filepath.WalkDir(filepath.Dir(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		holdsNoKey(t, path, data)
		files++
		return err
	})
	if err != nil || files < 10 {
		t.Fatalf("%d files were looked at: %v", files, err)
	}
	f, err := run.Open(dir) // what is packed in Parquet
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	hidden := false
	for tl, err := range f.Timelines() {
		if err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%+v %+v", *tl, tl.Error)
		holdsNoKey(t, "requests.parquet", []byte(text))
		hidden = hidden || strings.Contains(text, "***")
	}
	if !hidden {
		t.Error("the server's words are not in the records: this test looks at nothing")
	}
}

// holdsNoKey wants none of the keys, in any case of letters.
func holdsNoKey(t *testing.T, where string, data []byte) {
	t.Helper()
	low := bytes.ToLower(data)
	for way, key := range canaryKeys {
		if i := bytes.Index(low, []byte(strings.ToLower(key))); i >= 0 {
			t.Errorf("%s holds the key given by %s: …%q…", where, way, data[max(0, i-60):min(len(data), i+60)])
		}
	}
}
