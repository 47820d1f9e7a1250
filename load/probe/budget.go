package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"tokenmeter/base/limitio"
	"tokenmeter/record/run"
)

// Budget is what all probes together may cost in a UTC day. 0 dollars set no bound;
// who gives no tokens gets DefaultTokens for each target.
type Budget struct {
	USD    float64 `yaml:"usd" doc:"dollars a day, by the prices that are given"`
	Tokens int64   `yaml:"tokens" doc:"tokens a day, in and out; default 3,000,000 for each target"`
}

// Check refuses a budget that is none.
func (b Budget) Check() error {
	if b.USD < 0 || b.Tokens < 0 {
		return errors.New("a number below 0")
	}
	return nil
}

// DefaultTokens is the budget of a target and day where none is given: the default
// suite takes about two thirds of it.
const DefaultTokens = 3_000_000

// mostSpent is more tokens than any day can have: a sum with them must not overflow.
const mostSpent = 1 << 53

// Spent is what a day's probes have cost so far. What was sent and not yet
// answered, or answered without a count, is in it with the most it can cost.
type Spent struct {
	Day    string  `json:"day"` // UTC, 2006-01-02
	USD    float64 `json:"usd"`
	Tokens int64   `json:"tokens"`

	Checksum string `json:"checksum,omitempty"` // of the rest; older files have none
}

// Ledger keeps a budget: what a probe may cost at most is written to its file
// before the probe is sent, so that neither a restart nor a crash lets a day's
// probes pass it. Safe for concurrent use.
type Ledger struct {
	lock  io.Closer // of the folder; nil: none was taken
	path  string
	limit Budget

	mu      sync.Mutex
	spent   Spent
	lessons map[string]lesson
}

// ErrBusy is of a folder into which another process asks.
var ErrBusy = errors.New("another process asks already, and keeps its budget in")

// OpenFolder makes the folder of probes, takes it for this process until the ledger
// is closed, and reads what was spent there. A budget without tokens gets
// DefaultTokens for each of so many targets. An error is ErrBusy, a *run.WriteError, a
// *run.ExistsError, or says what is wrong with the budget or its file.
func OpenFolder(dir string, budget Budget, targets int) (*Ledger, error) {
	lock, err := run.Hold(dir, run.ProbeFiles, true)
	var taken *run.ExistsError
	var unwritten *run.WriteError
	switch {
	case errors.As(err, &unwritten):
		unwritten.Named = true
		return nil, err
	case errors.As(err, &taken) && taken.Busy:
		return nil, fmt.Errorf("%w %s", ErrBusy, dir)
	case err != nil:
		return nil, err
	}
	budget.Tokens = cmp.Or(budget.Tokens, int64(DefaultTokens*targets))
	l, err := OpenLedger(filepath.Join(dir, run.SpentFile), budget)
	if err != nil {
		_ = lock.Close()
		return nil, err
	}
	l.lock = lock
	return l, nil
}

// Close gives the folder back.
func (l *Ledger) Close() error {
	if l.lock == nil {
		return nil
	}
	return l.lock.Close()
}

// Limit is the budget that is kept.
func (l *Ledger) Limit() Budget { return l.limit }

// OpenLedger reads what was spent so far, and what is known of targets. The file belongs to one process at a
// time; see run.LockFolder.
func OpenLedger(path string, limit Budget) (*Ledger, error) {
	if err := limit.Check(); err != nil { // it would be no bound at all
		return nil, fmt.Errorf("budget: %w", err)
	}
	lessons, err := readLessons(filepath.Join(filepath.Dir(path), lessonsFile))
	if err != nil {
		return nil, err
	}
	l := &Ledger{path: path, limit: limit, lessons: lessons}
	switch data, err := limitio.File(path, 1<<20); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if l.spent, err = readSpent(data); err != nil {
			return nil, fmt.Errorf("%s does not say what was spent: %w; mend it, or remove it after today (UTC)", path, err)
		}
		if _, err := time.Parse(time.DateOnly, l.spent.Day); err != nil || !run.Intact(data) || l.spent.USD < 0 || l.spent.Tokens < 0 || l.spent.Tokens > mostSpent {
			return nil, fmt.Errorf("%s does not say what was spent: it holds %.100q; mend it and leave its checksum out, or remove it after today (UTC)", path, data)
		}
	}
	return l, nil
}

// readSpent reads a ledger's file. What it lacks, or has under another name, is damage, as
// files from before the checksum had the same members: a budget must not begin anew by it.
func readSpent(data []byte) (Spent, error) {
	var file struct {
		Day      string   `json:"day"`
		USD      *float64 `json:"usd"`
		Tokens   *int64   `json:"tokens"`
		Checksum string   `json:"checksum"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return Spent{}, err
	}
	if file.USD == nil || file.Tokens == nil {
		return Spent{}, errors.New("it has no usd or no tokens")
	}
	return Spent{Day: file.Day, USD: *file.USD, Tokens: *file.Tokens}, nil
}

// Spent is what the day of a moment has cost so far.
func (l *Ledger) Spent(now time.Time) Spent {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	return l.spent
}

// DayToCome says that the budget is that of a day which is more than a day away, and what to
// do; empty: it isn't. A clock that was ahead began that day. What was spent since counts for
// it, and no new day begins until it is over: who puts a clock back gets no second budget.
func (l *Ledger) DayToCome(now time.Time) string {
	day := l.Spent(now).Day
	if t, err := time.Parse(time.DateOnly, day); err != nil || t.Sub(now.UTC()) < 24*time.Hour {
		return ""
	}
	return fmt.Sprintf("it is that of %s, which this machine's clock said before it was put back: remove %s tomorrow (UTC), or no day begins before that one", day, l.path)
}

// turn begins a new day. A clock that was put back begins none.
func (l *Ledger) turn(now time.Time) {
	if day := now.UTC().Format(time.DateOnly); day > l.spent.Day {
		l.spent = Spent{Day: day}
	}
}

// reserve sets aside the most that something can cost; false where the budget has
// no room for it. An error is one of writing: nothing may be sent then.
func (l *Ledger) reserve(now time.Time, usd float64, tokens int64) (day string, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	next := l.spent
	next.USD += usd
	next.Tokens += tokens
	if l.limit.USD > 0 && next.USD > l.limit.USD || l.limit.Tokens > 0 && tokens > l.limit.Tokens-l.spent.Tokens {
		return "", false, nil
	}
	if err := l.write(next); err != nil {
		return "", false, err
	}
	l.spent = next
	return next.Day, true, nil
}

// correct replaces what was set aside on a day by what it was: both are
// differences to it. What belongs to a day that is over changes nothing.
func (l *Ledger) correct(day string, usd float64, tokens int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if day != l.spent.Day {
		return nil
	}
	next := Spent{Day: day, USD: max(l.spent.USD+usd, 0), Tokens: max(l.spent.Tokens+tokens, 0)}
	if err := l.write(next); err != nil {
		return err
	}
	l.spent = next
	return nil
}

func (l *Ledger) write(s Spent) error {
	var err error
	if s.Checksum, err = run.Seal(s); err != nil {
		return err
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return run.ReplaceFile(l.path, func(f *os.File) error {
		_, err := io.WriteString(f, string(data)+"\n")
		return err
	})
}
