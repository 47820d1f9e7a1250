//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"tokenmeter/service/slo"
)

// scenario is daemons that share an objective, the requests that a balancer
// spreads over those that serve, and what befalls them.
type scenario struct {
	name, objective, hash string
	upstream              string
	pods                  []*pod
	born                  int // how many serve from the start
	events                []event
	kills                 int64         // that lose what came since the last scrape
	behind                bool          // a store: what was not written yet is lost instead
	alone                 bool          // only those scrape it that are away
	young                 bool          // killed within the hold
	reloaded              bool          // its truth is what came after
	died                  time.Duration // when something ended; an outage then matters
	truth                 counts
	mount                 string
}

type event struct {
	at time.Duration
	do func() error
}

// otherLimit is what an objective becomes by a reload.
const otherLimit = "error rate <= 7.77%"

// scenarios are the faults.
func scenarios(dir, upstream string) []*scenario {
	var all []*scenario
	add := func(name string, pods, born int, store bool, events func(s *scenario)) {
		s := &scenario{name: name, upstream: upstream, born: born}
		s.objective = fmt.Sprintf("error rate <= %.2f%%", 1+float64(len(all))/100)
		s.hash = hashOf(s.objective)
		for i := range pods {
			at := filepath.Join(dir, fmt.Sprintf("%d-%d", len(all), i))
			p := &pod{listen: address(), admin: address(), config: at + ".yaml", recordsFile: at + ".jsonl"}
			if store {
				p.store = at + ".db"
			}
			s.pods = append(s.pods, p)
		}
		if events != nil {
			events(s)
		}
		all = append(all, s)
	}
	at := func(s *scenario, d time.Duration, do func() error) { s.events = append(s.events, event{d, do}) }
	add("nothing happens", 1, 1, false, nil)
	add("receiver of alerts away, store", 1, 1, true, nil)
	add("two replicas behind a balancer", 2, 2, false, nil)
	add("new replica, all it answers fails at first", 2, 1, false, func(s *scenario) { at(s, 20*time.Second, s.pods[1].start) })
	add("replica born while Prometheus is away", 2, 1, false, func(s *scenario) {
		s.alone = true // else the others' pages would begin the hold, as those of a pair do
		at(s, 40*time.Second, s.pods[1].start)
	})
	add("kill -9, no store", 2, 1, false, func(s *scenario) {
		s.kills, s.died = 1, 25*time.Second
		at(s, s.died, func() error { s.pods[0].kill(); return s.pods[1].start() })
	})
	add("kill -9 twice, store (emptyDir)", 1, 1, true, func(s *scenario) {
		s.kills, s.behind, s.died = 2, true, 20*time.Second
		again := func() error { s.pods[0].kill(); return s.pods[0].start() }
		at(s, s.died, again)
		at(s, 55*time.Second, again)
	})
	add("restart, store", 1, 1, true, func(s *scenario) {
		s.died = 25 * time.Second
		at(s, s.died, func() error { s.pods[0].term(); <-s.pods[0].ended; return s.pods[0].start() })
	})
	add("restart, no store", 1, 1, false, func(s *scenario) {
		s.died = 25 * time.Second
		at(s, s.died, func() error { s.pods[0].term(); <-s.pods[0].ended; return s.pods[0].start() })
	})
	add("rolling deployment of three", 6, 3, false, func(s *scenario) {
		s.died = 15 * time.Second
		for i := range 3 {
			at(s, time.Duration(15+5*i)*time.Second, func() error {
				err := s.pods[3+i].start()
				s.pods[i].term()
				return err
			})
		}
	})
	add("rolling deployment of three, kill", 6, 3, false, func(s *scenario) {
		s.kills, s.died = 3, 15*time.Second
		for i := range 3 {
			at(s, time.Duration(15+5*i)*time.Second, func() error {
				err := s.pods[3+i].start()
				s.pods[i].kill()
				return err
			})
		}
	})
	add("killed within its hold", 2, 1, false, func(s *scenario) {
		s.kills, s.young, s.died = 1, true, 20*time.Second
		at(s, 20*time.Second, s.pods[1].start)
		at(s, 23*time.Second, func() error { s.pods[1].kill(); return nil })
	})
	add("another limit by reload (after it)", 1, 1, true, func(s *scenario) {
		at(s, 25*time.Second, func() error {
			s.objective, s.reloaded = otherLimit, true
			s.hash = hashOf(s.objective)
			s.truth = counts{}
			if err := s.pods[0].write(s.upstream, s.objective); err != nil {
				return err
			}
			time.Sleep(4 * time.Second) // files are looked at every 2 s
			return nil
		})
	})
	for _, wrong := range []struct {
		name string
		step os.Signal
	}{{"clock a day ahead and right again, store", ahead}, {"clock a day back and right again, store", behind}} {
		add(wrong.name, 1, 1, true, func(s *scenario) {
			s.pods[0].steps = true
			at(s, 20*time.Second, s.pods[0].set(wrong.step))
			at(s, 45*time.Second, s.pods[0].set(right))
		})
	}
	if full := small(dir); full != "" {
		add("disk full, store", 1, 1, true, func(s *scenario) {
			s.mount = full
			s.pods[0].store = filepath.Join(full, "h.db")
			at(s, 20*time.Second, func() error {
				_ = os.WriteFile(filepath.Join(full, "rest"), make([]byte, 64<<20), 0o644) // fails when all is taken
				return nil
			})
		})
	} else {
		fmt.Fprintln(os.Stderr, "slo: no small disk can be mounted here; a full disk is left out")
	}
	return all
}

