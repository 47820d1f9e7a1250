package bench

import (
	"context"
	"net/http"

	"tokenmeter/wire/api/engines"
)

// engine names the server and its version when that costs at most one more GET;
// else it gives the Server header, or nothing.
func engine(ctx context.Context, get getter, models reply) string {
	answers := map[string]engines.Answer{modelsPath: models.answer()}
	s := engines.Sniff(answers)
	if s.Engine == "" {
		return models.header.Get("Server")
	}
	path := s.VersionPath()
	if path == "" {
		return s.Title
	}
	one, stop := context.WithTimeout(ctx, getTimeout)
	defer stop()
	a, err := get(one, path)
	if err != nil || a.status != http.StatusOK {
		return s.Title
	}
	answers[path] = a.answer()
	if told := engines.Sniff(answers); told.Version != "" {
		return s.Title + " " + shorten(told.Version, 80)
	}
	return s.Title
}

func (r reply) answer() engines.Answer {
	return engines.Answer{Status: r.status, Header: r.header, Body: r.body}
}
