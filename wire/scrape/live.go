package scrape

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"
)

// Live reads a server's page for as long as the server is used, and keeps the last
// reading only.
type Live struct {
	watch Watch
	page  *watched

	mu     sync.Mutex
	now    map[string]float64
	at     time.Time
	failed int64
}

// mostPause is the longest time between two tries of a page that can't be read.
const mostPause = time.Minute

// NewLive returns a reader of the first page of a watch. It does not read yet.
func NewLive(watch Watch) *Live {
	watch = watch.filled()
	return &Live{watch: watch, page: watch.page(watch.Pages[0])}
}

// Run reads until the context ends. told hears of the first failure of several in a
// row, of a guessed page too, and nil when a page that was read before is read again.
func (l *Live) Run(ctx context.Context, told func(error)) {
	defer l.page.client.CloseIdleConnections()
	places := l.page.Page // where it may be, as long as it was not found
	wrong, found := false, false
	for pause := l.watch.Every; ; {
		seen, spent, err := l.page.find(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			if !found {
				l.page.URL, l.page.Else = places.URL, places.Else
			}
			if errors.Is(err, errNoMetrics) {
				l.page.book.engine = nil // another may stand there now
			}
			l.missed()
			if !wrong {
				told(err)
			}
			pause = min(2*pause, max(mostPause, l.watch.Every))
		default:
			if wrong && found {
				told(nil)
			}
			found, pause = true, l.watch.Every
			l.keep(seen)
		}
		wrong = err != nil
		wait := time.NewTimer(max(pause, time.Duration(float64(spent)/mostShare)))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
	}
}

func (l *Live) keep(seen map[string]float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now, l.at = seen, time.Now()
}

func (l *Live) missed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed++
}

// Now is the last reading by our names: gauges as they are, counters since the first
// reading, of histograms …_n and …_sum_s. Nil where there is none, or only one that
// is older than three times the time between two.
func (l *Live) Now() map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == nil || time.Since(l.at) > 3*l.watch.Every+l.watch.Timeout {
		return nil
	}
	return maps.Clone(l.now)
}

// Failed is how often nothing could be read.
func (l *Live) Failed() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed
}
