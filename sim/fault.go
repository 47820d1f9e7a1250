package sim

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Fault is one way to go wrong. Several may befall one request.
type Fault struct {
	Kind string // one of the constants, or an HTTP status such as "429"
	Rate float64
	// After is how many tokens are delivered before the fault; −1: drawn.
	After int
	// For is how long it lasts, where that means something; 0: the kind's default.
	For time.Duration
}

// The kinds of fault besides HTTP statuses.
const (
	FaultReset       = "reset"        // TCP reset in the middle of the stream
	FaultCut         = "cut"          // connection closed without the end of the body
	FaultNoFinish    = "no_finish"    // body ends cleanly, but no finish_reason and no [DONE] came
	FaultStall       = "stall"        // a pause of For (2 s); negative: for ever
	FaultError       = "error"        // an error event inside the 200 stream, then the end
	FaultErrorDone   = "error_done"   // the same, followed by [DONE]
	FaultSplit       = "split"        // every write in two pieces, For (1 ms) apart
	FaultSlowHead    = "slow_head"    // half a head, the rest For (500 ms) later
	FaultEmpty       = "empty"        // a reply without any token
	FaultNoDone      = "no_done"      // the stream ends without [DONE]
	FaultPing        = "ping"         // comment lines every For (100 ms)
	FaultClose       = "close"        // Connection: close after the reply
	FaultCloseSilent = "close_silent" // closed after the reply though keep-alive was promised
	FaultMalformed   = "malformed"    // an event whose data is no JSON
	FaultBurst       = "burst"        // all tokens held back and delivered at once at the end
	FaultHang        = "hang"         // the request is read and never answered
	FaultDrop        = "drop"         // the connection is closed before any answer
	FaultHTML        = "html"         // status 200 and a web page
	FaultRunaway     = "runaway"      // max_tokens is ignored: ten times as many tokens
)

// faultFor is the default duration of the kinds that last.
var faultFor = map[string]time.Duration{
	FaultReset: 0, FaultCut: 0, FaultNoFinish: 0, FaultStall: 2 * time.Second,
	FaultError: 0, FaultErrorDone: 0, FaultSplit: time.Millisecond,
	FaultSlowHead: 500 * time.Millisecond, FaultEmpty: 0, FaultNoDone: 0,
	FaultPing: 100 * time.Millisecond, FaultClose: 0, FaultCloseSilent: 0,
	FaultMalformed: 0, FaultBurst: 0, FaultHang: 0, FaultDrop: 0, FaultHTML: 0, FaultRunaway: 0,
}

// longest bounds the times a request or a fault may ask for.
const longest = 24 * time.Hour

// status is the HTTP status a fault stands for, or 0.
func (f Fault) status() int {
	n, err := strconv.Atoi(f.Kind)
	if err != nil || n < 400 || n > 599 {
		return 0
	}
	return n
}

func (f Fault) validate() error {
	if _, ok := faultFor[f.Kind]; !ok && f.status() == 0 {
		return fmt.Errorf("sim: unknown fault %q: a status such as 429, or one of %s", f.Kind, strings.Join(FaultKinds(), ", "))
	}
	if f.For > longest || f.For < 0 && f.Kind != FaultStall {
		return fmt.Errorf("sim: fault %s lasts %v: give a time between 0 and %v", f.Kind, f.For, longest)
	}
	if !(f.Rate >= 0 && f.Rate <= 1) {
		return fmt.Errorf("sim: rate of fault %s is %v: give a share between 0 and 1", f.Kind, f.Rate)
	}
	return nil
}

// FaultKinds lists the kinds of fault in a fixed order.
func FaultKinds() []string {
	return []string{FaultReset, FaultCut, FaultNoFinish, FaultStall, FaultError, FaultErrorDone, FaultSplit,
		FaultSlowHead, FaultEmpty, FaultNoDone, FaultPing, FaultClose, FaultCloseSilent, FaultMalformed,
		FaultBurst, FaultHang, FaultDrop, FaultHTML, FaultRunaway}
}

// ParseFault reads "kind=rate" with optional ":after=N" and ":for=D", as on a
// command line: "stall=0.02:after=10:for=3s".
func ParseFault(text string) (Fault, error) {
	head, rest, _ := strings.Cut(text, ":")
	kind, rate, ok := strings.Cut(head, "=")
	f := Fault{Kind: strings.TrimSpace(kind), Rate: 1, After: -1}
	if ok {
		v, err := strconv.ParseFloat(strings.TrimSuffix(rate, "%"), 64)
		if err != nil {
			return f, fmt.Errorf("sim: fault %q: rate %q is no number: write kind=0.01 or kind=1%%", text, rate)
		}
		if strings.HasSuffix(rate, "%") {
			v /= 100
		}
		f.Rate = v
	}
	for _, part := range strings.Split(rest, ":") {
		if part == "" {
			continue
		}
		key, value, _ := strings.Cut(part, "=")
		if err := f.set(key, value); err != nil {
			return f, fmt.Errorf("sim: fault %q: %w", text, err)
		}
	}
	return f, f.validate()
}

func (f *Fault) set(key, value string) (err error) {
	switch key {
	case "after":
		f.After, err = strconv.Atoi(value)
	case "for":
		f.For, err = time.ParseDuration(value)
	default:
		err = fmt.Errorf("unknown option %q: after or for", key)
	}
	return err
}

// drawFaults decides which faults befall one request of n tokens.
func drawFaults(rates []Fault, n int, rng *rand.Rand) []Fault {
	var hit []Fault
	for _, f := range rates {
		// Both draws are always made, so that one rate does not move another's luck.
		u, v := rng.Float64(), rng.Float64()
		if u < f.Rate {
			hit = append(hit, f.settle(n, v))
		}
	}
	return hit
}

// settle fills in what a fault leaves to chance or default.
func (f Fault) settle(n int, u float64) Fault {
	if f.After < 0 {
		f.After = min(1+int(u*float64(n-1)), max(n-1, 0))
	}
	if f.Kind == FaultEmpty {
		f.After = 0
	}
	if f.For == 0 {
		f.For = faultFor[f.Kind]
	}
	if f.Kind == FaultPing {
		f.For = max(f.For, time.Millisecond)
	}
	return f
}

func findFault(fs []Fault, kind string) *Fault {
	for i := range fs {
		if fs[i].Kind == kind {
			return &fs[i]
		}
	}
	return nil
}
