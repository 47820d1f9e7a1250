package sim

import (
	"bufio"
	"net"
	"sync"
	"testing"
	"time"
)

// serveTCP starts a server on the loopback interface.
func serveTCP(t testing.TB, cfg Config) (*Server, string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := New(cfg)
	done := make(chan error, 1)
	go func() { done <- s.Serve(ln) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s, ln.Addr().String()
}

func TestTCP(t *testing.T) {
	var mu sync.Mutex
	var truths []Truth
	cfg := Config{Overhead: 20 * ms, DecodeBase: 5 * ms, OnTruth: func(tr Truth) {
		mu.Lock()
		truths = append(truths, tr)
		mu.Unlock()
	}}
	s, addr := serveTCP(t, cfg)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			nc, err := net.Dial("tcp", addr)
			if err != nil {
				t.Error(err)
				return
			}
			defer nc.Close()
			br := bufio.NewReader(nc)
			for range 3 {
				sent := time.Now()
				send(nc, prompt(10, 20), "")
				r := receive(br, sent)
				if at, words := r.tokens(); r.status != 200 || r.err != nil || len(at) != 20 || words != 20 || at[0] < 20*ms {
					t.Errorf("%d, %v, %v", r.status, r.err, at)
				}
			}
		})
	}
	wg.Wait()
	s.Close()
	if len(truths) != 30 {
		t.Fatalf("%d truths", len(truths))
	}
	for _, tr := range truths {
		if tr.DueNS[0] != tr.ReceivedNS+int64(20*ms) || tr.DueNS[19] != tr.DueNS[0]+19*int64(5*ms) {
			t.Errorf("due %d… after %d", tr.DueNS[0], tr.ReceivedNS)
		}
		for i, due := range tr.DueNS {
			if tr.WriteNS[i] < due || tr.WroteNS[i] < tr.WriteNS[i] {
				t.Errorf("token %d: due %d, write %d…%d", i, due, tr.WriteNS[i], tr.WroteNS[i])
			}
		}
	}
}

func TestResetIsAReset(t *testing.T) {
	_, addr := serveTCP(t, ten)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	send(nc, prompt(1, 10), "X-Sim: fault=reset:after=3\r\n")
	r := receive(bufio.NewReader(nc), time.Now())
	if at, _ := r.tokens(); len(at) != 3 || r.err == nil || !isReset(r.err) {
		t.Errorf("%v after %d tokens", r.err, len(at))
	}
}

func TestASlowReaderDelaysNobodyElse(t *testing.T) {
	cfg := Config{Overhead: ms, OutputTokens: 100}
	_, addr := serveTCP(t, cfg)
	slow, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	// 10 MB of tokens with no pause between them, read by nobody.
	send(slow, prompt(1, 40_000), "")
	time.Sleep(50 * ms)
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))
	send(nc, prompt(1, 10), "")
	if r := receive(bufio.NewReader(nc), time.Now()); r.err != nil {
		t.Error(r.err)
	}
}
