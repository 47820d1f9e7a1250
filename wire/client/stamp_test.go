package client

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// stampedPipe is a connection whose bytes queue up and carry the wall-clock
// time of their arrival, as a kernel's would: of a read, the newest.
type stampedPipe struct {
	net.Conn
	wall func() int64
	late func() // before a read returns

	mu    sync.Mutex
	queue bytes.Buffer
	stamp int64
	err   error
	more  chan struct{}
}

func newStampedPipe(under net.Conn, wall func() int64) *stampedPipe {
	p := &stampedPipe{Conn: under, wall: wall, more: make(chan struct{}, 1)}
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := under.Read(buf)
			p.mu.Lock()
			p.queue.Write(buf[:n])
			p.stamp, p.err = wall(), err
			p.mu.Unlock()
			select {
			case p.more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *stampedPipe) ReadStamped(b []byte) (int, int64, error) {
	for {
		p.mu.Lock()
		if p.queue.Len() > 0 {
			p.mu.Unlock()
			if p.late != nil {
				p.late()
			}
			p.mu.Lock()
			n, _ := p.queue.Read(b)
			stamp := p.stamp
			p.mu.Unlock()
			return n, stamp, nil
		}
		err := p.err
		p.mu.Unlock()
		if err != nil {
			return 0, 0, err
		}
		<-p.more
	}
}

func (p *stampedPipe) SetReadDeadline(time.Time) error { return nil }

func stampedClient(t *testing.T, f *fake, wall func() int64, late func()) *Client {
	clk := clock.Start()
	clk.WallNS = wall
	return pipeClient(t, f, func(c *Config) {
		c.Clock = clk
		c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			under, err := f.dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			p := newStampedPipe(under, wall)
			p.late = late
			return p, nil
		}
	})
}

func ms(at ...int64) []int64 {
	for i := range at {
		at[i] *= 1000
	}
	return at
}

// A client that reads 7 ms late records the arrivals of the kernel all the
// same, and how late it was.
func TestLateClientIsSeenAndDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wall := func() int64 { return time.Now().UnixNano() }
		// Of what queues up while the client is away, the newest stamp counts:
		// the pause between token C and the end keeps them apart.
		f := &fake{serve: play(append(slices.Clone(b1[:4]), "300ms "+chunk(usage3+done)+lastChunk)...)}
		c := stampedClient(t, f, wall, func() { time.Sleep(7 * time.Millisecond) })
		tl := send(t.Context(), c)
		want(t, "outcome", tl.Outcome, timeline.OK)
		want(t, "clock", tl.Clock, timeline.Kernel)
		wantUS(t, "head", tl.HeadUS, 5_000)
		if got := tokens(tl); !slices.Equal(got, ms(214, 234, 254)) {
			t.Errorf("tokens at %v", got)
		}
		wantUS(t, "close", tl.CloseUS, 300_000)
		for ev := range tl.Events.All() {
			want(t, "lag", ev.LagUS, 7_000)
		}
	})
}

// B87: the wall clock is set back 3 s between request and first token.
func TestB87WallClockStep(t *testing.T) {
	b5 := []string{
		"500ms " + sseHead + chunk(tok("a")), "520ms " + chunk(tok("b")), "540ms " + chunk(tok("c")),
		"560ms " + chunk(tok("d")+fin+done) + lastChunk,
	}
	for name, tc := range map[string]struct {
		stepAt, step time.Duration
		late         time.Duration
	}{
		"between tokens and reads, back":    {250 * time.Millisecond, -3 * time.Second, 0},
		"forward":                           {530 * time.Millisecond, 5 * time.Second, 0},
		"between arrival and read, back":    {521 * time.Millisecond, -3 * time.Second, 3 * time.Millisecond},
		"between arrival and read, forward": {521 * time.Millisecond, 3 * time.Second, 3 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				wall := func() int64 {
					now := time.Now().UnixNano()
					if time.Since(start) >= tc.stepAt {
						now += int64(tc.step)
					}
					return now
				}
				c := stampedClient(t, &fake{serve: play(b5...)}, wall, func() { time.Sleep(tc.late) })
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, timeline.OK)
				if got := tokens(tl); !slices.Equal(got, ms(500, 520, 540, 560)) {
					t.Errorf("tokens at %v", got)
				}
				wantUS(t, "step", tl.ClockStepUS, tc.step.Microseconds())
				want(t, "flag", tl.Flags.Has(timeline.ClockStep), true)
			})
		})
	}
}

