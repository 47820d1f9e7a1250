package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/physics/sim/simtest"
)

// A raw client: it writes a request and notes when each line of the reply came.

type line struct {
	at   time.Duration // since the request was sent
	text string
}

type result struct {
	status int
	header http.Header
	lines  []line
	err    error // of the body: nil at its clean end
	end    time.Duration
}

// tokens lists when lines with text came, and the words in all.
func (r result) tokens() (at []time.Duration, words int) {
	for _, l := range r.lines {
		text := l.delta("content") + l.delta("reasoning_content") + l.delta("text")
		if text != "" {
			at = append(at, l.at)
			words += countWords(text)
		}
	}
	return at, words
}

func (l line) delta(field string) string {
	data, ok := strings.CutPrefix(l.text, "data: ")
	if !ok {
		return ""
	}
	var j struct {
		Choices []struct {
			Text  string         `json:"text"`
			Delta map[string]any `json:"delta"`
		} `json:"choices"`
	}
	if json.Unmarshal([]byte(data), &j) != nil || len(j.Choices) == 0 {
		return ""
	}
	if field == "text" {
		return j.Choices[0].Text
	}
	s, _ := j.Choices[0].Delta[field].(string)
	return s
}

func (r result) has(text string) bool {
	for _, l := range r.lines {
		if strings.Contains(l.text, text) {
			return true
		}
	}
	return false
}

func send(nc net.Conn, body, header string) error {
	_, err := fmt.Fprintf(nc, "POST /v1/chat/completions HTTP/1.1\r\nHost: sim\r\nContent-Length: %d\r\n%s\r\n%s", len(body), header, body)
	return err
}

func receive(br *bufio.Reader, sent time.Time) (r result) {
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		r.err, r.end = err, time.Since(sent)
		return r
	}
	r.status, r.header = resp.StatusCode, resp.Header
	in := bufio.NewReader(resp.Body)
	for {
		text, err := in.ReadString('\n')
		if text != "" {
			r.lines = append(r.lines, line{time.Since(sent), strings.TrimSuffix(text, "\n")})
		}
		if err != nil {
			if err != io.EOF {
				r.err = err
			}
			r.end = time.Since(sent)
			return r
		}
	}
}

// world is a server in a bubble of virtual time.
type world struct {
	t   *testing.T
	s   *Server
	ln  *simtest.PipeListener
	mu  sync.Mutex
	got []Truth
}

func inVirtualTime(t *testing.T, cfg Config, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, ln: simtest.NewPipeListener()}
		cfg.Base = time.Now()
		cfg.OnTruth = func(tr Truth) {
			w.mu.Lock()
			w.got = append(w.got, tr)
			w.mu.Unlock()
		}
		w.s = New(cfg)
		go w.s.Serve(w.ln)
		f(w)
		synctest.Wait()
		if err := w.s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (w *world) dial() net.Conn {
	nc, err := w.ln.Dial(context.Background(), "", "")
	if err != nil {
		w.t.Fatal(err)
	}
	return nc
}

// ask sends one request on a new connection and reads the whole reply.
func (w *world) ask(body, header string) result {
	nc := w.dial()
	defer nc.Close()
	sent := time.Now()
	if err := send(nc, body, header); err != nil {
		w.t.Error(err)
	}
	return receive(bufio.NewReader(nc), sent)
}

// post sends a body to a path.
func (w *world) post(path, body string) result {
	nc := w.dial()
	defer nc.Close()
	sent := time.Now()
	if _, err := fmt.Fprintf(nc, "POST %s HTTP/1.1\r\nHost: sim\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body); err != nil {
		w.t.Error(err)
	}
	return receive(bufio.NewReader(nc), sent)
}

// truths are those of the finished requests.
func (w *world) truths() []Truth {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Truth(nil), w.got...)
}

func prompt(words, tokens int) string {
	return fmt.Sprintf(`{"model":"sim","stream":true,"stream_options":{"include_usage":true},"max_tokens":%d,"messages":[{"role":"user","content":%q}]}`,
		tokens, string(bytes.TrimSpace(bytes.Repeat([]byte("word "), words))))
}
