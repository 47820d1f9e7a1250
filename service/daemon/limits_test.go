package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
)

// A head that is too large, or comes too slowly, is refused, and its connection
// closed.
func TestHeads(t *testing.T) {
	for name, tc := range map[string]struct {
		request string
		status  int           // 0: closed without an answer
		after   time.Duration // at the latest
	}{
		"a large header":   {get("/v1/models", "x-a: "+strings.Repeat("a", 20_000)), 431, time.Second},
		"many headers":     {get("/v1/models", strings.Repeat("x-a: b\r\n", 4000)+"x-b: c"), 431, time.Second},
		"a long target":    {get("/v1/models?" + strings.Repeat("a", 20_000)), 431, time.Second},
		"half a head":      {"GET /v1/models HTTP/1.1\r\nhost: h\r\nx-a:", 0, 6 * time.Second},
		"nothing":          {"", 0, 6 * time.Second},
		"one that is well": {get("/v1/models", "x-a: "+strings.Repeat("a", 5_000)), 200, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t, file(`{name: m, listen: "front:1", header: 8KiB, header_timeout: 5s}`, allRoutes))
				c, err := w.net.dial(context.Background(), "tcp", "front:1")
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				go func() { _, _ = io.WriteString(c, tc.request) }()
				start := time.Now()
				_ = c.SetReadDeadline(start.Add(time.Minute))
				answer, _ := io.ReadAll(io.LimitReader(c, 15))
				status := 0
				_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
				if d := time.Since(start); status != tc.status || d > tc.after {
					t.Errorf("%d after %v, want %d", status, d, tc.status)
				}
			})
		})
	}
}

// Hundreds of clients that send heads in drops hold nothing up and are gone in
// time.
func TestSlowLoris(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1", header_timeout: 5s}`, allRoutes))
		const clients = 300
		gone := make(chan time.Duration, clients)
		for range clients {
			c, err := w.net.dial(context.Background(), "tcp", "front:1")
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			go func() {
				_, err := io.WriteString(c, "GET /v1/models HTTP/1.1\r\nhost: h\r\n")
				for err == nil {
					time.Sleep(time.Second)
					_, err = io.WriteString(c, "x: y\r\n")
				}
				gone <- time.Since(start)
			}()
		}
		time.Sleep(2 * time.Second)
		if status, _, err := w.get("front:1", get("/v1/models")); err != nil || status != 200 {
			t.Errorf("another client: %d, %v", status, err)
		}
		for range clients {
			if d := <-gone; d > 8*time.Second {
				t.Fatalf("one went on for %v", d)
			}
		}
	})
}

// The admin listener is no place to wait in either.
func TestAdminHasLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes))
		for _, request := range []string{"GET /metrics HTTP/1.1\r\nhost: h\r\n", "GET /healthz HTTP/1.1\r\nhost: h\r\ncontent-length: 1000\r\n\r\n", "PO"} {
			c, err := w.net.dial(context.Background(), "tcp", "localhost:2")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, request)
			start := time.Now()
			_ = c.SetReadDeadline(start.Add(10 * time.Minute))
			_, _ = io.Copy(io.Discard, c)
			if d := time.Since(start); d > 3*time.Minute {
				t.Errorf("%q: closed after %v", request, d)
			}
			_ = c.Close()
		}
	})
}

// Connections that say nothing keep nobody from asking for /healthz: the oldest ends for
// the newest, and while there are few enough none does.
func TestAdminHearsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes))
		var all []net.Conn
		for range mostAdmins + 10 {
			c, err := w.net.dial(context.Background(), "tcp", "localhost:2")
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			_, _ = io.WriteString(c, "GET /")
			all = append(all, c)
			synctest.Wait()
		}
		start := time.Now()
		if status, _, err := w.get("localhost:2", get("/healthz")); err != nil || status != 200 || time.Since(start) > 0 {
			t.Errorf("%d, %v after %v", status, err, time.Since(start))
		}
		ended := 0
		for i, c := range all {
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
				if ended++; i >= ended {
					t.Errorf("connection %d ended, and an older one did not", i)
				}
			}
		}
		if ended != 11 {
			t.Errorf("%d ended, of 11 too many", ended)
		}
	})
}

// few is a listener that has file descriptors for so many connections.
type few struct {
	net.Listener
	free int
}

type fewConn struct {
	net.Conn
	of *few
}

func (l *few) Accept() (net.Conn, error) {
	if l.free == 0 {
		return nil, &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	}
	l.free--
	return fewConn{of: l}, nil
}

func (c fewConn) Close() error {
	c.of.free++
	return nil
}

// Where descriptors are short the oldest ends, too; where none is held there is nothing to end.
func TestAdminWithoutDescriptors(t *testing.T) {
	l := &newest{Listener: &few{free: 3}, most: mostAdmins}
	for range 20 {
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
	}
	if len(l.held) != 3 {
		t.Errorf("%d are held of 3 that can be", len(l.held))
	}
	if _, err := (&newest{Listener: &few{}, most: mostAdmins}).Accept(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("without any: %v", err)
	}
}

