package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"tokenmeter/base/cmdline"

	"tokenmeter/load/bench"
	"tokenmeter/load/machine"
	"tokenmeter/physics/sim"
	"tokenmeter/record/run"
)

type simCmd struct {
	Listen          string   `default:"127.0.0.1:8000" placeholder:"ADDR" help:"Where to listen. Port 0 takes a free one. Default: ${default}."`
	Preset          string   `default:"default" placeholder:"NAME" help:"Behaviour: one of the presets that sim --help-all lists. Default: ${default}."`
	Truth           string   `placeholder:"FILE" help:"Write what really happened to each request, a JSON line each; - is stdout."`
	Model           string   `placeholder:"NAME" help:"Name of the model. Default: the preset's."`
	Seed            uint64   `default:"1" placeholder:"N" help:"The same seed gives the same behaviour. Default: ${default}."`
	OutputTokens    int      `placeholder:"N" help:"Length of a reply whose request asks for none."`
	Speed           float64  `default:"1" placeholder:"X" help:"All times of the server pass so many times faster. Default: ${default}."`
	Like            string   `placeholder:"ENGINE" help:"Whose metrics, timings and habits: vllm or llama.cpp. Default: the preset's."`
	Usage           string   `placeholder:"MODE" help:"Which chunks carry token counts: asked, final, continuous, finish, none, zeros or null. Default: the preset's."`
	TemplateTokens  int      `placeholder:"N" help:"Tokens that a chat template adds to every prompt."`
	LettersPerToken int      `placeholder:"N" help:"Count a token for every so many letters of a word, as a small vocabulary would. Default: a word is a token."`
	SelfCheck       bool     `help:"Measure how late this machine lets the server write, print it and end."`
	Fault           []string `placeholder:"FAULT" sep:"none" help:"Something that goes wrong: KIND=RATE, with :after=TOKENS and :for=TIME, like stall=0.02:for=3s. Repeatable."`

	simPair     `embed:""`
	sharedFlags `embed:""`
}

var simGroups = []cmdline.Group{{Key: "pair", Title: "A pair of model and hardware:"}}

// Help is shown below the flags.
func (simCmd) Help() string {
	var b strings.Builder
	b.WriteString("A server that speaks the OpenAI chat and completions APIs and every other that tokenmeter measures. It paces its writes to the microsecond and knows when each token was due and written.\n\nThe presets:\n")
	for _, p := range sim.Presets() {
		fmt.Fprintf(&b, "\n  %s: %s\n", p.Name, p.About)
	}
	b.WriteString("\nThe kinds of fault; :for=TIME replaces the times given here:\n\n  429, 503, …: that HTTP status\n")
	for _, k := range sim.Faults {
		fmt.Fprintf(&b, "  %s: %s", k.Name, k.Does)
		if k.For > 0 {
			fmt.Fprintf(&b, " (%s)", k.For)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Run serves until it is interrupted.
func (c *simCmd) Run(a *app) error {
	cfg, err := c.config()
	if err != nil {
		return err
	}
	if c.tries() {
		return c.try(a, cfg)
	}
	if c.SelfCheck {
		return c.selfCheck(a)
	}
	ln, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("can't listen on %s: %w; choose another address with --listen", c.Listen, bare(err))
	}
	truth, closeTruth, err := c.truth(a.stdout) // after the address, so that a failed start empties no file
	if err != nil {
		ln.Close()
		return err
	}
	cfg.Truth = truth
	server := sim.New(cfg)
	ctx, end := interruptible(func() {})
	defer end()
	a.note("simulated server %s at http://%s/v1  (Ctrl-C stops it)", c.Preset, ln.Addr())
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	err = server.Serve(ln)
	if closeErr := server.Close(); err == nil {
		err = closeErr
	}
	if closeErr := closeTruth(); err == nil && closeErr != nil {
		err = &run.WriteError{Path: c.Truth, Err: closeErr, Named: true}
	}
	return err
}

// selfCheck measures the server's own lateness.
func (c *simCmd) selfCheck(a *app) error {
	check := sim.Check{Streams: selfCheckStreams}
	if files, _ := machine.RaiseFiles(); files > 0 {
		check.Streams = min(check.Streams, int(files-spareFiles)/2)
	}
	a.note("%d streams for about 8 s", check.Streams)
	ctx, end := interruptible(func() {})
	defer end()
	result, err := sim.SelfCheck(ctx, check)
	if ctx.Err() != nil {
		return bench.ErrInterrupted
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, result)
	return err
}

// A stream takes two open files, one on each side; some more are needed besides.
const (
	selfCheckStreams = 2000
	spareFiles       = 64
)

func (c *simCmd) config() (sim.Config, error) {
	preset, ok := sim.FindPreset(c.Preset)
	if !ok && strings.Contains(c.Preset, "/") {
		_, err := sim.Pair(c.Preset)
		return sim.Config{}, fmt.Errorf("--preset %s: %w", c.Preset, err)
	}
	if !ok {
		var names []string
		for _, p := range sim.Presets() {
			names = append(names, p.Name)
		}
		return sim.Config{}, fmt.Errorf("--preset %q: choose one of %s", c.Preset, strings.Join(names, ", "))
	}
	cfg := preset.Config
	if err := c.schedule(c.Preset, &cfg); err != nil {
		return cfg, err
	}
	cfg.Seed = c.Seed
	cfg.Model, cfg.OutputTokens = cmp.Or(c.Model, cfg.Model), cmp.Or(c.OutputTokens, cfg.OutputTokens)
	if !(c.Speed > 0) {
		return sim.Config{}, fmt.Errorf("--speed %v: give a number above 0, like --speed 2 for times half as long", c.Speed)
	}
	cfg.Speed = c.Speed
	cfg.Like, cfg.Usage = cmp.Or(c.Like, cfg.Like), cmp.Or(sim.UsageMode(c.Usage), cfg.Usage)
	cfg.TemplateTokens, cfg.LettersPerToken = c.TemplateTokens, c.LettersPerToken
	var errs []error
	for _, text := range c.Fault {
		f, err := sim.ParseFault(text)
		if err != nil {
			errs = append(errs, fmt.Errorf("--fault %q: %w", text, err))
			continue
		}
		cfg.Faults = append(cfg.Faults, f)
	}
	if err := errors.Join(errs...); err != nil {
		return cfg, err
	}
	return cfg, cfg.Validate()
}

// truth opens where the truth goes. It is flushed every second, so that it can
// be followed.
func (c *simCmd) truth(stdout io.Writer) (io.Writer, func() error, error) {
	if c.Truth == "" {
		return nil, func() error { return nil }, nil
	}
	out := io.WriteCloser(nopCloser{stdout})
	if c.Truth != "-" {
		if owned(c.Truth) {
			return nil, nil, fmt.Errorf("--truth %s belongs to a run and holds what it measured; name another file", c.Truth)
		}
		f, err := os.Create(c.Truth)
		if err != nil {
			return nil, nil, &run.WriteError{Path: c.Truth, Err: err, Named: true}
		}
		out = f
	}
	w := &flushed{buf: bufio.NewWriterSize(out, 1<<16)}
	tick := time.NewTicker(time.Second)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-tick.C:
				w.flush()
			case <-done:
				return
			}
		}
	}()
	return w, func() error {
		tick.Stop()
		close(done)
		err := w.flush()
		if closeErr := out.Close(); err == nil {
			err = closeErr
		}
		return err
	}, nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

type flushed struct {
	mu  sync.Mutex
	buf *bufio.Writer
}

func (w *flushed) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *flushed) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Flush()
}

// bare drops the address that package net repeats.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err
	}
	return err
}
