package client

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// socketServer is a fake on real sockets.
func socketServer(t testing.TB, network, address string, f *fake) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Skip(err)
	}
	serveOn(t, l, f)
	return l
}

func serveOn(t testing.TB, l net.Listener, f *fake) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			f.dialled++
			f.mu.Unlock()
			go f.run(c, n)
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
}

func socketClient(t testing.TB, url string, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: url, API: api.OpenAIChat, Clock: clock.Start(),
		ConnectTimeout: 5 * time.Second, Timeout: 20 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// The stamps of the kernel: never after the read, never before the request,
// and close to when the server wrote.
func TestKernelStamps(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		if runtime.GOOS != "linux" {
			t.Skip("no kernel stamps here")
		}
		const n = 50
		wrote := make([]time.Time, n)
		f := &fake{serve: func(_ *fake, c net.Conn, _ *received) bool {
			for i := range n {
				time.Sleep(2 * time.Millisecond)
				frame := chunk(tok("w"))
				if i == 0 {
					frame = sseHead + frame
				}
				wrote[i] = time.Now()
				if _, err := io.WriteString(c, frame); err != nil {
					return false
				}
			}
			_, err := io.WriteString(c, chunk(fin+done)+lastChunk)
			return err == nil
		}}
		l := socketServer(t, "tcp", "127.0.0.1:0", f)
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		if tl.Clock != timeline.Kernel {
			t.Skip("this kernel gives no stamps")
		}
		last, i := tl.SentUS.Or(-1), 0
		for ev := range tl.Events.Generation() {
			if ev.AtUS < last {
				t.Errorf("token %d at %d µs, after one at %d", i, ev.AtUS, last)
			}
			if ev.LagUS < 0 || ev.LagUS > 1_000_000 {
				t.Errorf("token %d: lag %d µs", i, ev.LagUS)
			}
			// The stamp is taken between the server's clock reading and the read.
			if before := c.clk.At(wrote[i]) - tl.DueUS; ev.AtUS < before-100 {
				t.Errorf("token %d is stamped %d µs before it was written", i, before-ev.AtUS)
			}
			last = ev.AtUS
			i++
		}
		want(t, "tokens", i, n)
		want(t, "remote", tl.Remote, l.Addr().String())
	})
}

// B55: no 40 ms ghost of Nagle and delayed acknowledgements.
func TestB55NoNagleGhost(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		f := &fake{serve: play("0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done))}
		l := socketServer(t, "tcp", "127.0.0.1:0", f)
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		req := &api.Request{Model: "m", Stream: true, Messages: []api.Message{{Role: "user", Content: strings.Repeat("a", 3<<10)}}}
		ghosts := func() (n int) {
			var ttft []int64
			for range 200 {
				tl := timeline.New()
				tl.DueUS = c.clk.US()
				tl.StartUS = tl.DueUS
				c.Do(t.Context(), req, tl)
				if tl.Outcome != timeline.OK {
					t.Fatal(tl.Error)
				}
				ttft = append(ttft, tokens(tl)[0])
			}
			slices.Sort(ttft)
			for _, us := range ttft {
				if us >= 38_000 && us <= 45_000 {
					n++
				}
			}
			t.Logf("TTFT p50 %d µs, p99 %d µs, %d between 38 and 45 ms", ttft[100], ttft[198], n)
			return n
		}
		// A loaded machine may put some there, a ghost comes every time.
		haunted := 0
		for haunted < 3 && ghosts() > 2 {
			haunted++
		}
		if haunted == 3 {
			t.Error("three times more than 2 of 200 between 38 and 45 ms")
		}
		want(t, "connections", c.Stats().Opened, 1)
	})
}

// B48 on a real socket: a reset is told from an end.
func TestB48Reset(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		f := &fake{serve: func(_ *fake, c net.Conn, _ *received) bool {
			_, _ = io.WriteString(c, sseHead+chunk(tok("w")))
			time.Sleep(20 * time.Millisecond)
			_ = c.(*net.TCPConn).SetLinger(0)
			return false
		}}
		l := socketServer(t, "tcp", "127.0.0.1:0", f)
		tl := send(t.Context(), socketClient(t, "http://"+l.Addr().String(), in(form)))
		want(t, "outcome", tl.Outcome, timeline.ConnReset)
		want(t, "tokens", len(tokens(tl)), 1)
		t.Log(tl.Error)
	})
}

