package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
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

// The kinds of fault besides HTTP statuses; Faults says what each does.
const (
	FaultReset       = "reset"
	FaultCut         = "cut"
	FaultNoFinish    = "no_finish"
	FaultStall       = "stall"
	FaultError       = "error"
	FaultErrorDone   = "error_done"
	FaultSplit       = "split"
	FaultSlowHead    = "slow_head"
	FaultEmpty       = "empty"
	FaultNoDone      = "no_done"
	FaultPing        = "ping"
	FaultClose       = "close"
	FaultCloseSilent = "close_silent"
	FaultMalformed   = "malformed"
	FaultBurst       = "burst"
	FaultHang        = "hang"
	FaultDrop        = "drop"
	FaultHTML        = "html"
	FaultRunaway     = "runaway"
)

// FaultKind explains a kind of fault.
type FaultKind struct {
	Name string
	Does string
	For  time.Duration // how long it lasts where nothing is said; 0: it has no duration
}

// Faults lists the kinds besides HTTP statuses, in the order of the help.
var Faults = []FaultKind{
	{FaultReset, "a TCP reset in the middle of the stream", 0},
	{FaultCut, "the connection closes without the end of the body", 0},
	{FaultNoFinish, "the body ends cleanly, but neither finish_reason nor [DONE] came", 0},
	{FaultStall, "a pause in the stream; negative: for ever", 2 * time.Second},
	{FaultError, "an error event inside the stream, whose status was 200, then the end", 0},
	{FaultErrorDone, "the same, followed by [DONE]", 0},
	{FaultSplit, "every write comes in two pieces, so far apart", time.Millisecond},
	{FaultSlowHead, "half of the response's head, and the rest so much later", 500 * time.Millisecond},
	{FaultEmpty, "a reply without any token", 0},
	{FaultNoDone, "the stream ends without [DONE]", 0},
	{FaultPing, "comment lines, so far apart", 100 * time.Millisecond},
	{FaultClose, "Connection: close after the reply", 0},
	{FaultCloseSilent, "closed after the reply, though keep-alive was promised", 0},
	{FaultMalformed, "an event whose data is no JSON", 0},
	{FaultBurst, "all tokens are held back and delivered at once at the end", 0},
	{FaultHang, "the request is read and never answered", 0},
	{FaultDrop, "the connection is closed before any answer", 0},
	{FaultHTML, "status 200 and a web page", 0},
	{FaultRunaway, "max_tokens is ignored: ten times as many tokens come", 0},
}

// faultKind finds a kind by its name.
func faultKind(name string) (FaultKind, bool) {
	i := slices.IndexFunc(Faults, func(k FaultKind) bool { return k.Name == name })
	if i < 0 {
		return FaultKind{}, false
	}
	return Faults[i], true
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
	if _, ok := faultKind(f.Kind); !ok && f.status() == 0 {
		return fmt.Errorf("sim: unknown fault %q: a status such as 429, or one of %s", f.Kind, faultNames())
	}
	if f.For > longest || f.For < 0 && f.Kind != FaultStall {
		return fmt.Errorf("sim: fault %s lasts %v: give a time between 0 and %v", f.Kind, f.For, longest)
	}
	if !(f.Rate >= 0 && f.Rate <= 1) {
		return fmt.Errorf("sim: rate of fault %s is %v: give a share between 0 and 1", f.Kind, f.Rate)
	}
	return nil
}

func faultNames() string {
	names := make([]string, len(Faults))
	for i, k := range Faults {
		names[i] = k.Name
	}
	return strings.Join(names, ", ")
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
	if kind, ok := faultKind(f.Kind); ok && f.For == 0 {
		f.For = kind.For
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
