package client

import (
	"context"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// bothForms runs a test on real sockets over each form of reading.
func bothForms(t *testing.T, test func(t *testing.T, form Form)) {
	t.Helper()
	forms := []Form{PlainForm}
	if runtime.GOOS == "linux" {
		forms = append(forms, ReactorForm)
	}
	for _, form := range forms {
		t.Run(string(form), func(t *testing.T) { test(t, form) })
	}
}

func in(form Form, more ...func(*Config)) func(*Config) {
	return func(c *Config) {
		c.Form = form
		for _, change := range more {
			change(c)
		}
	}
}

func TestParseForm(t *testing.T) {
	for text, form := range map[string]Form{"": AutoForm, "auto": AutoForm, "reactor": ReactorForm, "plain": PlainForm} {
		got, err := ParseForm(text)
		want(t, text, got, form)
		want(t, text, err, nil)
	}
	if _, err := ParseForm("epoll"); err == nil || !strings.Contains(err.Error(), "reactor") {
		t.Error(err)
	}
}

// The reactor is refused in words where it can't be.
func TestReactorNeeds(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"TLS":         func(c *Config) { c.BaseURL = "https://127.0.0.1" },
		"Unix socket": func(c *Config) { c.BaseURL = "unix:///s" },
		"HTTP/2":      func(c *Config) { c.HTTP2 = true },
		"no stamps":   func(c *Config) { c.NoKernelStamps = true },
	} {
		cfg := Config{BaseURL: "http://127.0.0.1", API: api.OpenAIChat, Form: ReactorForm}
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "client plain") {
			t.Errorf("%s: %v", name, err)
		}
		cfg.Form = AutoForm
		c, err := New(cfg)
		if err != nil {
			t.Fatal(name, err)
		}
		want(t, name, len(c.loops.all), 0)
		c.Close()
	}
}

