package daemon

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const tellingFile = `
listeners: [{name: main, listen: "front:1", open: true}]
admin: {listen: "localhost:2"}
metrics: {hold: 0s, linger: 0s}
upstreams: [{name: a, url: "http://up:1", key_env: UP, server_metrics: [%s]}]
routes: [{name: all, upstreams: [{name: a}]}]
`

// tells serves a server's page at an address.
func (w *world) tells(address string, page http.HandlerFunc) {
	ln, _ := w.net.listen("tcp", address)
	server := &http.Server{Handler: page}
	go func() { _ = server.Serve(ln) }()
	w.t.Cleanup(func() { _ = server.Close() })
}

const toldPage = `vllm:num_requests_running{engine="0"} 3
vllm:num_requests_waiting{engine="0"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:generation_tokens_total{engine="0"} %d
vllm:request_queue_time_seconds_sum{engine="0"} %d
vllm:request_queue_time_seconds_count{engine="0"} %d
`

// What a server tells of itself is on the daemon's page, from the first reading on;
// the upstream's key goes to its own host only, and pages change with the file.
func TestServersTell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, fmt.Sprintf(tellingFile, `"http://tells:1/metrics"`))
		began := time.Now()
		var keys []string
		w.tells("tells:1", func(rw http.ResponseWriter, r *http.Request) {
			w.mu.Lock()
			keys = append(keys, r.Header.Get("Authorization"))
			w.mu.Unlock()
			s := int(time.Since(began) / time.Second)
			fmt.Fprintf(rw, toldPage, 1000+10*s, 50+s, 7+s)
		})
		page := func() string {
			_, text, err := w.get("localhost:2", get("/metrics"))
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		holds := func(want ...string) {
			t.Helper()
			text := page()
			for _, line := range want {
				if !strings.Contains(text, "\n"+line+"\n") {
					t.Errorf("after %v: the page has no %q", time.Since(began), line)
				}
			}
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		// The first reading failed: the page came up after the daemon. Then 10 s, 15 s, …
		holds(`tokenmeter_server_running_requests{page="tells:1",upstream="a"} 3`, `tokenmeter_server_waiting_requests{page="tells:1",upstream="a"} 2`,
			`tokenmeter_server_kv_usage_ratio{page="tells:1",upstream="a"} 0.25`)
		text := page()
		if strings.Contains(text, "tokenmeter_server_output_tokens_total{page=\"tells:1\",upstream=\"a\"} 1") {
			t.Error("it counts what was before it came")
		}
		for _, key := range keys {
			if key != "" {
				t.Errorf("the upstream's key went to another host: %q", key)
			}
		}
		if len(keys) == 0 {
			t.Error("the page was never read")
		}
		w.change(fmt.Sprintf(tellingFile, ""))
		n := len(keys)
		time.Sleep(time.Minute)
		synctest.Wait()
		if text := page(); len(keys) != n || strings.Contains(text, "tokenmeter_server_running") {
			t.Errorf("a page that left the file was read %d times more", len(keys)-n)
		}
	})
}

// Whatever a page does, requests go on as without it, and the daemon ends.
func TestServersDisturbNobody(t *testing.T) {
	for name, page := range map[string]http.HandlerFunc{
		"hanging": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"slow": func(w http.ResponseWriter, r *http.Request) {
			for i := 0; r.Context().Err() == nil; i++ {
				if _, err := fmt.Fprintf(w, "vllm:num_requests_running %d\n", i); err != nil {
					return
				}
				w.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		},
		"huge": func(w http.ResponseWriter, _ *http.Request) {
			line := strings.Repeat("vllm:num_requests_running 1\n", 1000)
			for {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		},
		"lying": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "vllm:num_requests_running NaN\nvllm:num_requests_waiting 1e308\nvllm:kv_cache_usage_perc 17\nvllm:generation_tokens_total -4\n"+
				"vllm:num_preemptions_total{a=\"\\\"}\x1b[2J\"} 1e14\nvllm:request_success_total 3\n")
		},
		"not there": http.NotFound,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t, fmt.Sprintf(tellingFile, `"http://tells:1/metrics"`))
				w.tells("tells:1", page)
				time.Sleep(12 * time.Second)
				start := time.Now()
				status, body, err := w.get("front:1", ask)
				if err != nil || status != 200 || strings.Count(body, "content") != 10 || time.Since(start) != 10*time.Second {
					t.Errorf("%d after %v, %v: %q", status, time.Since(start), err, body)
				}
				_, text, err := w.get("localhost:2", get("/metrics"))
				if err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "1e+308") || strings.Contains(text, "\x1b") || strings.Contains(text, "tokenmeter_server_kv") {
					t.Errorf("%v: %s", err, text)
				}
				start = time.Now()
				w.stop()
				if err := <-w.ended; err != nil || time.Since(start) > time.Second {
					t.Errorf("it ended after %v with %v", time.Since(start), err)
				}
				w.ended <- nil
			})
		})
	}
}

// What can be no page is a mistake of the file.
func TestServersFile(t *testing.T) {
	for text, want := range map[string]string{
		`"off"`:                       "",
		`auto`:                        "",
		`"nonsense"`:                  "give auto, or the URL of a page",
		`"ftp://x/metrics"`:           "give auto",
		`"http://u:pw@x/metrics"`:     "passwords and queries",
		`auto, "http://up:1/metrics"`: "named already",
		`auto, "off"`:                 "stands alone",
		`auto, auto`:                  "named already",
		`"http://x/a", "http://x/a"`:  "named already",
		// Where NIM and trtllm-serve have it, auto looks too.
		`auto, "http://up:1/v1/metrics"`:                              "auto looks there too",
		`"http://up:1/v1/metrics", auto`:                              "auto looks there too",
		`auto, "http://up:1/prometheus/metrics"`:                      "auto looks there too",
		`"http://up:1/prometheus/metrics", auto`:                      "auto looks there too",
		`"http://up:1/metrics", "http://up:1/v1/metrics"`:             "",
		`auto, "http://other:1/v1/metrics", "http://up:2/v1/metrics"`: "",
		`"http://x/metrics?key=canary"`:                               "passwords and queries",
	} {
		_, err := Parse("t.yaml", fmt.Appendf(nil, tellingFile, text), func(string) (string, bool) { return "k", true })
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), "pw")) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := Parse("t.yaml", []byte(strings.ReplaceAll(fmt.Sprintf(tellingFile, "auto"), "http://up:1", "https://api.openai.com")), func(string) (string, bool) { return "k", true }); err == nil {
		t.Error("a known provider is not asked for pages")
	}
}
