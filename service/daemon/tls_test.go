package daemon

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// certificate writes a certificate for localhost that is its own authority.
func certificate(t *testing.T, dir, name string) (certFile, keyFile string, pair tls.Certificate, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, _ := x509.MarshalECPrivateKey(key)
	certPEM, keyPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER})
	certFile, keyFile = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+".key")
	for path, data := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, pair, pool
}

// Exporters are read on over a reload as long as their authority is the same.
func TestScrapersStay(t *testing.T) {
	dir := t.TempDir()
	cert, _, _, _ := certificate(t, dir, "gpu")
	plan := func() *Plan {
		t.Helper()
		p, err := Parse("t.yaml", []byte(small+fmt.Sprintf("scrape: [{url: \"https://h/metrics\", ca_file: %q}]\n", cert)), noEnv)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	before := plan()
	reads := &scrapers{config: before.Config.Scrape, targets: before.targets}
	if !reads.same(plan()) {
		t.Error("the same configuration is another one")
	}
	certificate(t, dir, "gpu")
	if reads.same(plan()) {
		t.Error("another authority in the file is not seen")
	}
}

type outcomes chan *traffic.Request

func (o outcomes) Done(r *traffic.Request) { o <- r }

// TLS on both sides with certificates of both, HTTP/1.1 and HTTP/2 to clients,
// in the clear too, over real sockets.
func TestTLSAndHTTP2(t *testing.T) {
	dir := t.TempDir()
	upCert, _, upPair, _ := certificate(t, dir, "up")
	cert, key, _, pool := certificate(t, dir, "front")
	ourCert, ourKey, ours, ourPool := certificate(t, dir, "ours")
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"A\"}}]}\n\n")
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	up.TLS = &tls.Config{Certificates: []tls.Certificate{upPair}, ClientCAs: ourPool, ClientAuth: tls.RequireAndVerifyClientCert}
	up.Config.ErrorLog = log.New(io.Discard, "", 0)
	up.StartTLS()
	defer up.Close()
	text := fmt.Sprintf(`listeners:
  - {name: tls, listen: "127.0.0.1:0", tls: {cert: %q, key: %q, client_ca: %q}}
  - {name: plain, listen: "localhost:0"}
upstreams: [{name: a, url: %q, ca_file: %q, cert: %q, key: %q}]
routes: [{name: all, upstreams: [{name: a}]}]
admin: {listen: "127.0.0.1:0"}
metrics: {linger: 0s}
`, cert, key, ourCert, up.URL, upCert, ourCert, ourKey)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended := make(chan []Address, 1), make(chan error, 1)
	seen := make(outcomes, 10)
	var admin net.Addr
	go func() {
		ended <- Run(ctx, Options{Sinks: []traffic.Sink{seen}, Load: func() (*Plan, error) { return Parse("tls.yaml", []byte(text), noEnv) },
			Ready: func(a []Address, addr net.Addr) { admin = addr; ready <- a }})
	}()
	var at []Address
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	client := &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{ours}}
	for _, tc := range []struct {
		name  string
		url   string
		h2    bool
		clear bool
	}{{"TLS, HTTP/1.1", at[0].URL(), false, false}, {"TLS, HTTP/2", at[0].URL(), true, false}, {"HTTP/1.1", at[1].URL(), false, true}, {"HTTP/2 in the clear", at[1].URL(), true, true}} {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(!tc.h2)
		protocols.SetHTTP2(tc.h2 && !tc.clear)
		protocols.SetUnencryptedHTTP2(tc.h2 && tc.clear)
		tr := &http.Transport{TLSClientConfig: client.Clone(), Protocols: protocols}
		resp, err := (&http.Client{Transport: tr}).Post(tc.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","stream":true}`))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.HasSuffix(string(body), "data: [DONE]\n\n") || resp.ProtoMajor == 2 != tc.h2 {
			t.Errorf("%s: %s %d %q %v", tc.name, resp.Proto, resp.StatusCode, body, err)
		}
		if r := <-seen; r.Outcome != timeline.OK || r.Record.Chunks.Or(0) != 1 {
			t.Errorf("%s: %s, %v", tc.name, r.Outcome, r.Error)
		}
		tr.CloseIdleConnections()
	}
	if c, err := net.Dial("tcp", at[0].Addr.String()); err == nil { // a look at the port is nobody refused
		_ = c.Close()
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	if resp, err := (&http.Client{Transport: tr}).Get(at[0].URL() + "/v1/models"); err == nil {
		_ = resp.Body.Close()
		t.Error("a client without a certificate got in")
	}
	eventually(t, "the client without a certificate is counted", func() bool {
		response, err := http.Get("http://" + admin.String() + "/metrics")
		if err != nil {
			return false
		}
		defer response.Body.Close()
		page, _ := io.ReadAll(response.Body)
		return strings.Contains(string(page), `tokenmeter_refused_requests_total{listener="tls",why="tls"} 1`)
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A panic of a handler ends one request, and is told to whoever reads the log; what
// clients do is told to those who ask for it.
func TestAPanicIsLogged(t *testing.T) {
	for said, level := range map[string]string{
		"http: panic serving 127.0.0.1:1: no such thing\ngoroutine 1 [running]:\nmain.go:7\n": "ERROR",
		"http2: panic serving 127.0.0.1:1: no such thing\ngoroutine 1":                        "ERROR",
		"http: TLS handshake error from 127.0.0.1:1: EOF\n":                                   "DEBUG",
		"http: superfluous response.WriteHeader call\nhttp: panic serving":                    "DEBUG",
	} {
		var log strings.Builder
		w := logWriter{slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		if n, err := io.WriteString(w, said); n != len(said) || err != nil || !strings.Contains(log.String(), "level="+level) ||
			strings.Contains(log.String(), "main.go:7") != strings.Contains(said, "main.go:7") {
			t.Errorf("%q: %d, %v, %s", said, n, err, log.String())
		}
	}
}

// A connection does not outlive the authority by which it was let in; one whose authority
// stays goes on.
func TestAuthorityThatIsGone(t *testing.T) {
	dir := t.TempDir()
	cert, key, _, pool := certificate(t, dir, "front")
	first, _, ours, _ := certificate(t, dir, "first")
	second, _, theirs, _ := certificate(t, dir, "second")
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"data":[]}`) }))
	defer up.Close()
	both := filepath.Join(dir, "both.pem")
	a, _ := os.ReadFile(first)
	b, _ := os.ReadFile(second)
	if err := os.WriteFile(both, append(a, b...), 0o600); err != nil {
		t.Fatal(err)
	}
	var authority atomic.Value
	authority.Store(both)
	ctx, stop := context.WithCancel(t.Context())
	ready, ended, again := make(chan []Address, 1), make(chan error, 1), make(chan os.Signal)
	go func() {
		ended <- Run(ctx, Options{Reload: again, Ready: func(a []Address, _ net.Addr) { ready <- a }, Load: func() (*Plan, error) {
			return Parse("tls.yaml", []byte(fmt.Sprintf(`listeners: [{name: tls, listen: "127.0.0.1:0", tls: {cert: %q, key: %q, client_ca: %q}}]
upstreams: [{name: a, url: %q}]
routes: [{name: all, upstreams: [{name: a}]}]
admin: {listen: "off"}
metrics: {linger: 0s}
`, cert, key, authority.Load(), up.URL)), noEnv)
		}})
	}()
	var at []Address
	select {
	case at = <-ready:
	case err := <-ended:
		t.Fatal(err)
	}
	defer func() { stop(); <-ended }()
	take := func(file string) {
		authority.Store(file)
		again <- os.Interrupt
		again <- os.Interrupt // the first was taken
	}
	for _, h2 := range []bool{false, true} {
		take(both)
		ask := map[string]func() int{}
		for name, pair := range map[string]tls.Certificate{"first": ours, "second": theirs} {
			protocols := new(http.Protocols)
			protocols.SetHTTP1(!h2)
			protocols.SetHTTP2(h2)
			c := &http.Client{Transport: &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}}}}
			defer c.CloseIdleConnections()
			ask[name] = func() int {
				resp, err := c.Get(at[0].URL() + "/v1/models")
				if err != nil {
					return 0
				}
				defer resp.Body.Close()
				_, _ = io.Copy(io.Discard, resp.Body)
				return resp.StatusCode
			}
			if got := ask[name](); got != http.StatusOK {
				t.Errorf("%s, HTTP/2 %t: %d", name, h2, got)
			}
		}
		take(second)
		for name, want := range map[string][2]int{"first": {http.StatusForbidden, 0}, "second": {http.StatusOK, http.StatusOK}} {
			if got := [2]int{ask[name](), ask[name]()}; got != want {
				t.Errorf("%s, HTTP/2 %t: %v, want %v", name, h2, got, want)
			}
		}
	}
}
