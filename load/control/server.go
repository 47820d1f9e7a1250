package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"tokenmeter/base/printable"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// server is told what to do by requests beside those of the run.
type server struct {
	cfg    client.Config
	http   http.Client
	engine engines.Server
	can    engines.Control
}

func newServer(cfg client.Config) *server {
	t := &http.Transport{TLSClientConfig: cfg.TLS, DialContext: cfg.Dial, DisableKeepAlives: true}
	if cfg.Proxy != nil {
		t.Proxy = http.ProxyURL(cfg.Proxy)
	}
	return &server{cfg: cfg, http: http.Client{Transport: t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// find learns which engine it is, and so what it can be told.
func (s *server) find(ctx context.Context) error {
	found, _, err := engines.Detect(ctx, func(ctx context.Context, path string) (engines.Answer, error) {
		return s.ask(ctx, http.MethodGet, path)
	})
	if err != nil && found.Engine == "" {
		return fmt.Errorf("the server could not be asked which engine it is: %w", s.shown(err))
	}
	s.engine, s.can = found, found.Control()
	return nil
}

// unknown says why a server can't be told.
func (s *server) unknown() string {
	if s.engine.Title == "" {
		return "the server does not say which engine it is, and only vLLM and SGLang are known to do it"
	}
	return s.engine.Title + " is not known to do it, only vLLM and SGLang are"
}

// missingError is a request that the server does not know.
type missingError struct{ says string }

func (e *missingError) Error() string { return e.says }

// post tells the server to do something. guard says what else has to be for it to know.
func (s *server) post(ctx context.Context, path, guard string) error {
	a, err := s.ask(ctx, http.MethodPost, path)
	if err != nil {
		return s.shown(err)
	}
	if a.Status >= 200 && a.Status < 300 {
		return nil
	}
	says := fmt.Sprintf("POST %s answered HTTP %d", path, a.Status)
	if words := strings.Join(strings.Fields(s.cfg.Redactor().String(string(a.Body))), " "); words != "" {
		says += ": " + printable.Short(words, mostWords)
	}
	says = strings.ToValidUTF8(says, "")
	if a.Status != http.StatusNotFound && a.Status != http.StatusMethodNotAllowed {
		return fmt.Errorf("%s", says)
	}
	if guard != "" {
		says += "; " + guard
	}
	return &missingError{says}
}

const (
	mostWords  = 200     // of what the server says
	mostAnswer = 1 << 20 // of what is read
)

func (s *server) ask(ctx context.Context, method, path string) (engines.Answer, error) {
	base, err := url.Parse(s.cfg.BaseURL)
	if err == nil {
		base.Scheme = client.HTTPScheme(base.Scheme)
	}
	if err != nil || base.Scheme != "http" && base.Scheme != "https" {
		return engines.Answer{}, fmt.Errorf("only a server at http:// or https:// can be told anything beside its requests")
	}
	at, err := client.LookupPath(s.cfg.BaseURL, s.cfg.API.Path, path)
	if err != nil {
		return engines.Answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, method, base.Scheme+"://"+base.Host+at, nil)
	if err != nil {
		return engines.Answer{}, err
	}
	req.Header = s.cfg.OwnHeader()
	resp, err := s.http.Do(req)
	if err != nil {
		return engines.Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return engines.Answer{}, err
	}
	return engines.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// shown is an error without secrets.
func (s *server) shown(err error) error {
	return fmt.Errorf("%s", s.cfg.Redactor().Error(err))
}
