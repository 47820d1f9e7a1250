package probe

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/base/clock"
	"tokenmeter/load/machine"
	"tokenmeter/record/cost"
	"tokenmeter/record/metric"
	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Folders are run folders of probes, one a target: what Plan.Took may write to.
type Folders struct {
	writers []*run.Writer
	about   []run.Run
	took    []atomic.Int64 // requests of each
}

// About is what run.json says beside the target.
type About struct {
	Version string
	Command []string // as typed; secrets are removed
	Pricing *cost.Pricing
	Kinds   []Kind
}

// Create makes a folder for each target below root, by the target's name and the
// moment. Routers are asked what they publish before.
func Create(ctx context.Context, root string, targets []Target, about About, clk *clock.Clock) (*Folders, error) {
	f := &Folders{took: make([]atomic.Int64, len(targets))}
	var classes []string
	for i := range about.Kinds {
		classes = append(classes, about.Kinds[i].Name)
	}
	var asking sync.WaitGroup
	said := make([][]run.Published, len(targets))
	for i := range targets {
		asking.Go(func() { said[i] = published(ctx, &targets[i], clk) })
	}
	asking.Wait()
	environment := run.Environment(machine.This().Environment())
	for i := range targets {
		t := &targets[i]
		red := t.Client.Redactor()
		m := run.Run{Name: t.Name, Tags: map[string]string{"source": "probe"}, Version: about.Version, Command: red.Args(about.Command),
			Started: clk.Wall(), MonotonicZeroNS: clk.MonotonicZeroNS, Environment: environment, Pricing: about.Pricing, AllowLowN: true, AllowISLDrift: true,
			Target:    run.Target{URL: red.URL(t.Client.BaseURL), API: t.Client.API.Name, Model: t.Model, Server: red.String(t.Server)},
			Published: said[i],
			Load:      run.Load{Kind: "closed", Arrival: "closed", Warmup: "0", Workers: 1, NoKeepAlive: true},
			Workload:  run.Workload{Kind: "probe", Classes: classes, PromptsUnique: true, OutputIsCap: true}}
		if tls := t.Client.TLS; tls != nil && tls.InsecureSkipVerify {
			m.Noticed = append(m.Noticed, metric.UnverifiedTLS())
		}
		w, err := run.Create("", m, run.Options{Root: filepath.Join(root, run.Slug(t.Name))})
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		f.writers, f.about = append(f.writers, w), append(f.about, m)
	}
	return f, nil
}

// Took writes a request that has ended.
func (f *Folders) Took(target int, tl *timeline.Timeline) error {
	f.took[target].Add(1)
	return f.writers[target].Append(tl)
}

// Finish ends the runs; partial ones were broken off. A target that was not asked
// leaves no folder.
func (f *Folders) Finish(partial bool) error {
	end := time.Now().UTC().Round(0)
	var errs []error
	for i, w := range f.writers {
		final := f.about[i]
		final.Finished, final.Partial = &end, partial
		_, err := w.Finish(final)
		if err == nil && f.took[i].Load() == 0 {
			if err = os.RemoveAll(w.Dir()); err == nil {
				_ = os.Remove(filepath.Dir(w.Dir())) // unless earlier runs are there
			}
		}
		errs = append(errs, err)
	}
	f.writers = nil
	return errors.Join(errs...)
}

// Close gives up what was not finished: the journals stay.
func (f *Folders) Close() error {
	var errs []error
	for _, w := range f.writers {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}