// How the bytes end decides the class, on sockets as on pipes.
func TestEndsOnSockets(t *testing.T) {
	// Long beside what a busy machine needs to bring the first token.
	const totalLimit = 500 * time.Millisecond
	head := "1ms " + sseHead + chunk(tok("w"))
	for name, tc := range map[string]struct {
		writes []string
		change func(*Config)
		class  timeline.Outcome
		tokens int
		flags  timeline.FlagSet
	}{
		"complete":                  {[]string{head, "2ms " + chunk(fin+done) + lastChunk}, nil, timeline.OK, 1, 0},
		"cut":                       {[]string{head, "2ms CUT"}, nil, timeline.StreamTruncated, 1, 0},
		"cut together with a token": {[]string{head, "2ms " + chunk(tok("w")), "2ms CUT"}, nil, timeline.StreamTruncated, 2, 0},
		"cut in a chunk":            {[]string{head, "2ms 40\r\ndata: {", "3ms CUT"}, nil, timeline.StreamTruncated, 1, 0},
		"clean end without finish":  {[]string{head, "2ms " + lastChunk}, nil, timeline.StreamTruncated, 1, 0},
		"complete, then cut":        {[]string{head, "2ms " + chunk(fin+done), "3ms CUT"}, nil, timeline.OK, 1, timeline.DirtyClose},
		"complete, then silence":    {[]string{head, "2ms " + chunk(fin+done), "3ms KEEP"}, nil, timeline.OK, 1, timeline.LeftOpen},
		"until close":               {[]string{"1ms HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + tok("w") + fin + done, "2ms CUT"}, nil, timeline.OK, 1, 0},
		"no response":               {[]string{"1ms CUT"}, nil, timeline.ConnReset, 0, 0},
		"half a head":               {[]string{"1ms HTTP/1.1 200 OK\r\ncontent-", "2ms CUT"}, nil, timeline.ConnReset, 0, 0},
		"no HTTP":                   {[]string{"1ms SSH-2.0-OpenSSH_9.6\r\n"}, nil, timeline.Parse, 0, 0},
		"a negative chunk":          {[]string{head, "2ms -1\r\n"}, nil, timeline.Parse, 1, 0},
		"a giant header":            {[]string{"1ms HTTP/1.1 200 OK\r\nx: " + strings.Repeat("a", 70_000)}, nil, timeline.Parse, 0, 0},
		"http 500":                  {[]string{"1ms " + whole("500 Internal Server Error", "text/plain", "boom")}, nil, timeline.HTTP5xx, 0, 0},
		"more than one buffer":      {[]string{head, "2ms " + strings.Repeat(chunk(tok("w")), 20_000), "3ms " + chunk(fin+done) + lastChunk}, nil, timeline.OK, 20_001, 0},
		"total limit":               {[]string{head, "2ms KEEP"}, func(c *Config) { c.Timeout = totalLimit }, timeline.TimeoutTotal, 1, 0},
		"total limit, no head":      {[]string{"1ms KEEP"}, func(c *Config) { c.Timeout = totalLimit }, timeline.TimeoutTotal, 0, 0},
		"ttft limit":                {[]string{"1ms " + sseHead + chunk(role), "2ms KEEP"}, func(c *Config) { c.TTFTTimeout = 60 * time.Millisecond }, timeline.TimeoutTTFT, 0, 0},
		"idle limit":                {[]string{head, "30ms " + chunk(ping), "60ms " + chunk(ping), "90ms KEEP"}, func(c *Config) { c.IdleTimeout, c.TTFTTimeout = 80*time.Millisecond, 20*time.Second }, timeline.TimeoutIdle, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bothForms(t, func(t *testing.T, form Form) {
				l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: play(tc.writes...)})
				change := in(form)
				if tc.change != nil {
					change = in(form, tc.change)
				}
				c := socketClient(t, "http://"+l.Addr().String(), change)
				tl := send(t.Context(), c)
				want(t, "outcome", tl.Outcome, tc.class)
				want(t, "tokens", len(tokens(tl)), tc.tokens)
				want(t, "flags", tl.Flags, tc.flags)
				want(t, "closed", tl.CloseUS.OK(), true)
				if tc.class != timeline.OK && (tl.Error == nil || tl.Error.Message == "") {
					t.Error("a failure without words")
				}
				if us := tl.CloseUS.Or(0); strings.HasPrefix(name, "total") && us != totalLimit.Microseconds() {
					t.Errorf("closed after %d µs, not at its limit", us)
				}
				idle := c.Stats().Idle
				want(t, "idle", idle, map[bool]int64{true: 1}[name == "complete" || name == "http 500" || name == "clean end without finish" || name == "more than one buffer"])
			})
		})
	}
}

// Cancelling ends requests at once, whatever they wait for, and frees their
// connections.
func TestCancelOnSockets(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			if r.nth%2 == 0 {
				return play("0s KEEP")(f, c, r)
			}
			return play("0s "+sseHead+chunk(tok("w")), "1ms KEEP")(f, c, r)
		}})
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		ctx, cancel := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		const n = 40
		outcomes := make([]timeline.Outcome, n)
		for i := range n {
			all.Go(func() { outcomes[i] = send(ctx, c).Outcome })
		}
		time.Sleep(50 * time.Millisecond)
		cancel(ErrRunEnd)
		all.Wait()
		for _, o := range outcomes {
			want(t, "outcome", o, timeline.CancelledRunEnd)
		}
		want(t, "idle", c.Stats().Idle, 0)
		want(t, "cancelled before", send(ctx, c).Outcome, timeline.CancelledRunEnd)
	})
}

