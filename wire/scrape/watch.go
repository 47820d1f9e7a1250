package scrape

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"crypto/tls"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// Page is where a server tells of itself.
type Page struct {
	URL    string   // or the name of a tool that runs beside us: see IsTool
	Else   []string // where it is looked for in turn when it is not at URL
	Header http.Header
	// Guessed: nobody named it. That it is not there is nothing that a run tells.
	Guessed bool
}

// Watch says what is read while a server is measured.
type Watch struct {
	Pages   []Page // one a replica
	Every   time.Duration
	Timeout time.Duration // of one answer; 0: DefaultTimeout
	TLS     *tls.Config
	Proxy   *url.URL
	Dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil: net.Dialer's
	Show    func(url string) string                                              // removes secrets; nil: nothing is removed
}

const (
	// WatchEvery is the default time between two readings.
	WatchEvery = time.Second
	// lastWait is how long Stop waits for the last reading: the requests have ended.
	lastWait = 2 * time.Second
	// giveUp is after how many failures a guessed page that never was read is left alone.
	giveUp = 3
	// mostRows bounds what is kept, 40 bytes each: then every second reading goes.
	mostRows = 1 << 20
	// mostShare is how much of a processor reading may take.
	mostShare = 0.02
)

// Watcher reads pages while a run goes on, away from it: nothing that a page does
// holds up a request. It is used once.
type Watcher struct {
	watch Watch
	nowUS func() int64
	pages []*watched
	stop  context.CancelFunc
	last  chan struct{}
	ended sync.WaitGroup

	mu        sync.Mutex
	measureUS int64 // when the measured part began; below 0: not yet
	rows      []metric.ServerSample
	keep      int64 // one reading in so many is kept
}

var errSilent = errors.New("it did not answer before the end")

// watched is a page that is being read.
type watched struct {
	Page
	client *http.Client
	poke   chan struct{}
	book   ledger

	// Under the watcher's lock:
	readings, failed int64
	err              error // the last failure
	first, final     *account
}

// NewWatcher returns one that is not reading yet.
func NewWatcher(watch Watch) *Watcher {
	watch = watch.filled()
	w := &Watcher{watch: watch, last: make(chan struct{}), measureUS: -1, keep: 1}
	for _, p := range watch.Pages {
		w.pages = append(w.pages, watch.page(p))
	}
	return w
}

// filled is the watch with its defaults.
func (w Watch) filled() Watch {
	w.Every, w.Timeout = cmp.Or(w.Every, WatchEvery), cmp.Or(w.Timeout, DefaultTimeout)
	if w.Show == nil {
		w.Show = func(url string) string { return url }
	}
	return w
}

// page is what reads one of the pages; it has a connection of its own.
func (w *Watch) page(p Page) *watched {
	transport := &http.Transport{TLSClientConfig: w.TLS, DialContext: w.Dial}
	if w.Proxy != nil {
		transport.Proxy = http.ProxyURL(w.Proxy)
	}
	return &watched{Page: p, client: newClient(transport, w.Timeout), poke: make(chan struct{}, 1)}
}

// Start begins to read. nowUS is the run's clock.
func (w *Watcher) Start(nowUS func() int64) {
	ctx, stop := context.WithCancel(context.Background())
	w.nowUS, w.stop = nowUS, stop
	for i, p := range w.pages {
		w.ended.Go(func() {
			defer p.client.CloseIdleConnections()
			w.follow(ctx, i, p)
		})
	}
}

// Measure says that what counts begins now: the figures are of what comes after.
func (w *Watcher) Measure() {
	w.mu.Lock()
	w.measureUS = w.nowUS()
	w.mu.Unlock()
	for _, p := range w.pages {
		select {
		case p.poke <- struct{}{}:
		default:
		}
	}
}

// follow reads one page until the end.
func (w *Watcher) follow(ctx context.Context, source int, p *watched) {
	for {
		spent := w.read(ctx, source, p)
		if w.hopeless(p) {
			return
		}
		pause := time.NewTimer(max(w.watch.Every, time.Duration(float64(spent)/mostShare)))
		select {
		case <-ctx.Done():
			pause.Stop()
			return
		case <-w.last:
			pause.Stop()
			w.read(ctx, source, p)
			return
		case <-p.poke:
			pause.Stop()
		case <-pause.C:
		}
	}
}

// hopeless: a page that nobody named and that is not there, or a tool that can't be
// ended, of which there shall not be a second.
func (w *Watcher) hopeless(p *watched) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(p.err, errStuck) {
		return true
	}
	if !p.Guessed || p.readings > 0 {
		return false
	}
	var status *statusError
	return p.failed >= giveUp || errors.As(p.err, &status) && status.code == http.StatusNotFound
}

