package main

import (
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
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// answerer lists a model and streams three tokens to every completion.
func answerer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m"}]}`)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	for range 3 {
		time.Sleep(10 * time.Millisecond)
		fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{"content":"x "}}]}`+"\n\n")
		w.(http.Flusher).Flush()
	}
	fmt.Fprint(w, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`+"\n\n"+
		`data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":3,"total_tokens":8}}`+"\n\ndata: [DONE]\n\n")
}

// mutual CA CERT KEY starts a TLS server that lets only owners of a certificate
// in, writes what it takes to reach it and sets URL.
func mutual(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mutual CA CERT KEY")
	}
	der, key := selfSigned(ts)
	roots := x509.NewCertPool()
	cert, err := x509.ParseCertificate(der)
	ts.Check(err)
	roots.AddCert(cert)
	s := httptest.NewUnstartedServer(http.HandlerFunc(answerer))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots}
	s.Config.ErrorLog = quietLog()
	s.StartTLS()
	ts.Defer(s.Close)
	ts.Setenv("URL", s.URL+"/v1")
	bytes, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	for i, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: der}, {Type: "CERTIFICATE", Bytes: der}, {Type: "PRIVATE KEY", Bytes: bytes}} {
		ts.Check(os.WriteFile(ts.MkAbs(args[i]), pem.EncodeToMemory(block), 0o600))
	}
}

func selfSigned(ts *testscript.TestScript) ([]byte, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tests"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	return der, key
}

// socket PATH starts a server on a Unix socket.
func socket(ts *testscript.TestScript, neg bool, args []string) {
	ln, err := net.Listen("unix", ts.MkAbs(args[0]))
	ts.Check(err)
	s := &http.Server{Handler: http.HandlerFunc(answerer)}
	go s.Serve(ln)
	ts.Defer(func() { s.Close() })
}

// quietLog swallows what net/http's server has to say of failed handshakes.
func quietLog() *log.Logger { return log.New(io.Discard, "", 0) }