// B52 on a real socket: the server's FIN is seen before the connection is
// used, or the loss after; both ways one request is answered.
func TestB52ClosedWhileIdle(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		answer := "0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done)
		for name, pause := range map[string]time.Duration{"seen": 20 * time.Millisecond, "race": 0} {
			t.Run(name, func(t *testing.T) {
				f := &fake{serve: play(answer, "0s CUT")}
				l := socketServer(t, "tcp", "127.0.0.1:0", f)
				c := socketClient(t, "http://"+l.Addr().String(), in(form))
				retries := 0
				for range 20 {
					tl := send(t.Context(), c)
					if tl.Outcome != timeline.OK {
						t.Fatal(tl.Error)
					}
					retries += tl.ConnRetries
					time.Sleep(pause)
				}
				want(t, "retries", retries, 19)
				want(t, "opened", c.Stats().Opened, 20)
				want(t, "dead", c.Stats().Dead, 19)
			})
		}
	})
}

// nobody listens there: the system gives this port to none who asks for any.
const nobody = "127.0.0.1:1"

func TestConnectRefused(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		tl := send(t.Context(), socketClient(t, "http://"+nobody, in(form)))
		want(t, "outcome", tl.Outcome, timeline.ConnectRefused)
		if !strings.Contains(tl.Error.Message, nobody) {
			t.Error(tl.Error.Message)
		}
	})
}

// B51: localhost may be ::1 first although the server has IPv4 only; a
// literal IPv6 address needs its brackets.
func TestB51Addresses(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		answer := play("0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done))
		f := &fake{serve: answer}
		l := socketServer(t, "tcp4", "127.0.0.1:0", f)
		port := l.Addr().(*net.TCPAddr).Port
		tl := send(t.Context(), socketClient(t, fmt.Sprintf("http://localhost:%d/v1", port), in(form)))
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "remote", tl.Remote, l.Addr().String())
		if us := tl.ConnectUS.Or(0); us > 350_000 { // a loaded machine alone can do that
			t.Logf("connecting took %d µs", us)
		}
		want(t, "resolving measured", tl.DNSUS.OK(), true)

		_, err := New(Config{BaseURL: fmt.Sprintf("http://::1:%d/v1", port), API: api.OpenAIChat})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("http://[::1]:%d/v1", port)) {
			t.Errorf("got %v", err)
		}

		f6 := &fake{serve: answer}
		l6 := socketServer(t, "tcp6", "[::1]:0", f6)
		url := fmt.Sprintf("http://[::1]:%d", l6.Addr().(*net.TCPAddr).Port)
		tl = send(t.Context(), socketClient(t, url, in(form)))
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "host", "http://"+f6.request(0).Host, url)
	})
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	f := &fake{serve: play("0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done))}
	socketServer(t, "unix", path, f)
	for _, url := range []string{"unix://" + path, "http+unix://" + strings.ReplaceAll(path, "/", "%2F") + "/v1"} {
		tl := send(t.Context(), socketClient(t, url, nil))
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "clock", tl.Clock, timeline.User)
		want(t, "path", f.request(-1).URL.Path, "/v1/chat/completions")
	}
	tl := send(t.Context(), socketClient(t, "unix://"+path+"-none", nil))
	want(t, "no socket", tl.Outcome, timeline.ConnectRefused)
}

// certificate makes a self-signed certificate for 127.0.0.1.
func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	spec := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, spec, spec, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

// B50: a certificate that is not trusted is its own failure, at once.
func TestB50TLS(t *testing.T) {
	cert, roots := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Skip(err)
	}
	f := &fake{serve: play("1ms "+sseHead+chunk(tok("w")), "5ms "+chunk(tok("w")), "9ms "+chunk(fin+done)+lastChunk)}
	serveOn(t, l, f)
	url := "https://" + l.Addr().String()

	tl := send(t.Context(), socketClient(t, url, nil))
	want(t, "outcome", tl.Outcome, timeline.TLS)
	if !strings.Contains(tl.Error.Message, "certificate of its authority") {
		t.Errorf("no hint in %q", tl.Error.Message)
	}
	f.mu.Lock()
	want(t, "dialled", f.dialled, 1) // it is not tried again
	f.mu.Unlock()

	c := socketClient(t, url, func(c *Config) { c.TLS = &tls.Config{RootCAs: roots} })
	for i := range 3 {
		tl = send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "handshake measured", tl.TLSUS.OK(), i == 0)
		want(t, "tokens", len(tokens(tl)), 2)
		if runtime.GOOS == "linux" {
			want(t, "clock", tl.Clock, timeline.Kernel)
		}
		for ev := range tl.Events.All() {
			if ev.LagUS < 0 || ev.AtUS < tl.SentUS.Or(0) {
				t.Errorf("event at %d µs, lag %d µs", ev.AtUS, ev.LagUS)
			}
		}
	}
	want(t, "opened", c.Stats().Opened, 1)
	want(t, "dead", c.Stats().Dead, 0)

	// A connection that waits has unread session tickets and is still good.
	c2 := socketClient(t, url, func(c *Config) { c.TLS = &tls.Config{RootCAs: roots} })
	if n, us, err := c2.Preconnect(t.Context(), 1); n != 1 || err != nil || !us.OK() {
		t.Fatal(n, err)
	}
	time.Sleep(20 * time.Millisecond)
	tl = send(t.Context(), c2)
	want(t, "outcome", tl.Outcome, timeline.OK)
	want(t, "opened", c2.Stats().Opened, 1)
}

