package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// ending is a server, or the lack of one, that makes requests end in a class.
type ending struct {
	handler http.HandlerFunc
	url     string // instead of a server
	flags   []string
	code    int // exit code; the default is that of a target that failed
}

func token(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"x "}}]}`+"\n\n")
	w.(http.Flusher).Flush()
}

// hang waits until the client is gone.
func hang(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // until then the server does not look whether anybody is there
	<-r.Context().Done()
}

func refuse(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":%q}}`, text)
	}
}

func whole(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		io.WriteString(w, body)
	}
}

// endings has every class that a server or its absence can bring about; see
// TestUserCancels and TestClientResource for the other two.
func endings(t *testing.T) map[timeline.Outcome]ending {
	slow := func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for range 200 {
			token(w)
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.Context().Done():
				return
			}
		}
	}
	trusted := httptest.NewUnstartedServer(http.HandlerFunc(answerer))
	trusted.Config.ErrorLog = quietLog()
	trusted.StartTLS()
	t.Cleanup(trusted.Close)
	return map[timeline.Outcome]ending{
		timeline.OK:             {handler: answerer, code: exitOK},
		timeline.ConnectRefused: {url: "http://127.0.0.1:1"}, // nobody is given this port
		timeline.DNS:            {url: "http://no..name:1"},  // no name at all: nobody is asked for it
		timeline.TLS:            {url: trusted.URL},
		timeline.TimeoutConnect: {url: "https://" + mute(t), flags: []string{"--connect-timeout", "200ms"}},
		timeline.TimeoutTTFT:    {handler: func(w http.ResponseWriter, r *http.Request) { hang(r) }, flags: []string{"--ttft-timeout", "200ms"}},
		timeline.TimeoutIdle:    {handler: func(w http.ResponseWriter, r *http.Request) { token(w); hang(r) }, flags: []string{"--idle-timeout", "200ms"}},
		timeline.TimeoutTotal:   {handler: slow, flags: []string{"--timeout", "300ms"}},
		timeline.HTTP429: {handler: func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "1")
			refuse(429, "slow down")(w, r)
		}},
		timeline.HTTP4xx:         {handler: refuse(404, "no such model")},
		timeline.HTTP5xx:         {handler: refuse(503, "no healthy upstream")},
		timeline.RedirectRefused: {handler: http.RedirectHandler("https://elsewhere.example/v1", http.StatusTemporaryRedirect).ServeHTTP},
		timeline.BadContentType:  {handler: whole("text/html", "<html>Please log in</html>")},
		timeline.Parse:           {handler: whole("application/json", `{"choices":[{]}`)},
		timeline.StreamError: {handler: func(w http.ResponseWriter, r *http.Request) {
			token(w)
			fmt.Fprint(w, `data: {"error":{"message":"worker died","code":500}}`+"\n\n")
		}},
		timeline.StreamTruncated: {handler: func(w http.ResponseWriter, r *http.Request) { token(w); token(w) }},
		timeline.ConnReset: {handler: func(w http.ResponseWriter, r *http.Request) {
			token(w)
			time.Sleep(20 * time.Millisecond)
			c, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}},
		timeline.EmptyOutput: {handler: whole("text/event-stream",
			`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")},
		timeline.CancelledRunEnd: {handler: slow, flags: []string{"--duration", "400ms", "--grace", "0s"}, code: exitOK},
	}
}

// Every class is produced by a server, recorded under its name, and told with
// its sentence in every form for people.
func TestEveryOutcomeEndToEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	cases := endings(t)
	for _, class := range timeline.Outcomes {
		c, ok := cases[class]
		if !ok {
			if class != timeline.CancelledUser && class != timeline.ClientResource && class != timeline.Untold {
				t.Errorf("no server ends in %s", class)
			}
			continue
		}
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			url := c.url
			if c.handler != nil {
				s := httptest.NewServer(c.handler)
				s.Config.ErrorLog = quietLog()
				defer s.Close()
				url = s.URL
			}
			code := c.code
			if c.code == exitOK && class.Failed() {
				code = exitTarget
			}
			dir := filepath.Join(t.TempDir(), "run")
			args := append([]string{"bench", url, "--preflight", "none", "--model", "m", "--warmup", "0", "--out", dir, "--concurrency", "2"}, c.flags...)
			if class != timeline.CancelledRunEnd {
				args = append(args, "--requests", "2")
			}
			var stdout, stderr bytes.Buffer
			if got := Main(args, &stdout, &stderr, os.LookupEnv); got != code {
				t.Errorf("exit code %d, want %d\n%s", got, code, stderr.String())
			}
			wantOutcome(t, dir, class, stdout.String())
		})
	}
}

// wantOutcome checks that all of a run's requests ended in the class, and that
// table, Markdown and page say what it means.
func wantOutcome(t *testing.T, dir string, class timeline.Outcome, table string) {
	t.Helper()
	r := load(t, dir)
	counts := map[timeline.Outcome]int64{}
	for name, n := range r.Requests.ByClass {
		counts[name] += n
	}
	for name, n := range r.Requests.Excluded {
		counts[timeline.Outcome(name)] = n // they may be counted in both
	}
	if counts[class] < 2 && (class != timeline.ClientResource || counts[class] == 0) {
		t.Fatalf("%s: %v; first error: %v", class, counts, r.Requests.FirstError)
	}
	if class == timeline.OK {
		return
	}
	advice := metric.AdviceOn(class)
	sentence := advice.Next
	switch {
	case class == timeline.CancelledUser: // by the one who measures
		sentence = "cut off by Ctrl-C"
	case class.Cancelled():
		sentence = advice.Means
	}
	var markdown, stderr bytes.Buffer
	page := filepath.Join(t.TempDir(), "page.html")
	for _, args := range [][]string{{"report", dir, "--format", "markdown"}, {"report", dir, "--html", page}} {
		if got := Main(args, &markdown, &stderr, os.LookupEnv); got != exitOK {
			t.Errorf("%v: exit code %d: %s", args, got, stderr.String())
		}
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for form, text := range map[string]string{"the table": table, "Markdown": markdown.String(), "the page": string(html)} {
		if !strings.Contains(squeeze(text), squeeze(sentence)) {
			t.Errorf("%s does not say %q:\n%s", form, sentence, text[:min(len(text), 3000)])
		}
	}
	if class.Failed() && (r.Requests.FirstError == nil || *r.Requests.FirstError == "") {
		t.Error("no words of the first failure")
	}
}

// squeeze makes forms comparable: no marks, no line ends.
func squeeze(text string) string {
	text = strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&quot;", `"`, "&gt;", ">", "&lt;", "<", "&amp;", "&", "`", "", `\`, "").Replace(text)
	return strings.Join(strings.Fields(text), " ")
}

func load(t *testing.T, dir string) *run.Run {
	t.Helper()
	f, err := run.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := f.Run()
	return &r
}

// The user's interrupt is neither good nor bad, and is told.
func TestUserCancels(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	asked := make(chan bool, 2)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token(w)
		asked <- true
		hang(r)
	}))
	defer s.Close()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	cmd := started(t, &out, "bench", s.URL, "--preflight", "none", "--model", "m", "--warmup", "0", "--out", dir, "--concurrency", "2")
	eventually(t, func() bool { return len(asked) == 2 })
	cmd.Process.Signal(os.Interrupt)
	if got := waitCode(cmd); got != exitInterrupted {
		t.Errorf("exit code %d", got)
	}
	wantOutcome(t, dir, timeline.CancelledUser, out.String())
}

func started(t *testing.T, out io.Writer, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("tokenmeter") // made by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout = out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatal("waited 20 s in vain")
}

// mute takes connections and says nothing.
func mute(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String()
}
