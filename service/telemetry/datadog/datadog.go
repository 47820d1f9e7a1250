// Package datadog sends the table of package telemetry to a Datadog agent as
// DogStatsD: distributions, whose percentiles Datadog computes over all hosts,
// and counts. Figures are gathered and sent in packets now and then; nothing
// waits for the agent, and what it does not take is counted.
package datadog

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/service/telemetry"
	"tokenmeter/service/traffic"
)

// Options say where to send.
type Options struct {
	Address string   // HOST:PORT by UDP, or unix:///PATH; empty: 127.0.0.1:8125
	Tags    []string // of everything: env:prod
	Every   time.Duration
	Fine    bool // gaps between tokens too: a value a token
	Models  int  // how many distinct models may be tags; 0: 100
	// State hands out what is not read off finished requests; nil: nothing.
	State telemetry.State
	// Dial connects; nil: as usual.
	Dial func(network, address string) (net.Conn, error)
}

// DefaultEvery is how often figures are sent.
const DefaultEvery = 10 * time.Second

// Bounds. A packet by UDP must fit into one Ethernet frame; a socket of this
// machine takes the agent's largest.
const (
	packetUDP  = 1432
	packetUnix = 8192
	mostValues = 200_000 // that wait to be sent
	soonValues = 20_000  // with so many they are sent before their time
	writeTime  = time.Second
)

// Exporter is a sink.
type Exporter struct {
	opt              Options
	network, address string
	most             int // bytes of a packet
	limit            *telemetry.Limit
	queue            *telemetry.Queue
	lost, failed     atomic.Int64

	mu     sync.Mutex
	counts map[series]float64
	values map[series][]float64
	order  []series
	n      int // values that wait

	lasts      sync.Mutex
	last       map[series]float64 // of counters that only grow
	conn       net.Conn
	soon, stop chan struct{}
	ended      chan struct{}
}

type series struct {
	m    *telemetry.Metric
	tags string
}

// New begins to send. It must be closed.
func New(opt Options) (*Exporter, error) {
	e := &Exporter{opt: opt, limit: telemetry.NewLimit(opt.Models), counts: map[series]float64{}, values: map[series][]float64{}, last: map[series]float64{},
		soon: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{})}
	var err error
	if e.network, e.address, err = Address(opt.Address); err != nil {
		return nil, err
	}
	e.most = packetUDP
	if e.network == "unixgram" {
		e.most = packetUnix
	}
	if opt.Dial == nil {
		e.opt.Dial = net.Dial
	}
	if opt.Every <= 0 {
		e.opt.Every = DefaultEvery
	}
	e.queue = telemetry.NewQueue(telemetry.QueueSize, e.take)
	go e.run()
	return e, nil
}

// Address reads HOST:PORT or unix:///PATH.
func Address(text string) (network, address string, err error) {
	if text == "" {
		return "udp", "127.0.0.1:8125", nil
	}
	if path, ok := strings.CutPrefix(text, "unix://"); ok {
		if path == "" {
			return "", "", errors.New("unix:// without a path")
		}
		return "unixgram", path, nil
	}
	_, port, err := net.SplitHostPort(text)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", "", fmt.Errorf("%q is neither HOST:PORT nor unix:///PATH", text)
	}
	return "udp", text, nil
}

// Done implements traffic.Sink.
func (e *Exporter) Done(r *traffic.Request) { e.queue.Done(r) }

// Known takes counters as sent: what a store has counted before this process
// was sent by another one.
func (e *Exporter) Known(counters telemetry.State) {
	e.lasts.Lock()
	defer e.lasts.Unlock()
	counters(func(m *telemetry.Metric, v float64, labels ...string) {
		if m.Kind == telemetry.Counter {
			e.last[series{m, e.tags(m.Labels, labels)}] = v
		}
	})
}

// Dropped is how many requests were dropped, in whole or in part.
func (e *Exporter) Dropped() int64 { return e.queue.Dropped() + e.lost.Load() }

// Failed is how many packets could not be sent.
func (e *Exporter) Failed() int64 { return e.failed.Load() }

// Close sends what waits.
func (e *Exporter) Close() {
	e.queue.Close()
	close(e.stop)
	<-e.ended
}

// take gathers the figures of one request.
func (e *Exporter) take(r *traffic.Request) {
	set := e.limit.Set(r.Labels)
	tags := e.tags(telemetry.RequestLabels, set[:])
	e.mu.Lock()
	defer e.mu.Unlock()
	telemetry.Counts(r, func(m *telemetry.Metric, own string, n float64) {
		at := series{m, tags}
		if name := m.Own(); name != "" {
			at.tags = join(tags, tag(name, own))
		}
		e.see(at)
		e.counts[at] += n
	})
	whole := true
	telemetry.Figures(r, e.opt.Fine, func(m *telemetry.Metric, v float64, times int64) {
		if e.n >= mostValues {
			whole = false
			return
		}
		at := series{m, tags}
		e.see(at)
		for range times {
			e.values[at] = append(e.values[at], v)
		}
		e.n += int(times)
	})
	if !whole {
		e.lost.Add(1)
	}
	if e.n >= soonValues {
		select {
		case e.soon <- struct{}{}:
		default:
		}
	}
}

func (e *Exporter) see(at series) {
	if _, known := e.counts[at]; known || len(e.values[at]) > 0 {
		return
	}
	e.order = append(e.order, at)
}

// run sends now and then, until it is stopped.
func (e *Exporter) run() {
	defer close(e.ended)
	tick := time.NewTicker(e.opt.Every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			e.send(true)
		case <-e.soon:
			e.send(false)
		case <-e.stop:
			e.send(true)
			if e.conn != nil {
				_ = e.conn.Close()
			}
			return
		}
	}
}

// send writes what has been gathered; with state, that too.
func (e *Exporter) send(state bool) {
	e.mu.Lock()
	counts, values, order := e.counts, e.values, e.order
	e.counts, e.values, e.order, e.n = map[series]float64{}, map[series][]float64{}, nil, 0
	e.mu.Unlock()
	p := packets{e: e}
	for _, at := range order {
		if n, ok := counts[at]; ok {
			p.single(at, n, "c")
		}
		p.many(at, values[at])
	}
	if state && e.opt.State != nil {
		now := map[series]float64{}
		var order []series
		// Read whole first: State may wait for whoever calls Known.
		e.opt.State(func(m *telemetry.Metric, v float64, labels ...string) {
			at := series{m, e.tags(m.Labels, labels)}
			if _, twice := now[at]; !twice {
				order = append(order, at)
			}
			now[at] = v
		})
		e.lasts.Lock()
		defer e.lasts.Unlock()
		for _, at := range order {
			v := now[at]
			if at.m.Kind == telemetry.Gauge {
				p.single(at, v, "g")
				continue
			}
			grown := v - e.last[at]
			e.last[at] = v
			if grown > 0 {
				p.single(at, grown, "c")
			}
		}
	}
	p.flush()
}

// write sends one packet. A broken connection is made anew with the next one.
func (e *Exporter) write(packet []byte) {
	if e.conn == nil {
		conn, err := e.opt.Dial(e.network, e.address)
		if err != nil {
			e.failed.Add(1)
			return
		}
		e.conn = conn
	}
	_ = e.conn.SetWriteDeadline(time.Now().Add(writeTime))
	if _, err := e.conn.Write(packet); err != nil {
		e.failed.Add(1)
		_ = e.conn.Close()
		e.conn = nil
	}
}
