package bench

import (
	"fmt"
	"io"
	"sync"

	"tokenmeter/secret"
)

// logger says what the user should know while the run goes on, without secrets.
type logger struct {
	mu  sync.Mutex
	out io.Writer
	red *secret.Redactor
}

func (l *logger) warn(format string, args ...any) { l.line("warning: ", format, args...) }
func (l *logger) info(format string, args ...any) { l.line("", format, args...) }

func (l *logger) line(prefix, format string, args ...any) {
	if l == nil || l.out == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintln(l.out, l.red.String(prefix+fmt.Sprintf(format, args...)))
}