// A request that the server is slow to take is written all the same.
func TestSlowlyTakenRequest(t *testing.T) {
	body := strings.Repeat("long ", 2<<20)
	bothForms(t, func(t *testing.T, form Form) {
		got := make(chan int, 1)
		f := &fake{serve: func(f *fake, c net.Conn, r *received) bool {
			got <- len(r.body)
			return play("0s "+whole("200 OK", "text/event-stream", tok("w")+fin+done))(f, c, r)
		}}
		l := socketServer(t, "tcp", "127.0.0.1:0", f)
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		tl := timeline.New()
		tl.DueUS = c.clk.US()
		tl.StartUS = tl.DueUS
		c.Do(t.Context(), &api.Request{Model: "m", Stream: true, Messages: []api.Message{{Role: "user", Content: body}}}, tl)
		want(t, "outcome", tl.Outcome, timeline.OK)
		if n := <-got; n < len(body) {
			t.Errorf("%d bytes came of %d", n, len(body))
		}
		if sent, ok := tl.SentUS.Get(); !ok || sent > tl.HeadUS.Or(0) {
			t.Errorf("sent at %v, head at %v", tl.SentUS, tl.HeadUS)
		}
		want(t, "idle", c.Stats().Idle, 1)
	})
}

// A server that never takes the request is given up at the limit.
func TestNeverTakenRequest(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		body := strings.Repeat("a", 12<<20)
		// A machine that is busy may need longer than the limit to begin with.
		for limit := 500 * time.Millisecond; ; limit *= 4 {
			c := socketClient(t, "http://"+l.Addr().String(), in(form, func(c *Config) { c.Timeout = limit }))
			tl := timeline.New()
			tl.DueUS = c.clk.US()
			tl.StartUS = tl.DueUS
			c.Do(t.Context(), &api.Request{Model: "m", Stream: true, Messages: []api.Message{{Role: "user", Content: body}}}, tl)
			want(t, "outcome", tl.Outcome, timeline.TimeoutTotal)
			if strings.Contains(tl.Error.Message, "did not take") {
				return
			}
			if limit > 30*time.Second {
				t.Fatal(tl.Error.Message)
			}
		}
	})
}

// Streams side by side keep their own times and bytes; the connections are
// used again.
func TestManyStreamsAtOnce(t *testing.T) {
	bothForms(t, func(t *testing.T, form Form) {
		frames := []string{"1ms " + sseHead}
		for i := range 50 {
			frames = append(frames, (time.Duration(i*2+2)*time.Millisecond).String()+" "+chunk(tok("w")))
		}
		frames = append(frames, "110ms "+chunk(fin+done)+lastChunk)
		const n = 64
		l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: gather(n, frames...)})
		c := socketClient(t, "http://"+l.Addr().String(), in(form))
		var all sync.WaitGroup
		for range n {
			all.Go(func() {
				for range 2 {
					tl := send(t.Context(), c)
					want(t, "outcome", tl.Outcome, timeline.OK)
					at := tokens(tl)
					want(t, "tokens", len(at), 50)
					if !slices.IsSorted(at) || at[0] < tl.SentUS.Or(0) {
						t.Errorf("times %v", at)
					}
					if runtime.GOOS == "linux" {
						want(t, "clock", tl.Clock, timeline.Kernel)
					}
				}
			})
		}
		all.Wait()
		want(t, "opened", c.Stats().Opened, n)
	})
}

// A client that is closed leaves no descriptor and no processor behind.
func TestReactorLeavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no reactor here")
	}
	for range 1000 { // until the tests before have given theirs back
		if clock.KeptProcessors() == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	procs := runtime.GOMAXPROCS(0)
	for range 5 {
		l := socketServer(t, "tcp", "127.0.0.1:0", &fake{serve: play("0s " + whole("200 OK", "text/event-stream", tok("w")+fin+done))})
		c, err := New(Config{BaseURL: "http://" + l.Addr().String(), API: api.OpenAIChat, Form: ReactorForm})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "outcome", send(t.Context(), c).Outcome, timeline.OK)
		want(t, "a processor is claimed", clock.KeptProcessors() > 0, true)
		c.Close()
	}
	for range 200 {
		if runtime.GOMAXPROCS(0) == procs {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("GOMAXPROCS %d, was %d", runtime.GOMAXPROCS(0), procs)
}