// read takes one reading and says how much of a processor it took.
func (w *Watcher) read(ctx context.Context, source int, p *watched) (spent time.Duration) {
	begunUS := w.nowUS()
	seen, spent, err := p.find(ctx)
	if ctx.Err() != nil {
		err = errSilent // Stop has waited for it
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		p.failed++
		p.err = err
		return spent
	}
	now := w.nowUS()
	if p.readings++; p.readings%w.keep == 0 {
		for name, v := range seen {
			w.rows = append(w.rows, metric.ServerSample{AtUS: now, Source: source, Name: name, Value: v})
		}
		w.thin()
	}
	if w.measureUS >= 0 && begunUS >= w.measureUS {
		p.final = p.book.account(now)
		p.first = cmp.Or(p.first, p.final)
	}
	return spent
}

// find asks for the page where it may be, until it is found.
func (p *watched) find(ctx context.Context) (seen map[string]float64, spent time.Duration, err error) {
	seen, spent, err = p.ask(ctx)
	for elsewhere(err) && len(p.Else) > 0 {
		p.URL, p.Else = p.Else[0], p.Else[1:]
		seen, spent, err = p.ask(ctx)
	}
	if err == nil {
		p.Else = nil
	}
	return seen, spent, err
}

// ask gets the page and enters it; spent is what of a processor that took.
func (p *watched) ask(ctx context.Context) (seen map[string]float64, spent time.Duration, err error) {
	if t, ok := tools[p.URL]; ok {
		body, spent, err := t.run(ctx, p.URL, p.client.Timeout)
		if err == nil {
			seen, err = p.book.enter(body, time.Now())
		}
		return seen, spent, err
	}
	body, err := get(ctx, p.client, p.URL, p.Header)
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	seen, err = p.book.enter(body, begun)
	return seen, time.Since(begun), err
}

// elsewhere reports whether the server answered, and this was not the page.
func elsewhere(err error) bool {
	var status *statusError
	if errors.As(err, &status) {
		switch status.code { // others may be over a moment later
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented:
			return true
		}
		return false
	}
	return errors.Is(err, errPage) || errors.Is(err, errNoMetrics)
}

// thin drops every second reading of each page when there are too many.
func (w *Watcher) thin() {
	if len(w.rows) < mostRows {
		return
	}
	w.keep *= 2
	odd, at, kept := make([]bool, len(w.pages)), make([]int64, len(w.pages)), w.rows[:0]
	for _, r := range w.rows {
		if at[r.Source] != r.AtUS {
			at[r.Source], odd[r.Source] = r.AtUS, !odd[r.Source]
		}
		if odd[r.Source] {
			kept = append(kept, r)
		}
	}
	w.rows = kept
}

// Stop takes a last reading, for at most two seconds, and tells what was read:
// nil where no page could be.
func (w *Watcher) Stop() (*metric.ServerMetrics, []metric.ServerSample, []metric.Warning) {
	over := make(chan struct{})
	go func() { w.ended.Wait(); close(over) }()
	close(w.last)
	wait := time.NewTimer(lastWait)
	select {
	case <-over:
	case <-wait.C:
	}
	wait.Stop()
	w.stop()
	<-over
	return w.told(), w.rows, w.warnings()
}

func (w *Watcher) warnings() (list []metric.Warning) {
	say := func(name string, v int64, format string, args ...any) {
		list = append(list, metric.Warning{Name: name, Value: timeline.Some(float64(v)), Says: fmt.Sprintf(format, args...)})
	}
	for _, p := range w.pages {
		at := w.watch.Show(p.URL)
		switch {
		case p.failed > 0 && p.readings == 0 && !p.Guessed:
			say("server_metrics_unread", p.failed, "The server's metrics at %s could not be read: %v. The run is not touched by it.", at, p.err)
		case p.failed > 0 && p.readings > 0:
			say("server_metrics_unread", p.failed, "Of the readings of %s %d failed (%v): there are gaps in what the server tells of itself.", at, p.failed, p.err)
		}
		if n := p.book.restarts; n > 0 {
			say("server_restarted", n, "The counters at %s began anew while it was measured (%d×): the server was started again.", at, n)
		}
	}
	return list
}

// account is what a page's counters stood at.
type account struct {
	atUS   int64
	counts map[string]float64
	times  map[string]histogram
}

// account copies the books.
func (l *ledger) account(atUS int64) *account {
	a := &account{atUS: atUS, counts: maps.Clone(l.counts), times: map[string]histogram{}}
	for name, h := range l.times {
		a.times[name] = histogram{h.n, h.sum, maps.Clone(h.upTo)}
	}
	return a
}
