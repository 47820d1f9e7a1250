package client

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// BenchmarkFeed is the client's own work for a read of one token.
func BenchmarkFeed(b *testing.B) {
	frame := []byte(chunk(tok("word")))
	data := make([]byte, len(frame))
	var r response
	if _, _, err := r.feed([]byte(sseHead)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		copy(data, frame)
		if _, _, err := r.feed(data); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream reads streams over loopback as fast as they come, one token
// a write; the server's work is included.
func BenchmarkStream(b *testing.B) {
	for _, kind := range []string{"kernel", "user", "net/http"} {
		b.Run(kind, func(b *testing.B) {
			const n = 1000
			f := &fake{serve: func(_ *fake, c net.Conn, _ *received) bool {
				if _, err := io.WriteString(c, sseHead); err != nil {
					return false
				}
				frame := []byte(chunk(tok("word")))
				for range n {
					if _, err := c.Write(frame); err != nil {
						return false
					}
				}
				_, err := io.WriteString(c, chunk(fin+done)+lastChunk)
				return err == nil
			}}
			l := socketServer(b, "tcp", "127.0.0.1:0", f)
			url := "http://" + l.Addr().String()
			one := streamOnce(b, url, kind)
			b.ReportAllocs()
			for b.Loop() {
				one()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/token")
		})
	}
}

func streamOnce(b *testing.B, url, kind string) func() {
	if kind == "net/http" { // scanning lines, without reading their JSON
		return func() {
			resp, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader("{}"))
			if err != nil {
				b.Fatal(err)
			}
			defer resp.Body.Close()
			lines := bufio.NewScanner(resp.Body)
			for lines.Scan() {
				_ = time.Now()
			}
		}
	}
	c := socketClient(b, url, func(c *Config) { c.NoKernelStamps = kind == "user"; c.Stream = api.StreamOptions{} })
	tl := timeline.New()
	return func() {
		tl.Events.Reset()
		tl.DueUS = c.clk.US()
		tl.StartUS = tl.DueUS
		c.Do(b.Context(), hello, tl)
		if tl.Outcome != timeline.OK {
			b.Fatal(tl.Error)
		}
	}
}