func TestArrivalIsClamped(t *testing.T) {
	const sec = int64(time.Second)
	// The request was written at 1 s; nothing was waiting at 1 s.
	begin := clock.Reading{NS: sec, WallNS: 1000 * sec}
	for name, tc := range map[string]struct {
		stamp int64
		now   clock.Reading
		want  int64
	}{
		"plain":                        {1000*sec + 200, clock.Reading{NS: sec + 500, WallNS: 1000*sec + 500}, sec + 200},
		"stamp after the read":         {1000*sec + 900, clock.Reading{NS: sec + 500, WallNS: 1000*sec + 500}, sec + 500},
		"stamp before the request":     {1000*sec - 900, clock.Reading{NS: sec + 500, WallNS: 1000*sec + 500}, sec},
		"step back before the arrival": {997*sec + 200, clock.Reading{NS: sec + 500, WallNS: 997*sec + 500}, sec + 200},
		"step back after the arrival":  {1000*sec + 200, clock.Reading{NS: sec + 500, WallNS: 997*sec + 500}, sec + 200},
		"step forward after":           {1000*sec + 200, clock.Reading{NS: sec + 500, WallNS: 1003*sec + 500}, sec + 200},
		"no stamp":                     {0, clock.Reading{NS: sec + 500, WallNS: 1000*sec + 500}, sec + 500},
	} {
		var s source
		s.begin(begin)
		s.arrived(tc.stamp, tc.now, s.emptyNS)
		if s.arrivedNS != tc.want || s.arrivedNS > s.readNS {
			t.Errorf("%s: arrived at %d, read at %d, want %d", name, s.arrivedNS, s.readNS, tc.want)
		}
		want(t, name+": kernel", s.kernel && s.allSeen, tc.stamp != 0)
	}
}

// A whole stream allocates no more for a thousand tokens than for one.
func TestTokensAllocateNothing(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		streamOf := func(n int) func(*fake, net.Conn, *received) bool {
			return func(_ *fake, c net.Conn, _ *received) bool {
				frame := []byte(chunk(tok("w")))
				if _, err := io.WriteString(c, sseHead); err != nil {
					return false
				}
				for range n {
					if _, err := c.Write(frame); err != nil {
						return false
					}
				}
				_, err := io.WriteString(c, chunk(fin+done)+lastChunk)
				return err == nil
			}
		}
		measure := func(n int) float64 {
			f := &fake{serve: streamOf(n)}
			l := socketServer(t, "tcp", "127.0.0.1:0", f)
			c := socketClient(t, "http://"+l.Addr().String(), in(form, func(c *Config) { c.Stream = api.StreamOptions{} }))
			tl := timeline.New()
			run := func() {
				tl.Events.Reset()
				tl.DueUS = c.clk.US()
				tl.StartUS = tl.DueUS
				c.Do(t.Context(), hello, tl)
				if tl.Outcome != timeline.OK {
					t.Fatal(tl.Error)
				}
			}
			run()
			return testing.AllocsPerRun(5, run)
		}
		few, many := measure(10), measure(2010)
		t.Logf("%.0f allocations with 10 tokens, %.0f with 2010 (server included)", few, many)
		if many > few+60 {
			t.Errorf("%.0f allocations more for 2000 tokens", many-few)
		}
	})
}

// A processor that was taken away between a request's write and its stamp makes no answer
// that came at once: the request was out when it was written. One that came before the
// last of it was written did not wait for it.
func TestSentBeforeItsAnswer(t *testing.T) {
	for _, c := range []struct {
		name                           string
		writeUS, sentUS, atUS, wantsUS int64
	}{
		{"as it should be", 100, 120, 34_000, 120},
		{"stamped behind the answer", 100, 40_000, 34_000, 100},
		{"answered before the last piece", 60_000, 60_020, 34_000, 34_000},
	} {
		x := &exchange{tl: timeline.New(), writeNS: c.writeUS * 1000, sentNS: c.sentUS * 1000}
		x.tl.SentUS = timeline.Some(c.sentUS)
		x.arrival(&stamper{arrivedNS: c.atUS * 1000})
		wantUS(t, c.name, x.tl.SentUS, c.wantsUS)
	}
}

// Over HTTP/2 the same holds: the headers of a request are written right before its body,
// where that waits for nobody.
func TestSentBeforeItsAnswerHTTP2(t *testing.T) {
	for _, c := range []struct {
		name                     string
		body                     int
		headersUS, sentUS, wants int64
	}{
		{"as it should be", 100, 100, 120, 120},
		{"stamped behind the answer", 100, 100, 40_000, 100},
		{"not stamped yet", 100, 100, -1, 100},
		{"a body that may have waited for the server", takenAtOnce + 1, 100, 40_000, 34_000},
		{"answered before it was sent", takenAtOnce + 1, 60_000, 60_020, 34_000},
	} {
		x := &exchange{c: &Client{clk: clock.Start()}, tl: timeline.New()}
		x.msg.body = make([]byte, c.body)
		tr := &trace{headers: c.headersUS * 1000, sent: max(c.sentUS*1000, -1), head: 34_000_000}
		tr.record(x)
		wantUS(t, c.name, x.tl.SentUS, c.wants)
	}
}

// What counts as written at once goes into a connection whose other end reads nothing: the
// write of so much returns before anybody has read a byte.
func TestTakenAtOnce(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String()) // accepted by the kernel, read by nobody
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := c.Write(make([]byte, takenAtOnce)); n != takenAtOnce || err != nil {
		t.Errorf("wrote %d of %d bytes: %v", n, takenAtOnce, err)
	}
}
