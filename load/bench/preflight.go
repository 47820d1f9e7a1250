package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"tokenmeter/base/printable"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api/engines"
	"tokenmeter/wire/client"
)

// getter asks the target with a GET; the path is the API's own. An error is a
// *TargetError.
type getter func(ctx context.Context, path string) (engines.Answer, error)

// found is what the look at the target gave.
type found struct {
	model  string   // empty: none was needed or none is known
	server string   // engine and version; empty where unknown
	speaks []string // names of the APIs that the model list is a sign of; empty: it tells none
}

const (
	modelsPath  = "/v1/models"
	getTimeout  = 10 * time.Second
	waitBetween = 250 * time.Millisecond
)

// preflight finds out whether the target can be measured, with GETs only, and
// asks for the model when the plan names none.
func (r *runner) preflight(ctx context.Context, get getter) (found, error) {
	if r.plan.Preflight == "none" && r.plan.WaitReady == 0 {
		if r.plan.Model == "" {
			return found{}, &UsageError{errors.New("no model is named, and the server may not be asked for it")}
		}
		return found{model: r.plan.Model}, nil
	}
	a, err := r.waitReady(ctx, get)
	if err != nil && (r.plan.Model == "" || !answers(err)) {
		return found{}, err
	}
	if err != nil {
		// Somebody is there who does not know this GET. Completions may work.
		r.log.warn("%v", err)
		return found{model: r.plan.Model}, nil
	}
	if err := r.accessible(a); err != nil {
		return found{}, err
	}
	told := engines.Sniff(map[string]engines.Answer{modelsPath: a})
	if len(told.Models) == 0 {
		told.Models = r.nativeModels(ctx, get)
	}
	told.Models = r.log.red.Without(told.Models)
	f := found{model: r.plan.Model, speaks: told.APIs}
	if f.model == "" {
		if f.model, err = r.chooseModel(a, told.Models); err != nil {
			return found{}, err
		}
	} else if len(told.Models) > 0 && !told.MayHave(f.model) {
		r.log.notice("model_not_listed", timeline.Opt[float64]{},
			"The server does not list the model %q; it lists %s.", f.model, listed(told.Models))
	}
	f.server = engine(ctx, get, a)
	return f, nil
}

// waitReady asks until the server answers, for at most the plan's time. Only
// what may heal by waiting is waited for: a wrong certificate is not.
func (r *runner) waitReady(ctx context.Context, get getter) (engines.Answer, error) {
	end := time.Now().Add(r.plan.WaitReady)
	told := false
	for {
		one, stop := context.WithTimeout(ctx, getTimeout)
		a, err := get(one, modelsPath)
		stop()
		if ctx.Err() != nil {
			return a, ErrInterrupted
		}
		loading := err == nil && (a.Status == 502 || a.Status == 503 || a.Status == 504)
		if !loading && !failedBut(err, timeline.TLS, timeline.RedirectRefused, timeline.ClientResource) || !time.Now().Add(waitBetween).Before(end) {
			return a, err
		}
		if !told {
			told = true
			r.log.info("waiting for the server to be ready (at most %v)", r.plan.WaitReady)
		}
		select {
		case <-time.After(waitBetween):
		case <-ctx.Done():
			return a, ErrInterrupted
		}
	}
}

// answers reports whether a failure shows that something was reached.
func answers(err error) bool {
	return failedBut(err, timeline.ConnectRefused, timeline.DNS, timeline.TLS, timeline.TimeoutConnect, timeline.ClientResource)
}

// failedBut reports whether a target failed in another way than these.
func failedBut(err error, classes ...timeline.Outcome) bool {
	var target *TargetError
	return errors.As(err, &target) && !slices.Contains(classes, target.Class)
}

// accessible judges the status of the model list. The list itself is optional:
// many servers have none.
func (r *runner) accessible(a engines.Answer) error {
	fail := func(class timeline.Outcome, what, hint string) error {
		return &TargetError{URL: r.plan.Client.BaseURL, Class: class, What: what, Hint: hint}
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		return fail(timeline.HTTP4xx, "the server refused the API key: HTTP 401"+words(a), "check --api-key-env or --api-key-file")
	case a.Status == http.StatusForbidden && r.plan.Model == "":
		return fail(timeline.HTTP4xx, "the list of models was refused: HTTP 403"+words(a), "name one with --model, or check the URL and the key")
	case a.Status == 502, a.Status == 503, a.Status == 504:
		return fail(timeline.HTTP5xx, fmt.Sprintf("the server is not ready: HTTP %d%s", a.Status, words(a)), "wait for it with --wait-ready 10m")
	case a.Status >= 500:
		r.log.warn("GET %s answered HTTP %d%s", r.plan.below(modelsPath), a.Status, words(a))
	}
	return nil
}

func (r *runner) chooseModel(a engines.Answer, models []string) (string, error) {
	switch {
	case len(models) == 1:
		return models[0], nil
	case len(models) > 1:
		return "", &UsageError{fmt.Errorf("the server has several models (%s); choose one with --model", listed(models))}
	}
	path, hint := r.plan.below(modelsPath), "name one with --model, and check the URL"
	if prefix, below := strings.CutSuffix(path, modelsPath); below && prefix != "" {
		hint = fmt.Sprintf("is the path %s right? Else name the model with --model", prefix)
	}
	return "", &TargetError{URL: r.plan.Client.BaseURL, Class: timeline.HTTP4xx,
		What: fmt.Sprintf("the server lists no models (GET %s answered HTTP %d)", path, a.Status), Hint: hint}
}

// below is the path that is asked for one of the API's: behind the path of the
// URL, where that has one of its own.
func (p *Plan) below(path string) string {
	at, err := client.LookupPath(p.Client.BaseURL, p.Client.API.Path, path)
	if err != nil {
		return path
	}
	at, _, _ = strings.Cut(at, "?")
	return at
}

// words is the server's own explanation, short, or nothing.
func words(a engines.Answer) string {
	var body struct {
		Error   json.RawMessage
		Message string
		Detail  json.RawMessage
	}
	if json.Unmarshal(a.Body, &body) != nil {
		if bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<")) {
			return " and a web page: something in front of the server may have answered"
		}
		return ""
	}
	text := body.Message
	for _, raw := range []json.RawMessage{body.Error, body.Detail} {
		var inner struct{ Message string }
		var plain string
		if json.Unmarshal(raw, &inner) == nil && inner.Message != "" {
			text = inner.Message
		} else if json.Unmarshal(raw, &plain) == nil && plain != "" {
			text = plain
		}
	}
	if text == "" {
		return ""
	}
	return ", " + printable.Short(strings.Join(strings.Fields(text), " "), 200)
}

// nativeModels asks where servers of this API list models that have no list in
// OpenAI's form.
func (r *runner) nativeModels(ctx context.Context, get getter) []string {
	path := engines.ModelPath(r.plan.Client.API)
	if path == "" {
		return nil
	}
	one, stop := context.WithTimeout(ctx, getTimeout)
	defer stop()
	a, err := get(one, path)
	if err != nil {
		return nil
	}
	return engines.Sniff(map[string]engines.Answer{path: a}).Models
}

// listed is the first names, each on one line and of a length that can be read.
func listed(names []string) string {
	const most, longest = 5, 80
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = printable.Text(printable.Short(names[i], longest))
	}
	text := strings.Join(shown, ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}
