package prometheus

import (
	"strings"
	"sync"
	"time"

	"tokenmeter/service/telemetry"
)

// DefaultHold is how long a new counter of an objective is shown as 0: a scrape
// interval of a minute, and five seconds.
const DefaultHold = 65 * time.Second

// Shown remembers over restarts which counters a page has had. Safe for
// concurrent use.
type Shown interface {
	// Known reports whether a page of an earlier process had the counter of
	// these labels.
	Known(labels []string) bool
	// Show notes that a page has it now. It must not wait.
	Show(labels []string)
}

// births keeps back what counters of objectives have counted until their first
// zero has surely been scraped. Whoever computes from scrapes knows of a new
// series only by its first sample: what that shows already would be lost. The
// time counts from the first page that has the counter, not from its first
// event, so that one that is born while Prometheus is away loses nothing.
type births struct {
	hold  time.Duration // 0: nothing is kept back
	now   func() time.Time
	shown Shown // nil: nothing outlives the process

	mu    sync.Mutex
	first map[string]time.Time // by labels: its first page; zero: long ago
	ended bool                 // no further event comes
}

// birthKey names a counter by all of telemetry.SLOLabels but the objective's
// name, which may change.
func birthKey(labels []string) string { return strings.Join(labels[1:], "\xff") }

// held is whether the counter of these labels shows 0 on a page of this moment.
// It notes that the page has it. The caller holds mu.
func (b *births) held(labels []string, now time.Time) bool {
	key := birthKey(labels)
	first, known := b.first[key]
	if !known {
		if b.shown != nil && b.shown.Known(labels) {
			b.first[key] = time.Time{}
			return false
		}
		b.first[key] = now
		if b.shown != nil {
			b.shown.Show(labels)
		}
		return b.hold > 0
	}
	return !b.ended && now.Sub(first) < b.hold
}

// end says that nothing more is counted: a zero that was shown suffices.
func (b *births) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

// ofSLO reports whether a metric counts events of objectives.
func ofSLO(m *telemetry.Metric) bool {
	return m == telemetry.SLOBad || m == telemetry.SLOValid || m == telemetry.SLOGood || m == telemetry.SLOExcluded
}
