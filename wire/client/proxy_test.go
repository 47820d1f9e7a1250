package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

func TestParseProxy(t *testing.T) {
	for raw, want := range map[string]string{
		"http://h:3128":           "http://h:3128",
		"http://u:secretpw@h:80/": "http://u:secretpw@h:80/",
		"h:3128":                  "http://h:3128",
		" http://[::1]:3128 ":     "http://[::1]:3128",
	} {
		if u, err := ParseProxy(raw); err != nil || u.String() != want {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
	for _, raw := range []string{"", "https://h:1", "socks5://h:1", "http://", "http://h/path", "http://h?x=1", "http://u:secretpw@h:port", "http://h:1#x"} {
		if u, err := ParseProxy(raw); err == nil || strings.Contains(err.Error(), "secretpw") {
			t.Errorf("%q: %v, %v", raw, u, err)
		}
	}
}

// httpProxy is a forwarding proxy that remembers what it was asked for.
type httpProxy struct {
	mu    sync.Mutex
	asked []string // request lines
	auth  []string
}

func (p *httpProxy) remember(in *bufio.Reader) (*http.Request, error) {
	req, err := http.ReadRequest(in)
	if err == nil {
		p.mu.Lock()
		p.asked = append(p.asked, req.Method+" "+req.RequestURI)
		p.auth = append(p.auth, req.Header.Get("Proxy-Authorization"))
		p.mu.Unlock()
	}
	return req, err
}

// start listens; user, when set, is the credential that is wanted.
func (p *httpProxy) start(t *testing.T, user string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c, user)
		}
	}()
	return l.Addr().String()
}

func (p *httpProxy) serve(c net.Conn, user string) {
	defer c.Close()
	in := bufio.NewReader(c)
	req, err := p.remember(in)
	if err != nil {
		return
	}
	if user != "" && req.Header.Get("Proxy-Authorization") != user {
		io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
		return
	}
	if req.Method == http.MethodConnect {
		there, err := net.Dial("tcp", req.RequestURI)
		if err != nil {
			io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
			return
		}
		defer there.Close()
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		go io.Copy(there, in)
		io.Copy(c, there)
		return
	}
	there, err := net.Dial("tcp", req.URL.Host)
	if err != nil {
		return
	}
	defer there.Close()
	req.Header.Del("Proxy-Authorization")
	if req.Write(there) != nil {
		return
	}
	io.Copy(c, there)
}

func TestProxyTakesWholeURLs(t *testing.T) {
	var proxy httpProxy
	address := proxy.start(t, "Basic dXNlcjpzZWNyZXRwdw==")
	f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
		play("1ms "+sseHead+chunk(tok("w")), "9ms "+chunk(tok("w")), "19ms "+chunk(fin+done)+lastChunk)(f, c, r)
		return false
	}}
	l := socketServer(t, "tcp", "127.0.0.1:0", f)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	through := func(c *Config) {
		u, err := ParseProxy("http://user:secretpw@" + address)
		if err != nil {
			t.Fatal(err)
		}
		c.Proxy = u
	}
	c := socketClient(t, "http://"+l.Addr().String()+"/v1", through)
	for range 2 { // the second finds the first's connection closed
		tl := send(t.Context(), c)
		if tl.Outcome != timeline.OK {
			t.Fatalf("%+v", tl.Error)
		}
		want(t, "tokens", len(tokens(tl)), 2)
		want(t, "remote", tl.Remote, address)
		if runtime.GOOS == "linux" {
			want(t, "clock", tl.Clock, timeline.Kernel)
		}
	}
	want(t, "asked", proxy.asked[0], "POST http://"+l.Addr().String()+"/v1/chat/completions")
	want(t, "host", f.request(0).Host, l.Addr().String())
	want(t, "proxy's key at the server", f.request(0).Header.Get("Proxy-Authorization"), "")
	curl, err := c.DryRun(hello)
	if err != nil || strings.Contains(curl, "secretpw") || strings.Contains(curl, "dXNlcjpzZWNyZXRwdw") || !strings.Contains(curl, "--proxy 'http://user:***@"+address) {
		t.Errorf("%v\n%s", err, curl)
	}
	if c.Redactor().String("proxy said secretpw") != "proxy said ***" {
		t.Error("the proxy's password is not known as a secret")
	}
	// Without the flag no proxy is used, whatever the environment says.
	tl := send(t.Context(), socketClient(t, "http://"+l.Addr().String(), nil))
	want(t, "outcome", tl.Outcome, timeline.OK)
	want(t, "remote", tl.Remote, l.Addr().String())
}

