package bench

import (
	"context"
	"net/http"

	"tokenmeter/base/printable"
	"tokenmeter/wire/api/engines"
)

// engine names the server and its version when that costs at most one more GET;
// else it gives the Server header, or nothing.
func engine(ctx context.Context, get getter, models engines.Answer) string {
	answers := map[string]engines.Answer{modelsPath: models}
	s := engines.Sniff(answers)
	if s.Engine == "" {
		return models.Header.Get("Server")
	}
	path := s.VersionPath()
	if path == "" {
		return s.Title
	}
	one, stop := context.WithTimeout(ctx, getTimeout)
	defer stop()
	a, err := get(one, path)
	if err != nil || a.Status != http.StatusOK {
		return s.Title
	}
	answers[path] = a
	if told := engines.Sniff(answers); told.Version != "" {
		return s.Title + " " + printable.Short(told.Version, 80)
	}
	return s.Title
}
