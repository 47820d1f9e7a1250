package mlflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// statusError is an answer that is none of a server that took it.
type statusError struct {
	host string
	code int
}

// Error does not use the server's words, which may hold the key that it was sent.
func (e *statusError) Error() string {
	return fmt.Sprintf("%s answered HTTP %d %s", e.host, e.code, http.StatusText(e.code))
}

// ask sends one request, GET where there is no body, and reads the answer into told.
func (l *Logger) ask(ctx context.Context, what string, body map[string]any, told any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // maps, lists, texts and finite numbers
	}
	request, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(l.opt.URL, "/")+"/"+what, bytes.NewReader(text))
	if err != nil {
		return errors.New("the address is no URL")
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", strings.TrimSpace("tokenmeter "+l.opt.Version))
	if l.opt.Key != "" {
		request.Header.Set("Authorization", "Bearer "+l.opt.Key)
	}
	response, err := l.client.Do(request)
	if err != nil {
		if failed := new(url.Error); errors.As(err, &failed) {
			return failed.Err // the URL's query may hold a key
		}
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	switch {
	case response.StatusCode != http.StatusOK:
		return &statusError{request.URL.Host, response.StatusCode}
	case err != nil:
		return err
	case told == nil:
		return nil
	}
	if json.Unmarshal(answer, told) != nil {
		return errors.New("its answer is not that of MLflow")
	}
	return nil
}
