package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/service/slo"
)

// shelf is a keeper in memory.
type shelf struct {
	mu   sync.Mutex
	all  map[string]json.RawMessage
	fail error
}

func (s *shelf) PutState(_ context.Context, name string, v json.RawMessage) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail == nil {
		s.all[name] = v
	}
	return s.fail
}

func (s *shelf) State(_ context.Context, name string) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[name], s.fail
}

// scene is a courier with a receiver that keeps what it was told, in virtual
// time.
type scene struct {
	*Courier
	t      *testing.T
	shelf  *shelf
	spec   slo.NotifySpec
	answer func(call int) (status int, retryAfter string)
	calls  []string // when, and what
	errs   []string
	begun  time.Time
}

func staged(t *testing.T, spec slo.NotifySpec) *scene {
	s := &scene{t: t, shelf: &shelf{all: map[string]json.RawMessage{}}, spec: spec, begun: time.Now()}
	s.restart()
	return s
}

func (s *scene) restart() {
	if s.Courier != nil {
		s.Stop()
	}
	client := &http.Client{Transport: transport(func(q *http.Request) (*http.Response, error) {
		var body struct {
			Alerts []struct{ Objective, Status string }
		}
		json.NewDecoder(q.Body).Decode(&body)
		var said []string
		for _, a := range body.Alerts {
			said = append(said, a.Objective+" "+a.Status)
		}
		s.calls = append(s.calls, fmt.Sprintf("%s %s", time.Since(s.begun).Truncate(time.Second), strings.Join(said, ", ")))
		status, after := 200, ""
		if s.answer != nil {
			status, after = s.answer(len(s.calls))
		}
		if status == 0 {
			return nil, errors.New("no way to key sk-very-secret-key-1234")
		}
		h := http.Header{}
		h.Set("Retry-After", after)
		return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: h, Body: io.NopCloser(strings.NewReader("key sk-very-secret-key-1234 is wrong")), Request: q}, nil
	})}
	n, err := New(s.spec, Options{Env: env, Client: client})
	if err != nil {
		s.t.Fatal(err)
	}
	s.Courier = NewCourier(s.t.Context(), s.shelf, n.StateName(0), n, time.Now)
	s.Start(s.t.Context(), func(err error) { s.errs = append(s.errs, err.Error()) })
}

func (s *scene) put(firing, resolved []slo.Firing) {
	s.t.Helper()
	if err := s.Put(s.t.Context(), firing, resolved); err != nil && s.shelf.fail == nil {
		s.t.Fatal(err)
	}
}

// pass lets time pass and compares what the receiver was told since.
func (s *scene) pass(d time.Duration, want ...string) {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	if !slices.Equal(s.calls, want) {
		s.t.Errorf("told\n%s\nwant\n%s", strings.Join(s.calls, "\n"), strings.Join(want, "\n"))
	}
	s.calls, s.begun = nil, time.Now()
}

func since(name string) slo.Firing {
	f := firing(name)
	f.Since = time.Now()
	return f
}

func TestRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h", Severities: []string{"page"}})
		f, ticket := since("chat"), since("batch")
		ticket.Severity = slo.Ticket
		for range 9 * 60 {
			s.put([]slo.Firing{f, ticket}, nil)
			time.Sleep(time.Minute)
		}
		s.pass(0, "0s chat firing", "4h0m0s chat firing", "8h0m0s chat firing")
		s.restart() // it is no news
		s.put([]slo.Firing{f}, nil)
		s.pass(time.Hour)
		s.put(nil, []slo.Firing{over(f, time.Now()), over(ticket, time.Now())})
		s.pass(time.Hour, "0s chat resolved")
		s.put(nil, nil)
		s.pass(100 * time.Hour) // and never again
		s.Stop()
	})
}

