//go:build linux

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// front stands before an inference server and gives it what a simulator lacks: a
// cold start after a time without requests, another server from some moment on,
// and right and wrong sums. It writes down what the server counted, so that what
// probes cost is known from the other side too.
type front struct {
	name string
	up   string        // the server's URL
	then string        // that of the server from turn on; empty: the same
	turn time.Time     // when
	cold time.Duration // what the first request waits for after so long without one
	idle time.Duration
	sums bool // answer sums, each wrongEvery-th one wrong
	// wrongEvery is 0 where all are right.
	wrongEvery int

	mu    sync.Mutex
	last  time.Time // when a request ended
	asked int
	truth *json.Encoder
}

// served is what is known of a request on the server's side.
type served struct {
	At      time.Time `json:"at"`
	Probe   bool      `json:"probe"` // it had the header of probes
	Path    string    `json:"path"`
	Status  int       `json:"status"`
	Input   int64     `json:"input"`
	Output  int64     `json:"output"`
	Sum     string    `json:"sum"` // right, wrong, or empty: none was asked for
	Waited  bool      `json:"waited"`
	Seconds float64   `json:"seconds"`
}

// serve listens and returns the front's URL.
func (f *front) serve(truth string) (string, error) {
	out, err := os.Create(truth)
	if err != nil {
		return "", err
	}
	f.truth, f.last = json.NewEncoder(out), time.Now()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(ln, f)
	return "http://" + ln.Addr().String(), nil
}

var sum = regexp.MustCompile(`What is (\d+) \+ (\d+)\?`)

const wordsOfSum = 12 // an answer to a sum is so long, and ends by itself

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s := served{At: time.Now().UTC(), Probe: r.Header.Get("X-Tokenmeter-Probe") != "", Path: r.URL.Path}
	answer := ""
	f.mu.Lock()
	if f.cold > 0 && r.Method == http.MethodPost && time.Since(f.last) >= f.idle {
		s.Waited = true
	}
	if m := sum.FindSubmatch(body); m != nil && f.sums {
		a, _ := strconv.Atoi(string(m[1]))
		b, _ := strconv.Atoi(string(m[2]))
		s.Sum = "right"
		if f.asked++; f.wrongEvery > 0 && f.asked%f.wrongEvery == 0 {
			s.Sum, b = "wrong", b+1
		}
		answer = fmt.Sprint(a + b)
		var fields map[string]json.RawMessage
		if json.Unmarshal(body, &fields) == nil {
			fields["max_tokens"] = json.RawMessage(fmt.Sprint(wordsOfSum))
			body, _ = json.Marshal(fields)
		}
	}
	up := f.up
	if f.then != "" && time.Now().After(f.turn) {
		up = f.then
	}
	f.mu.Unlock()
	if s.Waited {
		time.Sleep(f.cold)
	}
	f.pass(w, r, up, body, answer, &s)
	s.Seconds = time.Since(s.At).Seconds()
	f.mu.Lock()
	if r.Method == http.MethodPost { // a list of models loads none
		f.last = time.Now()
	}
	_ = f.truth.Encode(&s)
	f.mu.Unlock()
}

// pass passes a request on, and its answer line by line.
func (f *front) pass(w http.ResponseWriter, r *http.Request, up string, body []byte, answer string, s *served) {
	req, err := http.NewRequestWithContext(r.Context(), r.Method, up+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return
	}
	req.Header = r.Header.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		s.Status = http.StatusServiceUnavailable // it is not up
		w.WriteHeader(s.Status)
		return
	}
	defer resp.Body.Close()
	s.Status = resp.StatusCode
	w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
	w.Header().Set("Server", resp.Header.Get("Server"))
	w.WriteHeader(resp.StatusCode)
	lines := bufio.NewReaderSize(resp.Body, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: {"); ok {
			line = "data: " + s.event("{"+strings.TrimRight(data, "\r\n"), &answer) + line[len(strings.TrimRight(line, "\r\n")):]
		}
		if _, wrong := io.WriteString(w, line); wrong != nil || err != nil {
			return
		}
		if line == "\n" || line == "\r\n" {
			w.(http.Flusher).Flush()
		}
	}
}

// event reads the usage of an event, and puts the answer into its first text. An
// event that needs no change is passed on as it came.
func (s *served) event(data string, answer *string) string {
	var e struct {
		Usage *struct {
			In  int64 `json:"prompt_tokens"`
			Out int64 `json:"completion_tokens"`
		} `json:"usage"`
		Choices []struct {
			Delta  struct{ Content string }
			Finish *string `json:"finish_reason"`
		} `json:"choices"`
	}
	if json.Unmarshal([]byte(data), &e) != nil {
		return data
	}
	if e.Usage != nil {
		s.Input, s.Output = e.Usage.In, e.Usage.Out
	}
	if s.Sum == "" || len(e.Choices) == 0 {
		return data
	}
	if text := e.Choices[0].Delta.Content; text != "" && *answer != "" {
		from, to := encoded(text), encoded(*answer+" ")
		if changed := strings.Replace(data, `"content":`+from, `"content":`+to, 1); changed != data {
			*answer, data = "", changed
		}
	}
	return strings.Replace(data, `"finish_reason":"length"`, `"finish_reason":"stop"`, 1)
}

func encoded(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}