// A file without end is an error and no full memory.
func TestFilesHaveAnEnd(t *testing.T) {
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	f, err := os.Create(big)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(64 << 20); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := Load(big, noEnv); err == nil || !strings.Contains(err.Error(), "more than 1 MiB") {
		t.Errorf("the configuration: %v", err)
	}
	for name, text := range map[string]string{
		"a key":         strings.Replace(small, `url: "http://127.0.0.1:1"`, `url: "http://127.0.0.1:1", key_file: `+big, 1),
		"an authority":  strings.Replace(small, `url: "http://127.0.0.1:1"`, `url: "https://127.0.0.1:1", ca_file: `+big, 1),
		"a certificate": strings.Replace(small, `listen: "127.0.0.1:0"`, `listen: "127.0.0.1:0", tls: {cert: `+big+`, key: `+big+`}`, 1),
		"a token":       small + "admin: {token_file: " + big + "}\n",
	} {
		if _, err := Parse("t.yaml", []byte(text), noEnv); err == nil || !strings.Contains(err.Error(), "more than") || !strings.Contains(err.Error(), "t.yaml:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A word is no upstream; HOST:PORT is one, by http.
func TestAVagueUpstreamIsRefused(t *testing.T) {
	for url, good := range map[string]bool{"foo": false, "localhost": false, "foo/v1": false, "user@foo": false, "10.0.0.1": false,
		"localhost:8000": true, "foo:8000/v1": true, "http://foo": true, "unix:///run/x": true, "[::1]:8000": true} {
		_, err := Parse("t.yaml", []byte(strings.Replace(small, "http://127.0.0.1:1", url, 1)), noEnv)
		if (err == nil) != good {
			t.Errorf("%s: %v", url, err)
		}
		if !good && err != nil && (!strings.Contains(err.Error(), "t.yaml:2:") || !strings.Contains(err.Error(), "write http://")) {
			t.Errorf("%s: no help in %v", url, err)
		}
	}
}

// Two listeners can't have one address, and what a listener was opened with
// can't change under it.
func TestOneAddressOneListener(t *testing.T) {
	_, err := Parse("t.yaml", []byte(file(`{name: m, listen: "front:1"}, {name: n, listen: "front:1"}`, allRoutes)), noEnv)
	if err == nil || !strings.Contains(err.Error(), "another listener is at front:1 already") {
		t.Errorf("got %v", err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes))
		w.change(file(`{name: m, listen: "front:1", header_timeout: 3s}`, allRoutes))
		if !strings.Contains(w.logged(), "header_timeout") || !strings.Contains(w.logged(), "restart") {
			t.Errorf("logged %q", w.logged())
		}
		w.change(file(`{name: renamed, listen: "front:1"}`, allRoutes))
		if _, body, _ := w.get("localhost:2", get("/metrics")); !strings.Contains(body, `tokenmeter_in_flight_requests{listener="renamed"} 0`) {
			t.Error("the metrics have the old name of a listener")
		}
	})
}

// A bad configuration, in whichever way, drops no stream, is logged with its
// lines, and the old one holds.
func TestBadReloadsWhileStreamsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes))
		const streams = 20
		ends := make(chan string, streams)
		for range streams {
			go func() {
				status, body, err := w.get("front:1", ask)
				ends <- fmt.Sprintf("%d, %d events, %v", status, strings.Count(body, "data:"), err)
			}()
		}
		time.Sleep(1500 * time.Millisecond)
		for text, want := range map[string]string{
			"listeners: [": "t.yaml:1:",
			"":             "the file is empty",
			file(`{name: m, listen: "front:1"}`, allRoutes+"oops: 1\n"):                                "t.yaml:6:1: unknown field",
			file(`{name: m, listen: "front:1"}`, "routes: [{name: r, upstreams: [{name: nobody}]}]\n"): `t.yaml:5:`,
			strings.Replace(file(`{name: m, listen: "front:1"}`, allRoutes), "http://up:1", "up", 1):   "t.yaml:2:",
			file(`{name: m, listen: "taken:9"}`, allRoutes):                                            "can't listen on taken:9",
		} {
			w.change(text)
			if !strings.Contains(w.logged(), want) {
				t.Errorf("nothing was logged of %q: %s", want, w.logged())
			}
			if status, _, err := w.get("front:1", get("/v1/models")); err != nil || status != 200 {
				t.Errorf("after %q: %d, %v", text, status, err)
			}
		}
		w.change(file(`{name: m, listen: "front:1"}`, allRoutes+"keep: 0.5\n"))
		for range streams {
			if got := <-ends; got != "200, 12 events, <nil>" {
				t.Errorf("a stream: %s", got)
			}
		}
		synctest.Wait()
		for _, outcome := range w.outcomes() {
			if outcome != timeline.OK {
				t.Errorf("outcome %s", outcome)
			}
		}
		if _, body, _ := w.get("localhost:2", get("/metrics")); !strings.Contains(body, "tokenmeter_config_reload_failures_total 6\n") || !strings.Contains(body, "tokenmeter_config_reloads_total 1\n") {
			t.Error("reloads are not counted")
		}
	})
}

// Over HTTP/2, too, streams end when they may and break off when they may not.
func TestDrainOverHTTP2(t *testing.T) {
	for stop, whole := range map[string]bool{"stop: {drain: 60s}\n": true, "stop: {drain: 3s}\n": false} {
		synctest.Test(t, func(t *testing.T) {
			w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes+stop))
			protocols := new(http.Protocols)
			protocols.SetUnencryptedHTTP2(true)
			transport := &http.Transport{Protocols: protocols, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.net.dial(ctx, "tcp", "front:1") }}
			defer transport.CloseIdleConnections()
			resp, err := (&http.Client{Transport: transport}).Post("http://h/v1/chat/completions", "application/json", strings.NewReader(chat))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(1500 * time.Millisecond)
			w.stop()
			body, err := io.ReadAll(resp.Body)
			if (err == nil) != whole || (strings.Count(string(body), "data:") == 12) != whole {
				t.Errorf("%q: %d events, %v", stop, strings.Count(string(body), "data:"), err)
			}
			if err := <-w.ended; err != nil {
				t.Error(err)
			}
			want := timeline.OK
			if !whole {
				want = timeline.CancelledRunEnd
			}
			if got := w.outcomes(); len(got) != 1 || got[0] != want {
				t.Errorf("%q: outcomes %v", stop, got)
			}
		})
	}
}