// A receiver that is away is tried later and later, for as long as it takes, also
// after restarts; new alerts are told at once.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h/hook?token=abcdef123456", KeyEnv: "KEY"})
		s.answer = func(int) (int, string) { return 0, "" }
		a := since("a")
		s.put([]slo.Firing{a}, nil)
		s.pass(1100*time.Second, "0s a firing", "1s a firing", "4s a firing", "13s a firing", "40s a firing", "2m1s a firing", "6m4s a firing", "11m4s a firing", "16m4s a firing")
		b := since("b")
		s.put([]slo.Firing{a, b}, nil)
		s.pass(2*time.Second, "0s b firing", "1s b firing")
		s.restart()
		s.pass(500*time.Millisecond, "0s a firing, b firing")
		// It is over before anybody heard of it: they hear of it nevertheless.
		s.answer = nil
		s.put([]slo.Firing{b}, []slo.Firing{over(a, time.Now())})
		s.pass(time.Minute, "0s a resolved", "0s b firing")
		s.answer = func(int) (int, string) { return 429, "90" }
		s.put(nil, []slo.Firing{over(b, time.Now())})
		s.pass(100*time.Second, "0s b resolved", "1m30s b resolved")
		c := since("c") // whoever wants to be left alone is
		s.answer = nil
		s.put([]slo.Firing{c}, nil)
		s.pass(time.Minute*10, "1m20s b resolved, c firing")
		for _, text := range s.errs {
			if strings.Contains(text, "very-secret") || strings.Contains(text, "abcdef123456") || !strings.Contains(text, "h was not told of ") {
				t.Errorf("the error is %q", text)
			}
		}
		s.Stop()
	})
}

// One alert that a receiver refuses does not keep the others from being told.
func TestRefusedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h"})
		s.answer = func(int) (int, string) {
			if strings.Contains(s.calls[len(s.calls)-1], "bad") {
				return 400, ""
			}
			return 200, ""
		}
		s.put([]slo.Firing{since("a"), since("bad"), since("c")}, nil)
		s.pass(5*time.Second, "0s a firing, bad firing, c firing", "0s a firing", "0s bad firing", "0s c firing", "3s bad firing")
		s.Stop()
	})
}

// What fires again is told again, and is over only when it is.
func TestFiresAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h"})
		a := since("a")
		s.put([]slo.Firing{a}, nil)
		s.pass(time.Minute, "0s a firing")
		s.answer = func(int) (int, string) { return 503, "" }
		s.put(nil, []slo.Firing{over(a, time.Now())})
		s.pass(500*time.Millisecond, "0s a resolved")
		a = since("a")
		s.answer = nil
		s.put([]slo.Firing{a}, nil)
		s.pass(time.Minute, "0s a firing")
		s.put(nil, []slo.Firing{over(a, time.Now())})
		s.pass(time.Minute, "0s a resolved")
		s.Stop()
	})
}

// What was over when the process ended, or while it was away, is owed.
func TestOverMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h"})
		a, b := since("a"), since("b")
		s.put([]slo.Firing{a, b}, nil)
		s.pass(time.Minute, "0s a firing, b firing")
		s.restart()
		s.put([]slo.Firing{b}, nil) // the resolution of a was noted by nobody
		s.pass(time.Minute, "0s a resolved")
		// A receiver that is new is told what fires, and not of what is over.
		s.shelf.all = map[string]json.RawMessage{}
		s.restart()
		s.put([]slo.Firing{b}, []slo.Firing{over(a, time.Now())})
		s.pass(time.Minute, "0s b firing")
		s.Stop()
	})
}

// A disk that is full keeps nobody from being told.
func TestNothingIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := staged(t, slo.NotifySpec{Webhook: "http://h"})
		s.shelf.fail = errors.New("disk full")
		a := since("a")
		s.put([]slo.Firing{a}, nil)
		s.pass(time.Minute, "0s a firing")
		if len(s.errs) == 0 || !strings.Contains(s.errs[0], "may be told twice: disk full") {
			t.Errorf("it says %q", s.errs)
		}
		s.shelf.fail = nil
		s.put([]slo.Firing{a}, nil) // kept now
		s.restart()
		s.put([]slo.Firing{a}, nil)
		s.pass(time.Minute)
		s.Stop()
	})
}

// A ledger that can't be read is kept; what fires is told again.
func TestDamagedLedger(t *testing.T) {
	for _, text := range []string{`{`, `[]`, `{}`, `{"entries":{"x":null}}`, `{"entries":{"x":{"state":"told"}}}`, "7"} {
		synctest.Test(t, func(t *testing.T) {
			s := staged(t, slo.NotifySpec{Webhook: "http://h"})
			a := since("a")
			s.put([]slo.Firing{a}, nil)
			s.pass(time.Minute, "0s a firing")
			s.shelf.all[s.Name] = json.RawMessage(text)
			s.restart()
			s.put([]slo.Firing{a}, nil)
			s.pass(time.Minute, "0s a firing")
			kept := 0
			for name, v := range s.shelf.all {
				if strings.HasPrefix(name, s.Name+".damaged-") && json.Valid(v) {
					kept++
				}
			}
			if kept != 1 || len(s.errs) != 1 || !strings.Contains(s.errs[0], "can't be read") {
				t.Errorf("%s: %d are kept, it says %q", text, kept, s.errs)
			}
			s.Stop()
		})
	}
}
