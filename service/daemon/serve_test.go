package daemon

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// pipes are listeners on in-memory pipes, by address.
type pipes struct {
	mu   sync.Mutex
	open map[string]*pipe
}

type pipe struct {
	addr   pipeAddr
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

type pipeAddr string

func (pipeAddr) Network() string  { return "pipe" }
func (a pipeAddr) String() string { return string(a) }

func (p *pipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipe) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipe) Addr() net.Addr { return p.addr }

func (ps *pipes) listen(_, address string) (net.Listener, error) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if strings.HasPrefix(address, "taken") {
		return nil, &net.OpError{Op: "listen", Err: syscall.EADDRINUSE}
	}
	p := &pipe{addr: pipeAddr(address), conns: make(chan net.Conn), closed: make(chan struct{})}
	ps.open[address] = p
	return p, nil
}

func (ps *pipes) dial(_ context.Context, _, address string) (net.Conn, error) {
	ps.mu.Lock()
	p := ps.open[address]
	ps.mu.Unlock()
	if p == nil {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	}
}

// world is a daemon with an upstream, in virtual time.
type world struct {
	t      *testing.T
	net    *pipes
	mu     sync.Mutex
	file   string
	reload chan os.Signal
	stop   context.CancelFunc
	ended  chan error
	seen   []*traffic.Request
	log    bytes.Buffer
}

// Write takes the log.
func (w *world) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(p)
}

func (w *world) logged() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.String()
}

func (w *world) Done(r *traffic.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, r)
}

func (w *world) outcomes() (all []timeline.Outcome) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.seen {
		all = append(all, r.Outcome)
	}
	return all
}

// event is a token a second: a stream of ten.
func upstream(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		echo(w)
		return
	}
	if r.Method != http.MethodPost {
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for i := range 10 {
		time.Sleep(time.Second)
		if _, err := fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%d\"}}]}\n\n", i); err != nil {
			return
		}
		w.(http.Flusher).Flush()
	}
	_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// echo changes to a protocol that says everything back.
func echo(w http.ResponseWriter) {
	c, buf, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer c.Close()
	_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n")
	_, _ = io.Copy(c, buf)
}

func begin(t *testing.T, file string) *world {
	t.Helper()
	w := &world{t: t, net: &pipes{open: map[string]*pipe{}}, file: file, reload: make(chan os.Signal, 1), ended: make(chan error, 1)}
	ln, _ := w.net.listen("tcp", "up:1")
	server := &http.Server{Handler: http.HandlerFunc(upstream)}
	go func() { _ = server.Serve(ln) }()
	ctx, stop := context.WithCancel(t.Context())
	w.stop = stop
	ready := make(chan struct{})
	go func() {
		w.ended <- Run(ctx, Options{Reload: w.reload, Log: slog.New(slog.NewTextHandler(w, nil)), Listen: w.net.listen, Dial: w.net.dial, Sinks: []traffic.Sink{w},
			Load: func() (*Plan, error) {
				w.mu.Lock()
				defer w.mu.Unlock()
				return Parse("t.yaml", []byte(w.file), func(name string) (string, bool) { return "token-" + name, true })
			},
			Ready: func([]Address, net.Addr) { close(ready) }})
	}()
	select {
	case <-ready:
	case err := <-w.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = server.Close()
		time.Sleep(time.Hour)
	})
	return w
}

func (w *world) change(file string) {
	w.mu.Lock()
	w.file = file
	w.mu.Unlock()
	w.reload <- syscall.SIGHUP
	synctest.Wait()
}

