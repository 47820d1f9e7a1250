package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// Push sends figures to a server by HTTP, again and again.
type Push struct {
	Key     string                      // sent as Authorization: Bearer; empty: none
	Every   time.Duration               // 0: 5 s
	Timeout time.Duration               // of one time; 0: 5 s
	Version string                      // of this program, in the user agent
	Send    func(context.Context) error // sends what there is now, by Ask

	client *http.Client
	failed atomic.Int64
	stop   chan struct{}
	ended  chan struct{}
}

// StatusError is the answer of a server that did not take what it was sent.
type StatusError struct {
	Host string
	Code int
}

// Error does not use the server's words, which may hold the key that it was sent.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answered HTTP %d %s", e.Host, e.Code, http.StatusText(e.Code))
}

// Start begins to send: now, or when the first time between two has passed. It must be
// stopped.
func (p *Push) Start(now bool) {
	p.Every, p.Timeout = cmp.Or(p.Every, 5*time.Second), cmp.Or(p.Timeout, 5*time.Second)
	p.stop, p.ended = make(chan struct{}), make(chan struct{})
	p.client = &http.Client{Timeout: p.Timeout, Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// A key goes to nobody else, and a POST that became a GET writes nothing.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	go p.run(now)
}

func (p *Push) run(now bool) {
	defer close(p.ended)
	tick := time.NewTicker(p.Every)
	defer tick.Stop()
	for ; ; now = true {
		if now {
			ctx, cancel := context.WithTimeout(context.Background(), p.Timeout)
			_ = p.Once(ctx) // counted
			cancel()
		}
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
	}
}

// Once sends now, and counts where that failed.
func (p *Push) Once(ctx context.Context) error {
	err := p.Send(ctx)
	if err != nil {
		p.failed.Add(1)
	}
	return err
}

// Failed is how many times the server has not taken what there was.
func (p *Push) Failed() int64 { return p.failed.Load() }

// Stop ends it; Once and Ask can be called still, until Free.
func (p *Push) Stop() {
	close(p.stop)
	<-p.ended
}

// Free closes the connections that wait.
func (p *Push) Free() { p.client.CloseIdleConnections() }

// Ask sends one request and returns the answer, as far as it came.
func (p *Push) Ask(ctx context.Context, method, to string, body []byte, header map[string]string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the address is no URL")
	}
	request.Header.Set("User-Agent", strings.TrimSpace("tokenmeter "+p.Version))
	if p.Key != "" {
		request.Header.Set("Authorization", "Bearer "+p.Key)
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := p.client.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			return nil, failed.Err // the URL's query may hold a key
		}
		return nil, err
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if response.StatusCode/100 != 2 {
		return nil, &StatusError{request.URL.Host, response.StatusCode}
	}
	return answer, nil
}
