package daemon

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"tokenmeter/base/limitio"
)

// watch waits for signals and changed files until ctx ends.
func (d *Daemon) watch(ctx context.Context, seen [32]byte) {
	tick := time.NewTicker(cmp.Or(d.opt.Watch, 2*time.Second))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.opt.Reload:
			seen = d.fingerprint(d.now())
			d.reload("signal")
		case <-tick.C:
			d.forget()
			if now := d.fingerprint(d.now()); now != seen {
				seen = now
				d.reload("file changed")
			}
		}
	}
}

// forget drops proxies and openings whose last stream has ended.
func (d *Daemon) forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, one := range d.openings {
		one.forget()
	}
	d.closing = slices.DeleteFunc(d.closing, func(one *opening) bool { return one.busy() == 0 })
}

// now is the plan that is in use.
func (d *Daemon) now() *Plan {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.plan
}

// fingerprint is what the files of a plan hold now.
func (d *Daemon) fingerprint(plan *Plan) [32]byte {
	if d.opt.Files == nil {
		return [32]byte{}
	}
	h := sha256.New()
	for _, path := range d.opt.Files(plan) {
		data, err := limitio.File(path, mostPEM)
		fmt.Fprintf(h, "%s %d %v\n", path, len(data), err != nil)
		_, _ = h.Write(data)
	}
	return [32]byte(h.Sum(nil))
}

// reload reads the configuration; a bad one changes nothing.
func (d *Daemon) reload(why string) {
	plan, err := d.opt.Load()
	if err == nil {
		err = d.apply(plan)
	}
	if err != nil {
		d.failed.Add(1)
		d.log.Error("the new configuration is not used; the old one stays", "why", why, "error", err.Error())
		return
	}
	d.reloads.Add(1)
	d.log.Info("configuration taken", "why", why)
}
