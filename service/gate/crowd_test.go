package gate

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Connections and heads that are not whole yet have one memory, whatever they are made of:
// who finds none is told, the others go on, and all is given back.
func TestClientsHaveAMemory(t *testing.T) {
	const start = "GET / HTTP/1.1\r\nHost: h\r\n"
	long := strings.Repeat("a", 900)
	for name, tc := range map[string]struct {
		head  string
		large bool
	}{
		"many fields":    {start + strings.Repeat("X: "+long+"\r\n", 60), true},
		"a long field":   {start + "X: " + strings.Repeat(long, 60), true},
		"short fields":   {start + strings.Repeat("X:\r\n", 2000), true},
		"a long address": {"GET /" + strings.Repeat(long, 60), true},
		"a usual head":   {start + strings.Repeat("X: a\r\n", 20), false},
		"nothing":        {"", false},
		"HTTP/2":         {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00", true},
	} {
		synctest.Test(t, func(t *testing.T) {
			room := &counted{}
			room.most.Store(1 << 20)
			front := &pipes{come: make(chan net.Conn)}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if why := Of(r.Context().Value(connKey{}).(net.Conn)).Refused(r.Header); why != "" {
					http.Error(w, why, http.StatusServiceUnavailable)
				}
			}), ConnContext: withConn}
			server.Protocols = new(http.Protocols)
			server.Protocols.SetHTTP1(true)
			server.Protocols.SetUnencryptedHTTP2(true)
			ln := Listen(front, Config{Clients: room, MostHead: 64 << 10})
			go func() { _ = server.Serve(ln) }()
			const clients = 40
			var all []net.Conn
			answers, ended := make([]bytes.Buffer, clients), make([]atomic.Bool, clients)
			for i := range clients {
				c, far := net.Pipe()
				front.come <- far
				all = append(all, c)
				go func() { _, _ = io.Copy(&answers[i], c); ended[i].Store(true) }()
				go func() { _, _ = io.WriteString(c, tc.head) }()
			}
			time.Sleep(time.Second)
			synctest.Wait()
			told := 0
			for i := range answers {
				if a := answers[i].String(); strings.HasPrefix(a, "HTTP/1.1 503") && strings.Contains(a, NoRoom) || strings.HasPrefix(a, "HTTP/1.1 400") && name == "a long address" || ended[i].Load() && name == "HTTP/2" {
					told++
				}
			}
			if (told > 0) != tc.large || told == clients {
				t.Errorf("%s: %d of %d are told that there is no memory", name, told, clients)
			}
			if least := int64(clients * OfConn / 2); room.highest.Load() < least {
				t.Errorf("%s: %d bytes are counted at most", name, room.highest.Load())
			}
			for _, c := range all {
				_ = c.Close()
			}
			_ = server.Close()
			synctest.Wait()
			if used := room.used.Load(); used != 0 {
				t.Errorf("%s: %d are never given back", name, used)
			}
		})
	}
}

// A connection for which there is no memory is answered and counted; the next finds what it
// gave back.
func TestConnectionsFindNoMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		room := &counted{}
		room.most.Store(2 * OfConn)
		full := 0
		front := &pipes{come: make(chan net.Conn)}
		ln := Listen(front, Config{Clients: room, Full: func(err error) {
			if err != ErrNoMemory {
				t.Error(err)
			}
			full++
		}})
		server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		go func() { _ = server.Serve(ln) }()
		ask := func() (c net.Conn, status string) {
			c, far := net.Pipe()
			front.come <- far
			go func() { _, _ = io.WriteString(c, "GET / HTTP/1.1\r\nHost: h\r\n\r\n") }()
			line := make([]byte, len("HTTP/1.1 200"))
			_, _ = io.ReadFull(c, line)
			go func() { _, _ = io.Copy(io.Discard, c) }()
			return c, string(line)
		}
		var all []net.Conn
		for i, want := range []string{"200", "200", "503", "200"} {
			c, status := ask()
			if status != "HTTP/1.1 "+want {
				t.Errorf("connection %d: %s, want %s", i, status, want)
			}
			all = append(all, c)
			if i == 2 { // one leaves its place to the next
				_ = all[0].Close()
				time.Sleep(time.Second)
			}
		}
		synctest.Wait()
		if full != 1 {
			t.Errorf("%d were counted", full)
		}
		_ = server.Close()
		time.Sleep(time.Second)
		synctest.Wait()
		if used := room.used.Load(); used != 0 {
			t.Errorf("%d are never given back", used)
		}
	})
}

// pipes is a listener whose connections are handed to it.
type pipes struct {
	come chan net.Conn
	over sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.come; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p *pipes) Close() error {
	p.over.Do(func() { close(p.come) })
	return nil
}

func (p *pipes) Addr() net.Addr { return new(net.TCPAddr) }

type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}
