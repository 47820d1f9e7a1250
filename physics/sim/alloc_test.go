package sim

import (
	"bytes"
	"fmt"
	"net"
	"runtime"
	"testing"
)

// stream asks for a reply and reads it to its end with no allocation of its own.
func stream(t testing.TB, nc net.Conn, buf []byte, tokens int, itl string) {
	send(nc, fmt.Sprintf(`{"stream":true,"max_tokens":%d,"messages":[{"content":"a"}]}`, tokens), "X-Sim: itl="+itl+"\r\n")
	for n := 0; ; {
		k, err := nc.Read(buf[n:])
		if err != nil {
			t.Fatal(err)
		}
		n += k
		if bytes.HasSuffix(buf[:n], []byte("\r\n0\r\n\r\n")) {
			return
		}
		if n > 8 {
			n = copy(buf, buf[n-8:n])
		}
	}
}

func TestNothingIsAllocatedPerToken(t *testing.T) {
	_, addr := serveTCP(t, Config{})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	buf := make([]byte, 1<<16)
	count := func(tokens int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		stream(t, nc, buf, tokens, "50us")
		runtime.ReadMemStats(&after)
		return after.Mallocs - before.Mallocs
	}
	count(100)
	small, large := count(100), count(2100)
	if per := float64(large-small) / 2000; large > small && per > 0.05 {
		t.Errorf("%.2f allocations a token", per)
	}
}

// BenchmarkToken is one token from its due moment to the client, with no pause between.
func BenchmarkToken(b *testing.B) {
	_, addr := serveTCP(b, Config{})
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer nc.Close()
	buf := make([]byte, 1<<16)
	const tokens = 10_000
	b.ReportAllocs()
	for b.Loop() {
		stream(b, nc, buf, tokens, "0s")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
}
