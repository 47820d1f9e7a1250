package daemon

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"tokenmeter/service/proxy"
)

// openAdmin opens the listener for those who run the daemon. It stays as it is
// until the end: what it needs is read at the start only.
func (d *Daemon) openAdmin(plan *Plan) error {
	if plan.admin.Listen == "" {
		return nil
	}
	ln, err := d.opt.Listen("tcp", plan.admin.Listen)
	if err != nil {
		return &ListenError{Listener: "admin", Address: plan.admin.Listen, Err: bare(err)}
	}
	d.addr = ln.Addr()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !d.ready.Load() {
			say(w, http.StatusServiceUnavailable, "stopping")
			return
		}
		say(w, http.StatusOK, "ready")
	})
	mux.Handle("GET /metrics", guard(plan.token, d.out.page))
	var all http.Handler = mux
	if local(plan.admin.Listen) {
		all = knownHosts(mux)
	}
	d.admin = newServer(all, d.log)
	d.admin.ReadHeaderTimeout, d.admin.ReadTimeout = 10*time.Second, 20*time.Second
	d.admin.WriteTimeout, d.admin.IdleTimeout = 30*time.Second, 2*time.Minute
	d.admin.MaxHeaderBytes = 64 << 10
	d.admin.ConnState = func(conn net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			d.out.page.Gone(conn.RemoteAddr().String())
		}
	}
	ln = &newest{Listener: ln, most: mostAdmins}
	if plan.admin.tls != nil {
		ln = tls.NewListener(ln, plan.admin.tls)
	}
	go func() { _ = d.admin.Serve(ln) }()
	return nil
}

func (d *Daemon) closeAdmin() {
	if d.admin != nil {
		_ = d.admin.Close()
	}
}

// knownHosts keeps pages of browsers out whose name was made to lead here.
func knownHosts(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !proxy.KnownHost(r.Host, nil) {
			say(w, http.StatusMisdirectedRequest, "this address is a local one, and the request names another host")
			return
		}
		h.ServeHTTP(w, r)
	})
}

func say(w http.ResponseWriter, status int, words string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, words)
}

// guard lets those in who show the token; without one, everybody.
func guard(token string, h http.Handler) http.Handler {
	if token == "" {
		return h
	}
	want := sha256.Sum256([]byte(token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(shown))
		if subtle.ConstantTimeCompare(want[:], got[:]) != 1 || !strings.EqualFold(scheme, "Bearer") {
			w.Header().Set("WWW-Authenticate", "Bearer")
			say(w, http.StatusUnauthorized, "a token is needed")
			return
		}
		h.ServeHTTP(w, r)
	})
}
