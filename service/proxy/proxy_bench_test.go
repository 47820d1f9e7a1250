package proxy

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"
)

// chunks is a stream over real sockets: step lets the upstream write one chunk
// and waits until the client has it. short: on the short way.
func chunks(tb testing.TB, short bool) (step func()) {
	up, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	next := make(chan struct{})
	go func() {
		c, err := up.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		req, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(c, sseHead)
		event := []byte(chunk(tok("word ")))
		for range next {
			if _, err := c.Write(event); err != nil {
				return
			}
		}
		_, _ = io.WriteString(c, chunk(fin+done)+lastChunk)
	}()
	p, err := New(Config{Routes: []Route{{Name: "all", Upstreams: []Share{{"a", 1}}}}, Upstreams: []Upstream{{Name: "a", URL: "http://" + up.Addr().String()}}}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: p}
	if short {
		server.ConnContext = ConnContext
	}
	go func() { _ = server.Serve(front) }()
	c, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	_, _ = io.WriteString(c, post(chatPath, hello))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		tb.Fatal(err)
	}
	body := bufio.NewReader(resp.Body)
	tb.Cleanup(func() {
		close(next)
		_, _ = io.Copy(io.Discard, body)
		_ = c.Close()
		_ = server.Close()
		p.Wait()
		p.Retire(nil)
		_ = up.Close()
	})
	return func() {
		next <- struct{}{}
		for line := range 2 {
			text, err := body.ReadSlice('\n')
			if err != nil || line == 0 && !bytes.HasPrefix(text, []byte("data: ")) {
				tb.Fatal(string(text), err)
			}
		}
	}
}

// BenchmarkChunk is what one chunk of a stream costs: the upstream's write, the
// proxy and the client's read.
func BenchmarkChunk(b *testing.B) {
	for _, short := range []bool{true, false} {
		b.Run(way(short), func(b *testing.B) {
			step := chunks(b, short)
			b.ReportAllocs()
			for b.Loop() {
				step()
			}
		})
	}
}

func way(short bool) string {
	if short {
		return "short"
	}
	return "long"
}

// Nothing is allocated for a chunk, but for the record's growth now and then.
func TestNothingIsAllocatedForAChunk(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for _, short := range []bool{true, false} {
		t.Run(way(short), func(t *testing.T) {
			step := chunks(t, short)
			for range 1000 {
				step()
			}
			if n := testing.AllocsPerRun(1000, step); n > 0 {
				t.Errorf("%v allocations a chunk", n)
			}
		})
	}
}