// small is a disk of a few MB; empty: only root may mount one.
func small(dir string) string {
	at := filepath.Join(dir, "small")
	if os.MkdirAll(at, 0o755) != nil || exec.Command("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", at).Run() != nil {
		return ""
	}
	return at
}

func hashOf(objective string) string {
	all, _, err := slo.Load("slo", []byte("objectives: [{name: live, objective: \""+objective+"\"}]\n"))
	if err != nil {
		panic(err)
	}
	return all[0].Hash
}

// run sends requests, one after the other, and lets happen what happens between
// two of them, so that what clients were answered is exactly what was counted.
func (s *scenario) run(begin time.Time) error {
	for i, p := range s.pods {
		if err := p.write(s.upstream, s.objective); err != nil {
			return err
		}
		if i < s.born {
			if err := p.start(); err != nil {
				return err
			}
		}
	}
	n := 0
	for time.Since(begin) < length {
		if len(s.events) > 0 && time.Since(begin) >= s.events[0].at {
			if err := s.events[0].do(); err != nil {
				return err
			}
			s.events = s.events[1:]
		}
		n++
		p := s.pods[n%len(s.pods)]
		if !p.serving {
			continue
		}
		fail := n%7 == 0 || strings.HasPrefix(s.name, "new replica") && p == s.pods[1] && time.Since(begin) < 30*time.Second
		if err := p.ask(fail); err != nil {
			return fmt.Errorf("a request was not answered: %w", err)
		}
		s.truth.valid++
		if fail {
			s.truth.bad++
		}
		time.Sleep(pause)
	}
	return nil
}

// bound is how many events the rules of a Prometheus may miss; applies is false
// where one that was away must miss what ended meanwhile.
func (s *scenario) bound(w *watcher) (bound int64, applies bool) {
	perSecond := float64(time.Second) / float64(pause)
	switch {
	case w.leaves && s.died > 0 || s.alone && !w.leaves:
		return 0, false
	case s.young:
		return int64(perSecond * (w.every + hold).Seconds()), true
	case s.behind:
		return s.unwritten(), true
	}
	return int64(float64(s.kills) * perSecond * (w.every.Seconds() + 0.5)), true // scrapes are late now and then
}

// records are the raw records of all daemons; they are complete, and a reload
// takes none away.
func (s *scenario) records() string {
	var sum counts
	for _, p := range s.pods {
		c := of(p.recordsFile)
		sum = counts{sum.bad + c.bad, sum.valid + c.valid}
	}
	if sum != s.truth && !(s.reloaded && s.truth.within(sum, sum.valid)) {
		return sum.String() + wrong
	}
	return sum.String()
}

// history is what the daemon's store has counted. What it may miss is what was
// not written when it was killed; on a full disk nothing more can be.
func (s *scenario) history() string {
	if s.pods[0].store == "" {
		return "–"
	}
	c, err := s.pods[0].budget()
	if err != nil {
		return err.Error() + wrong
	}
	bound := s.unwritten()
	if s.mount != "" {
		bound = s.truth.valid
	}
	if !c.within(s.truth, bound) {
		return c.String() + wrong
	}
	return c.String()
}

// unwritten is how many events a store may lose in kills: those of a second, and
// of the time that writing takes.
func (s *scenario) unwritten() int64 {
	return int64(1.5*float64(time.Second)/float64(pause)) * s.kills
}

func (s *scenario) stop() {
	for _, p := range s.pods {
		p.stop()
	}
	if s.mount != "" {
		_ = exec.Command("umount", s.mount).Run()
	}
}
