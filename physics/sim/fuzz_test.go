package sim

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tokenmeter/physics/engine"
	"tokenmeter/physics/sim/simtest"
)

func FuzzParseFault(f *testing.F) {
	for _, s := range []string{"stall=0.02:after=10:for=3s", "429=5%", "reset", "=", ":::", "stall=NaN", "error=1e400", "cut=1:after=-9", "ping=1:for=-1s", "stall=1:for=9999999h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fault, err := ParseFault(text)
		if err != nil {
			return
		}
		if !(fault.Rate >= 0 && fault.Rate <= 1) {
			t.Errorf("%q: rate %v", text, fault.Rate)
		}
		if got := fault.settle(10, 0.5); got.After < 0 {
			t.Errorf("%q: settles at %d", text, got.After)
		}
	})
}

func FuzzParsePair(f *testing.F) {
	for _, s := range []string{"llama-3.1-8b/h100", "llama-3.1-70b/h100x4-fp8", "/x", "a/bx0", "a/b-", "mixtral-8x7b/mi300xx2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if c, err := Pair(name); err == nil {
			if err := c.Validate(); err != nil {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
}

// FuzzRequest sends any bytes to a server. Whatever they are, it must neither
// crash nor hang, and whole requests must be answered with HTTP.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		prompt(3, 2),
		`{"messages":[{"content":"a [[sim tokens=3 fault=reset:after=1]] b"}],"stream":true}`,
		`{"messages":[{"content":null}]}`, `{"messages":[]}`, `{"prompt":[1,2,3]}`, `{"max_tokens":-1}`, `[]`, ``, `{`,
		`{"messages":[{"content":[{"type":"text","text":"x"}]}],"stream":true,"max_tokens":3,"n":4,"use_beam_search":true}`,
		`{"prompt":"x","stream":true,"max_tokens":5,"timings_per_token":true,"include_metrics":true}`,
	} {
		f.Add([]byte(s), "ttft=1ms", true)
		f.Add([]byte(s), "fault=split;fault=ping:for=1ms", false)
	}
	// One server for all: its clock is real, its times are short.
	ln := simtest.NewPipeListener()
	s := New(Config{MaxContext: 200, Engine: &engine.Config{
		Law: engine.Linear{Base: 10 * time.Microsecond}, MaxSequences: 8, Blocks: 100, PrefixCache: true}})
	go s.Serve(ln)
	f.Cleanup(func() { s.Close() })
	f.Fuzz(func(t *testing.T, body []byte, header string, chat bool) {
		var j map[string]any
		if json.Unmarshal(body, &j) == nil {
			if n, ok := j["max_tokens"].(float64); ok && n > 300 {
				return // long is not wrong
			}
		}
		path := "/v1/completions"
		if chat {
			path = "/v1/chat/completions"
		}
		req, err := http.NewRequest("POST", "http://sim"+path, bytes.NewReader(body))
		if err != nil {
			return
		}
		if len(header) > 200 || bytes.ContainsAny([]byte(header), "\r\n\x00") || bytes.Contains([]byte(header), []byte("for=")) && len(header) > 40 {
			return
		}
		req.Header["X-Sim"] = []string{header}
		nc, err := ln.Dial(context.Background(), "", "")
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		// Directives may end or hold a reply; time must not run out without one.
		directed := bytes.ContainsRune(body, '=') || strings.ContainsRune(header, '=')
		limit := time.Minute
		if directed {
			limit = time.Second
		}
		nc.SetDeadline(time.Now().Add(limit))
		go req.Write(nc)
		resp, err := http.ReadResponse(bufio.NewReader(nc), req)
		if err == nil {
			_, err = io.Copy(io.Discard, resp.Body)
		}
		var ne net.Error
		if errors.As(err, &ne) && ne.Timeout() && !directed {
			t.Errorf("no end: %v", err)
		}
	})
}