func TestTLSToPlainServer(t *testing.T) {
	f := &fake{serve: play("0s x")}
	l := socketServer(t, "tcp", "127.0.0.1:0", f)
	tl := send(t.Context(), socketClient(t, "https://"+l.Addr().String(), nil))
	want(t, "outcome", tl.Outcome, timeline.TLS)
	if !strings.Contains(tl.Error.Message, "http://") {
		t.Errorf("no hint in %q", tl.Error.Message)
	}
}

// A server that takes none of our protocols says so in the handshake (RFC 7301 §3.2).
func TestTLSWithoutOurProtocol(t *testing.T) {
	cert, roots := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"other"}})
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_ = c.(*tls.Conn).Handshake()
			_ = c.Close()
		}
	}()
	tl := send(t.Context(), socketClient(t, "https://"+l.Addr().String(), func(c *Config) { c.TLS = &tls.Config{RootCAs: roots} }))
	want(t, "outcome", tl.Outcome, timeline.TLS)
	if !strings.Contains(tl.Error.Message, "HTTP/2 alone") {
		t.Errorf("no hint in %q", tl.Error.Message)
	}
}

// A server that answers before it has read the request is heard.
func TestEarlyAnswerToABigRequest(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = bufio.NewReader(c).ReadString('\n')
				_, _ = io.WriteString(c, whole("413 Content Too Large", "text/plain", "too long", "connection: close"))
				time.Sleep(50 * time.Millisecond)
				c.Close()
			}
		}()
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		tl := timeline.New()
		tl.DueUS = c.clk.US()
		tl.StartUS = tl.DueUS
		big := &api.Request{Model: "m", Stream: true, Messages: []api.Message{{Role: "user", Content: strings.Repeat("a", 4<<20)}}}
		c.Do(t.Context(), big, tl)
		// A reset may destroy the answer before it is read; then that is the truth.
		if tl.Outcome != timeline.HTTP4xx && tl.Outcome != timeline.ConnReset {
			t.Errorf("outcome %v", tl.Outcome)
		}
		t.Log(tl.Error)
	})
}

// gather answers requests once n of them are in flight, each time anew.
func gather(n int, writes ...string) func(*fake, net.Conn, *received) bool {
	var mu sync.Mutex
	waiting, full := 0, make(chan struct{})
	return func(f *fake, c net.Conn, r *received) bool {
		mu.Lock()
		mine := full
		if waiting++; waiting == n {
			close(full)
			waiting, full = 0, make(chan struct{})
		}
		mu.Unlock()
		<-mine
		r.start = time.Now()
		return play(writes...)(f, c, r)
	}
}

// B66 and B67: as many connections as requests at once, and no more.
func TestB67NoHiddenCap(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		const n = 128
		together := gather(n, "0s "+whole("200 OK", "text/event-stream", tok("w")+fin+done))
		l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: together})
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		var wg sync.WaitGroup
		for range n {
			wg.Go(func() {
				for range 2 {
					if tl := send(t.Context(), c); tl.Outcome != timeline.OK {
						t.Error(tl.Error)
					}
				}
			})
		}
		wg.Wait()
		want(t, "opened", c.Stats().Opened, n)
		want(t, "reused", c.Stats().Reused, n)
	})
}

// The answers of net/http's own server are read as its client reads them.
func TestAgainstNetHTTP(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		mux := http.NewServeMux()
		mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Trailer", "X-Done")
			for range 20 {
				_, _ = io.WriteString(w, tok("w"))
				w.(http.Flusher).Flush()
			}
			_, _ = io.WriteString(w, fin+done)
			w.Header().Set("X-Done", "yes")
		})
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		server := &http.Server{Handler: mux}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { server.Close() })
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		for range 5 {
			tl := send(t.Context(), c)
			want(t, "outcome", tl.Outcome, timeline.OK)
			want(t, "tokens", len(tokens(tl)), 20)
		}
		want(t, "opened", c.Stats().Opened, 1)
		if r, err := c.Get(t.Context(), "/nothing"); err != nil || r.Status != 404 {
			t.Errorf("%v %v", r, err)
		}
	})
}