func TestProxyTunnel(t *testing.T) {
	cert, roots := certificate(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Skip(err)
	}
	f := &fake{serve: play("1ms "+sseHead+chunk(tok("w")), "5ms "+chunk(tok("w")), "9ms "+chunk(fin+done)+lastChunk)}
	serveOn(t, l, f)
	var proxy httpProxy
	u, _ := ParseProxy(proxy.start(t, ""))
	c := socketClient(t, "https://"+l.Addr().String(), func(c *Config) {
		c.Proxy, c.TLS = u, &tls.Config{RootCAs: roots}
	})
	for i := range 2 {
		tl := send(t.Context(), c)
		if tl.Outcome != timeline.OK {
			t.Fatalf("%+v", tl.Error)
		}
		want(t, "handshake measured", tl.TLSUS.OK(), i == 0)
		if runtime.GOOS == "linux" {
			want(t, "clock", tl.Clock, timeline.Kernel)
		}
	}
	want(t, "asked", strings.Join(proxy.asked, "; "), "CONNECT "+l.Addr().String())
}

// HTTP/2 goes through a tunnel, with TLS and without.
func TestProxyHTTP2(t *testing.T) {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			http.Error(w, "no", http.StatusHTTPVersionNotSupported)
		}
		w.Header().Set("content-type", "text/event-stream")
		io.WriteString(w, tok("a")+fin+done)
	})
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	protocols.SetHTTP2(true)
	for _, secure := range []bool{false, true} {
		s := httptest.NewUnstartedServer(handler)
		s.Config.Protocols = protocols
		s.EnableHTTP2 = secure
		if secure {
			s.StartTLS()
		} else {
			s.Start()
		}
		defer s.Close()
		var proxy httpProxy
		u, _ := ParseProxy(proxy.start(t, ""))
		tl := send(t.Context(), socketClient(t, s.URL, func(c *Config) {
			c.HTTP2, c.Proxy, c.TLS = true, u, &tls.Config{InsecureSkipVerify: true}
		}))
		if tl.Outcome != timeline.OK || len(proxy.asked) != 1 || !strings.HasPrefix(proxy.asked[0], "CONNECT ") {
			t.Errorf("secure %v: %s %+v, asked %v", secure, tl.Outcome, tl.Error, proxy.asked)
		}
	}
}

// What a proxy does wrong is told as the proxy's.
func TestProxyFailures(t *testing.T) {
	answer := func(text string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = http.ReadRequest(bufio.NewReader(c))
					io.WriteString(c, text)
					c.Close()
				}()
			}
		}()
		return l.Addr().String()
	}
	var strict httpProxy
	for name, test := range map[string]struct {
		proxy string
		class timeline.Outcome
		words string
	}{
		"no key":      {strict.start(t, "Basic x"), timeline.ConnectRefused, "HTTP 407 Proxy Authentication Required; give its user"},
		"502":         {answer("HTTP/1.1 502 Bad Gateway\r\n\r\n"), timeline.ConnectRefused, "HTTP 502 Bad Gateway"},
		"no proxy":    {nobody, timeline.ConnectRefused, "the proxy can't be used: connection refused by"},
		"other":       {answer("SSH-2.0-OpenSSH\r\n\r\n"), timeline.ConnectRefused, "does not answer as an HTTP proxy does"},
		"closes":      {answer(""), timeline.ConnectRefused, "the proxy"},
		"endless":     {answer("HTTP/1.1 200 " + strings.Repeat("x", 20000)), timeline.ConnectRefused, "has no end"},
		"no such":     {"proxy.invalid:1", timeline.DNS, `the proxy can't be used: the name "proxy.invalid" can't be resolved`},
		"HTTP target": {nobody, timeline.ConnectRefused, "the proxy can't be used"},
	} {
		u, err := ParseProxy(test.proxy)
		if err != nil {
			t.Fatal(err)
		}
		url := "https://127.0.0.1:1"
		if name == "HTTP target" {
			url = "http://127.0.0.1:1"
		}
		tl := send(t.Context(), socketClient(t, url, func(c *Config) {
			if c.Proxy = u; name == "no such" {
				c.Dial = func(context.Context, string, string) (net.Conn, error) {
					return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: u.Hostname(), IsNotFound: true}}
				}
			}
		}))
		if tl.Outcome != test.class || !strings.Contains(tl.Error.Message, test.words) {
			t.Errorf("%s: %s %+v", name, tl.Outcome, tl.Error)
		}
	}
	if _, err := New(Config{BaseURL: "unix:///x", API: api.OpenAIChat, Proxy: proxyURL(t)}); err == nil || !strings.Contains(err.Error(), "leave the proxy out") {
		t.Errorf("a Unix socket through a proxy: %v", err)
	}
}

// A tunnel that is never opened ends with the limit of connecting.
func TestProxyThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go io.Copy(io.Discard, theirs)
			return ours, nil
		}
		tl := send(t.Context(), pipeClient(t, &fake{}, func(c *Config) {
			c.BaseURL, c.Dial, c.Proxy = "https://server", dial, proxyURL(t)
		}))
		want(t, "outcome", tl.Outcome, timeline.TimeoutConnect)
		want(t, "close", tl.CloseUS.Or(0), 10_000_000)
	})
}

func proxyURL(t *testing.T) *url.URL {
	u, err := ParseProxy("http://proxy:3128")
	if err != nil {
		t.Fatal(err)
	}
	return u
}
