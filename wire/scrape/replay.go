package scrape

import (
	"fmt"
	"sort"
	"time"

	"tokenmeter/record/metric"
)

// Reading is a page that another program read.
type Reading struct {
	URL   string
	AtUS  int64  // on the run's clock; below 0 before it began
	Early bool   // of before what counts began, whatever AtUS says
	Page  []byte // in Prometheus's text format

	// Mean, Least and Most are pages of gauges over the time since the page's reading
	// before, where Page has none.
	Mean, Least, Most []byte
	Times             int64   // readings that it stands for; 0: one
	EveryS            float64 // between two of them; 0: not known
}

// mostReplayed is how many pages of a file are told apart.
const mostReplayed = 1 << 10

// mostEveryS bounds what a file says of the time between its readings, which may be
// anything: three years.
const mostEveryS = 1e8

// Replay makes of pages that another program read what a Watcher would have told.
type Replay struct {
	w            *Watcher
	fromUS, toUS int64
	pages        map[string]*replayed
	order        []*replayed // by place
	everyS       float64
}

// replayed is a page by its readings so far.
type replayed struct {
	place            int
	counts, over     bool                          // a reading of what counts came; one after it came
	firstUS, finalUS int64                         // of its first and its last reading
	gauges           map[string]metric.ServerGauge // that were summed up elsewhere
}

// NewReplay begins one: what counts lasted from fromUS to toUS of the run's clock.
// show removes secrets of addresses; nil: nothing is removed.
func NewReplay(fromUS, toUS int64, show func(url string) string) *Replay {
	w := NewWatcher(Watch{Show: show})
	w.measureUS = max(fromUS, 0)
	return &Replay{w: w, fromUS: fromUS, toUS: toUS, pages: map[string]*replayed{}}
}

// Read takes the next reading of a page. Counters are taken from the last reading before
// what counts began, or the first there is, to the first after it ended, or the last;
// what comes later is left out. Meters of GPUs begin with the reading nearest to fromUS.
func (r *Replay) Read(rd *Reading) error {
	p := r.pages[rd.URL]
	if p == nil {
		if len(r.pages) == mostReplayed {
			return fmt.Errorf("it has readings of more than %d pages", mostReplayed)
		}
		p = &replayed{place: len(r.w.pages), firstUS: rd.AtUS, gauges: map[string]metric.ServerGauge{}}
		r.pages[rd.URL] = p
		r.order = append(r.order, p)
		r.w.pages = append(r.w.pages, &watched{Page: Page{URL: rd.URL}})
	}
	if p.over {
		return nil
	}
	page := r.w.pages[p.place]
	seen, err := page.book.enter(rd.Page, time.Time{})
	if err == errNoMetrics && rd.Mean != nil { // it has gauges alone
		_, err = page.book.enter(rd.Mean, time.Time{})
	}
	switch {
	case err == errNoMetrics:
		page.failed++
		page.err = err
		return nil
	case err != nil:
		return err
	}
	p.finalUS = rd.AtUS
	p.over = rd.AtUS >= r.toUS
	page.readings += max(rd.Times, 1)
	r.everyS = max(r.everyS, rd.EveryS)
	if rd.AtUS >= 0 && page.readings%r.w.keep == 0 {
		for name, v := range seen {
			r.w.rows = append(r.w.rows, metric.ServerSample{AtUS: rd.AtUS, Source: p.place, Name: name, Value: v})
		}
		r.w.thin()
	}
	atUS, early := rd.AtUS, rd.AtUS <= r.fromUS || rd.Early && !p.counts
	meter := page.book.engine.readsGPUs()
	if !meter { // who leaves out readings that differ in nothing has the counters of fromUS
		atUS = max(atUS, r.fromUS)
	}
	at := page.book.account(atUS)
	switch {
	case early, page.first == nil:
		page.first = at
	case meter && !p.counts && atUS-r.fromUS < r.fromUS-page.first.atUS:
		page.first = at // a meter never stands still: the reading that is nearer
	}
	p.counts = p.counts || !early
	page.final = at
	return p.sums(rd)
}

// sums takes gauges that were summed up elsewhere. Of several series of one gauge the
// least and the most are those of each added up: no less, and no more, can have been.
func (p *replayed) sums(rd *Reading) error {
	for _, of := range []struct {
		page []byte
		set  func(g *metric.ServerGauge, v float64)
	}{
		{rd.Mean, func(g *metric.ServerGauge, v float64) { g.Mean = v }},
		{rd.Least, func(g *metric.ServerGauge, v float64) { g.Min = v }},
		{rd.Most, func(g *metric.ServerGauge, v float64) { g.Max = v }},
	} {
		var book ledger
		seen, err := book.enter(of.page, time.Time{})
		if err != nil && err != errNoMetrics {
			return err
		}
		for name, v := range seen {
			g := p.gauges[name]
			of.set(&g, v)
			p.gauges[name] = g
		}
	}
	return nil
}

// Summary is what the readings say; nil where none has a metric that is known.
func (r *Replay) Summary() (told *metric.ServerMetrics, samples []metric.ServerSample, warnings []metric.Warning) {
	for _, p := range r.order {
		if n := r.w.pages[p.place].readings; r.everyS == 0 && n > 1 {
			r.everyS = float64(p.finalUS-p.firstUS) / 1e6 / float64(n-1)
		}
	}
	r.w.watch.Every = time.Duration(min(r.everyS, mostEveryS) * float64(time.Second))
	rows := r.w.rows // one file after another so far, and names in any order
	sort.Slice(rows, func(i, j int) bool {
		a, b := &rows[i], &rows[j]
		if a.AtUS != b.AtUS {
			return a.AtUS < b.AtUS
		}
		return a.Source < b.Source || a.Source == b.Source && a.Name < b.Name
	})
	m := r.w.told()
	if m == nil {
		return nil, nil, nil
	}
	n := map[string]float64{}
	for _, p := range r.order {
		for name, g := range p.gauges {
			sum := m.Gauges[name]
			m.Gauges[name] = metric.ServerGauge{Mean: sum.Mean + g.Mean, Min: sum.Min + g.Min, Max: sum.Max + g.Max}
			n[name]++
		}
	}
	for name, many := range n {
		if g := m.Gauges[name]; metrics[name] == share {
			m.Gauges[name] = metric.ServerGauge{Mean: g.Mean / many, Min: g.Min / many, Max: g.Max / many}
		}
	}
	shares(m)
	return m, r.w.rows, r.w.warnings()
}
