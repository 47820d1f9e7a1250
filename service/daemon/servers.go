package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"tokenmeter/service/proxy"
	"tokenmeter/service/telemetry"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
	"tokenmeter/wire/scrape"
)

// serversEvery is between two readings of what a server tells of itself: often enough
// for a queue, and nothing beside a server's work.
const serversEvery = 5 * time.Second

// telling is a page where a server behind the proxy tells of itself.
type telling struct {
	upstream, name string
	page           scrape.Page
	tls            *tls.Config
}

// tells reads server_metrics of an upstream.
func (c *checker) tells(at string, u *Upstream, made *proxy.Upstream) {
	cfg := client.Config{BaseURL: u.URL, API: api.OpenAIChat, Key: made.Key, Header: made.Header}
	seen := map[string]bool{}
	for i, text := range u.ServerMetrics {
		at := fmt.Sprintf("%s.server_metrics[%d]", at, i)
		t := telling{upstream: u.Name, tls: made.TLS}
		switch where, err := url.Parse(text); {
		case text == "off" && len(u.ServerMetrics) == 1:
			return
		case text == "off":
			c.addf(at, "off stands alone: leave out the others, or it")
			continue
		case text == "auto":
			page, ok := scrape.PageOf(&cfg)
			if !ok {
				c.addf(at, "there is no page to be looked for at %s: give its URL, or leave this out", u.Name)
				continue
			}
			t.page, t.name = page, "auto"
		case err != nil || where.Host == "" || where.Scheme != "http" && where.Scheme != "https":
			c.addf(at, "give auto, or the URL of a page like http://127.0.0.1:8000/metrics")
			continue
		case where.User != nil || where.RawQuery != "":
			c.addf(at, "passwords and queries do not belong here: the upstream's key goes along to its own host")
			continue
		default:
			t.page, t.name = scrape.Named(text, &cfg), strings.TrimSuffix(where.Host+where.Path, "/metrics")
		}
		// One that is read twice would count twice, wherever it is found.
		places := append([]string{t.name, t.page.URL}, t.page.Else...)
		if slices.ContainsFunc(places, func(place string) bool { return seen[place] }) {
			c.addf(at, "this page is named already, or auto looks there too: leave one of them out")
			continue
		}
		for _, place := range places {
			seen[place] = true
		}
		c.p.tellings = append(c.p.tellings, t)
	}
}

// servers read what upstreams tell of themselves, for as long as their configuration
// stays. Nothing that a page does reaches a request.
type servers struct {
	tellings []telling
	readers  []*scrape.Live
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

// takeServers reads the pages of a plan. Where none changed, their reading goes on; else
// all counters begin anew.
func (d *Daemon) takeServers(plan *Plan) {
	same := func(a, b telling) bool {
		return a.upstream == b.upstream && a.name == b.name && reflect.DeepEqual(a.page, b.page) && proxy.SameTLS(a.tls, b.tls)
	}
	if d.servers != nil && slices.EqualFunc(d.servers.tellings, plan.tellings, same) {
		return
	}
	d.servers.close()
	ctx, stop := context.WithCancel(context.Background())
	s := &servers{tellings: plan.tellings, stop: stop}
	for _, t := range plan.tellings {
		w := scrape.Watch{Pages: []scrape.Page{t.page}, Every: serversEvery, TLS: t.tls, Dial: d.opt.Dial}
		live := scrape.NewLive(w)
		s.readers = append(s.readers, live)
		s.ended.Go(func() {
			live.Run(ctx, func(err error) {
				if err != nil {
					d.log.Warn("what the server tells of itself can't be read; until it is, there is a gap", "upstream", t.upstream, "page", t.name, "error", err.Error())
					return
				}
				d.log.Info("what the server tells of itself is read again", "upstream", t.upstream, "page", t.name)
			})
		})
	}
	d.servers = s
}

func (s *servers) close() {
	if s != nil {
		s.stop()
		s.ended.Wait()
	}
}

// toldOf is what is handed on of a page, by its name there.
var toldOf = []struct {
	name string
	as   *telemetry.Metric
}{
	{"running", telemetry.ServerRunning}, {"waiting", telemetry.ServerWaiting}, {"kv_usage", telemetry.ServerKV},
	{"prompt_tokens", telemetry.ServerInput}, {"output_tokens", telemetry.ServerOutput},
	{"prefix_queries", telemetry.ServerLookups}, {"prefix_hits", telemetry.ServerHits}, {"preemptions", telemetry.ServerPreempted},
	{"spec_draft_tokens", telemetry.ServerDrafted}, {"spec_accepted_tokens", telemetry.ServerAccepted},
	{"gpu_utilization", telemetry.ServerGPU}, {"gpu_power_w", telemetry.ServerPower},
}

// toldTimes are the histograms of a page that are handed on.
var toldTimes = []string{"ttft", "tpot", "itl", "e2e", "queue", "prefill", "decode"}

// emit hands the last readings out as metrics. What was not read for a while is none.
func (s *servers) emit(emit func(m *telemetry.Metric, v float64, values ...string)) {
	if s == nil {
		return
	}
	for i, live := range s.readers {
		upstream, page := s.tellings[i].upstream, s.tellings[i].name
		emit(telemetry.ServerUnread, float64(live.Failed()), upstream, page)
		seen := live.Now()
		for _, t := range toldOf {
			if v, ok := seen[t.name]; ok {
				emit(t.as, v, upstream, page)
			}
		}
		for _, name := range toldTimes {
			if n, ok := seen[name+"_n"]; ok {
				emit(telemetry.ServerTimed, n, upstream, page, name)
				emit(telemetry.ServerTime, seen[name+"_sum_s"], upstream, page, name)
			}
		}
	}
}
