package bench

import (
	"fmt"
	"io"
	"slices"
	"sync"

	"tokenmeter/base/printable"
	"tokenmeter/base/secret"
	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// logger says what the user should know while the run goes on, without secrets,
// and keeps what belongs into the run's warnings.
type logger struct {
	mu      sync.Mutex
	out     io.Writer
	red     *secret.Redactor
	noticed []metric.Warning
}

// notice says a fact and keeps it as a warning of the run. Each name is kept once.
func (l *logger) notice(name string, value timeline.Opt[float64], format string, args ...any) {
	says := l.red.String(fmt.Sprintf(format, args...))
	l.mu.Lock()
	known := slices.ContainsFunc(l.noticed, func(w metric.Warning) bool { return w.Name == name })
	if !known {
		l.noticed = append(l.noticed, metric.Warning{Name: name, Value: value, Says: says})
	}
	l.mu.Unlock()
	if !known {
		l.line("warning: " + says)
	}
}

// warn says a fact that is of no use once the run is over.
func (l *logger) warn(format string, args ...any) { l.line("warning: " + fmt.Sprintf(format, args...)) }
func (l *logger) info(format string, args ...any) { l.line(fmt.Sprintf(format, args...)) }

func (l *logger) line(text string) {
	if l.out == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.out, printable.Text(l.red.String(text)))
}

// warnings returns what was noticed so far.
func (l *logger) warnings() []metric.Warning {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.noticed)
}
