package mlflow

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// ask sends one request, GET where there is no body, and reads the answer into told.
func (l *Logger) ask(ctx context.Context, what string, body map[string]any, told any) error {
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text, _ = json.Marshal(body) // maps, lists, texts and finite numbers
	}
	answer, err := l.Ask(ctx, method, strings.TrimSuffix(l.opt.URL, "/")+"/"+what, text, map[string]string{"Content-Type": "application/json"})
	if err == nil && told != nil && json.Unmarshal(answer, told) != nil {
		err = errors.New("its answer is not that of MLflow")
	}
	return err
}