// get asks one of the daemon's addresses.
func (w *world) get(address, request string) (int, string, error) {
	c, err := w.net.dial(context.Background(), "tcp", address)
	if err != nil {
		return 0, "", err
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		return 0, "", err
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0, "", err
	}
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func get(path string, header ...string) string {
	return "GET " + path + " HTTP/1.1\r\nhost: localhost\r\n" + strings.Join(append(header, ""), "\r\n") + "\r\n"
}

const chat = `{"model":"m","stream":true}`

var ask = fmt.Sprintf("POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-length: %d\r\n\r\n%s", len(chat), chat)

func file(listen string, more string) string {
	return fmt.Sprintf(`listeners: [%s]
upstreams: [{name: a, url: "http://up:1"}]
admin: {listen: "localhost:2"}
objectives: ["error rate < 1%%"]
%s`, listen, more)
}

const allRoutes = "routes: [{name: all, upstreams: [{name: a}]}]\n"

func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes))
		type result struct {
			status int
			body   string
			err    error
		}
		streams := make(chan result, 3)
		stream := func(address string) {
			go func() {
				status, body, err := w.get(address, ask)
				streams <- result{status, body, err}
			}()
			synctest.Wait()
		}
		whole := func(what string) {
			t.Helper()
			r := <-streams
			if r.status != 200 || r.err != nil || strings.Count(r.body, "data:") != 12 {
				t.Errorf("%s: %d, %v, %q", what, r.status, r.err, r.body)
			}
		}
		stream("front:1")
		time.Sleep(2500 * time.Millisecond)

		// A bad one changes nothing.
		w.change("listeners: [")
		w.change(file(`{name: m, listen: "front:1"}, {name: n, listen: "taken:1"}`, allRoutes))
		if status, _, err := w.get("front:1", get("/v1/models")); err != nil || status != 200 {
			t.Errorf("after bad configurations: %d, %v", status, err)
		}
		// A good one holds for what comes next, on the same listener and a new one.
		w.change(file(`{name: m, listen: "front:1"}, {name: n, listen: "front:2"}`, "routes: [{name: only, paths: [/v1/chat/completions], upstreams: [{name: a}]}]\n"))
		if status, _, _ := w.get("front:1", get("/v1/models")); status != 404 {
			t.Errorf("the old routes still hold: %d", status)
		}
		stream("front:2")
		whole("a stream over a reload")
		// A listener that goes lets its streams end.
		w.change(file(`{name: m, listen: "front:1"}`, allRoutes))
		if _, _, err := w.get("front:2", get("/v1/models")); err == nil {
			t.Error("the closed listener answers")
		}
		whole("a stream on a listener that is closed")
		synctest.Wait()
		if got := w.outcomes(); len(got) != 2 || got[0] != timeline.OK || got[1] != timeline.OK {
			t.Errorf("outcomes %v", got)
		}
		_, body, _ := w.get("localhost:2", get("/metrics"))
		for _, line := range []string{"tokenmeter_config_reloads_total 2", "tokenmeter_config_reload_failures_total 2", `tokenmeter_requests_total{api="openai-chat",model="other",outcome="ok",route="all",source="live",upstream="a"} 1`} {
			if !strings.Contains(body, line+"\n") {
				t.Errorf("no line %q in\n%s", line, body)
			}
		}
	})
}

func TestDrain(t *testing.T) {
	for name, tc := range map[string]struct {
		stop    string
		outcome timeline.Outcome
		tokens  int
	}{
		"time enough": {"stop: {drain: 60s, delay: 2s}\n", timeline.OK, 12},
		"too little":  {"stop: {drain: 3s}\n", timeline.CancelledRunEnd, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes+tc.stop))
				got := make(chan string, 1)
				broke := make(chan bool, 1)
				go func() {
					_, body, err := w.get("front:1", ask)
					got <- body
					broke <- err != nil
				}()
				time.Sleep(2500 * time.Millisecond)
				if status, _, _ := w.get("localhost:2", get("/readyz")); status != 200 {
					t.Errorf("ready: %d", status)
				}
				w.stop()
				synctest.Wait()
				if status, _, _ := w.get("localhost:2", get("/readyz")); status != 503 {
					t.Errorf("ready while stopping: %d", status)
				}
				if status, _, _ := w.get("localhost:2", get("/healthz")); status != 200 {
					t.Errorf("alive while stopping: %d", status)
				}
				if n := strings.Count(<-got, "data:"); n != tc.tokens {
					t.Errorf("%d events, want %d", n, tc.tokens)
				}
				if (<-broke) != (tc.outcome != timeline.OK) {
					t.Error("the stream's end is another than what happened")
				}
				if err := <-w.ended; err != nil {
					t.Error(err)
				}
				if got := w.outcomes(); len(got) != 1 || got[0] != tc.outcome {
					t.Errorf("outcomes %v, want %v", got, tc.outcome)
				}
			})
		})
	}
}

// Connections that were upgraded before a reload are streams like others: they
// have until the end of the drain, on a listener that stays and on one that goes.
func TestUpgradesOverAReload(t *testing.T) {
	const rest = "routes: [{name: all, paths: [/v1/realtime], upstreams: [{name: a}]}]\nstop: {drain: 60s}\n"
	for name, listeners := range map[string]string{
		"the listener stays": `{name: m, listen: "front:1"}`,
		"it is removed":      `{name: n, listen: "front:2"}`,
	} {
		for _, closes := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", its client closes: ", closes), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := begin(t, file(`{name: m, listen: "front:1"}`, rest))
					c, err := w.net.dial(t.Context(), "tcp", "front:1")
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					_, _ = io.WriteString(c, get("/v1/realtime", "connection: Upgrade", "upgrade: websocket"))
					in := bufio.NewReader(c)
					if resp, err := http.ReadResponse(in, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
						t.Fatalf("%v, %v", resp, err)
					}
					w.change(file(`{name: m, listen: "front:1"}`, rest+"keep: 0.5\n"))
					w.change(file(listeners, rest))
					time.Sleep(5 * time.Second)
					w.stop()
					time.Sleep(30 * time.Second)
					_, _ = io.WriteString(c, "ping")
					said := make([]byte, 4)
					if _, err := io.ReadFull(in, said); err != nil || string(said) != "ping" {
						t.Errorf("while the daemon stops: %q, %v", said, err)
					}
					if closes {
						c.Close()
						synctest.Wait()
					}
					stopped := time.Now()
					if err := <-w.ended; err != nil {
						t.Error(err)
					}
					if took := time.Since(stopped); took > 31*time.Second || closes && took > 0 {
						t.Errorf("the daemon ended after %v", took)
					}
					want := timeline.CancelledRunEnd
					if closes {
						want = timeline.OK
					}
					if got := w.outcomes(); len(got) != 1 || got[0] != want {
						t.Errorf("outcomes %v, want %v", got, want)
					}
				})
			})
		}
	}
}

func TestAdminWantsItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := begin(t, strings.Replace(file(`{name: m, listen: "front:1"}`, allRoutes), `{listen: "localhost:2"}`, `{listen: "0.0.0.0:2", token_env: ADMIN}`, 1))
		for request, want := range map[string]int{
			get("/metrics"): 401, get("/metrics", "authorization: Bearer wrong"): 401, get("/metrics", "authorization: Bearer token-ADMIN"): 200,
			get("/metrics", "authorization: bearer token-ADMIN"): 200, get("/metrics", "authorization: token-ADMIN"): 401, get("/metrics", "authorization: Basic token-ADMIN"): 401,
			get("/metrics", "authorization: Bearer "): 401, get("/metrics?token=token-ADMIN"): 401,
			get("/healthz"): 200, get("/readyz"): 200, get("/elsewhere"): 404,
		} {
			if status, _, err := w.get("0.0.0.0:2", request); status != want {
				t.Errorf("%q: %d (%v), want %d", request, status, err, want)
			}
		}
	})
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	net := &pipes{open: map[string]*pipe{}}
	for _, text := range []string{file(`{name: m, listen: "taken:1"}`, allRoutes), strings.Replace(file(`{name: m, listen: "front:1"}`, allRoutes), "localhost:2", "taken:2", 1)} {
		text = strings.Replace(text, `{listen: "taken:2"}`, `{listen: "taken:2", open: true}`, 1)
		err := Run(t.Context(), Options{Listen: net.listen, Load: func() (*Plan, error) { return Parse("t.yaml", []byte(text), noEnv) }})
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("got %v", err)
		}
	}
}

// A changed file is read again; one that only was touched is not.
func TestAChangedFileIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(file(`{name: m, listen: "front:1"}`, allRoutes))
	synctest.Test(t, func(t *testing.T) {
		net1 := &pipes{open: map[string]*pipe{}}
		ctx, stop := context.WithCancel(t.Context())
		var loads atomic.Int64
		ended := make(chan error)
		go func() {
			ended <- Run(ctx, Options{Listen: net1.listen, Dial: net1.dial, Files: func(*Plan) []string { return []string{path} },
				Load: func() (*Plan, error) { loads.Add(1); return Load(path, noEnv) }})
		}()
		time.Sleep(500 * time.Millisecond) // never at the moment at which the daemon looks
		for i, want := range []int64{1, 1, 2, 3, 3} {
			time.Sleep(5 * time.Second)
			if n := loads.Load(); n != want {
				t.Errorf("step %d: read %d times, want %d", i, n, want)
			}
			switch i {
			case 1:
				write("listeners: [")
			case 2:
				write(file(`{name: m, listen: "front:1"}`, allRoutes))
			case 3:
				write(file(`{name: m, listen: "front:1"}`, allRoutes)) // the same
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
