package historytest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tokenmeter/service/slo"
	"tokenmeter/service/slo/history"
)

const killFlush = 20 * time.Millisecond

// child is the environment variable that makes a test's process the one that is
// killed: it writes the store that it names.
const child = "HISTORY_KILL_CHILD"

// OpenAt opens the store in a place, for writing.
type OpenAt func(place string) (history.Store, error)

// Main is what the TestMain of a package with a test of Killed exits with.
func Main(m *testing.M, open OpenAt) (code int) {
	if place := os.Getenv(child); place != "" {
		fmt.Println("failed", countUntilKilled(place, open))
		return 1
	}
	return m.Run()
}

// countUntilKilled counts as fast as it can, and says what it counted and what
// was written.
func countUntilKilled(place string, open OpenAt) error {
	d, err := open(place)
	if err != nil {
		return err
	}
	r, err := history.NewRecorder(context.Background(), d, nil, time.Now(), slo.Live)
	if err != nil {
		return err
	}
	k := slo.Key{Hash: "a", Source: slo.Live}
	counted := r.Totals()[k].Valid
	fmt.Println("begin", counted)
	flushed := time.Now()
	for {
		for range 50 {
			counted++
			r.Count(slo.Increment{Key: k, At: time.Now(), Counts: slo.Counts{Good: counted % 3 / 2, Valid: 1}})
			r.Observe("ttft?source=live", time.Now(), float64(counted%100))
		}
		fmt.Println("counted", counted)
		if time.Since(flushed) >= killFlush {
			flushed = time.Now()
			before := counted
			if err := r.Flush(context.Background(), time.Now()); err != nil {
				return err
			}
			fmt.Println("written", before)
		}
		time.Sleep(100 * time.Microsecond)
	}
}

// Killed holds a store to this: a process that is killed at any moment loses what
// it counted since the last write and nothing else. No count is wrong, none is
// there twice.
func Killed(t *testing.T, place string, open OpenAt) {
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	var before int64
	for round := range rounds {
		begun, counted, written := round1(t, place, 30*time.Millisecond+time.Duration(random.Int64N(int64(150*time.Millisecond))), round == 0)
		if begun != before {
			t.Fatalf("round %d began at %d, the store had %d", round, begun, before)
		}
		d, err := open(place)
		if err != nil {
			t.Fatal(err)
		}
		totals, err := d.Totals(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		total := totals[slo.Key{Hash: "a", Source: slo.Live}]
		var sum slo.Counts
		if err := d.Cells(t.Context(), time.Unix(0, 0), time.Now().Add(time.Hour), func(c history.Cell) error {
			sum = sum.Plus(c.Counts)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		sketch, err := d.Sketch(t.Context(), "ttft?source=live", time.Unix(0, 0), time.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		d.Close()
		if sketch.Len() != total.Valid {
			t.Fatalf("round %d: the sketch has %d values, the counter %d", round, sketch.Len(), total.Valid)
		}
		// The line that says it may be lost in the pipe, by one loop.
		if total.Valid < written || total.Valid > counted+50 {
			t.Fatalf("round %d: the store has %d; %d were acknowledged, %d counted", round, total.Valid, written, counted)
		}
		if sum != total {
			t.Fatalf("round %d: cells sum up to %+v, the total is %+v", round, sum, total)
		}
		before = total.Valid
	}
	if before == 0 {
		t.Error("nothing was written in any round")
	}
	t.Logf("%d rounds, %d counts", rounds, before)
}

// round1 lets a child count and kills it some time after it began, or where
// something is to be there for certain, after its first write.
func round1(t *testing.T, place string, after time.Duration, writes bool) (begun, counted, written int64) {
	t.Helper()
	process := exec.Command(os.Args[0])
	process.Env = append(os.Environ(), child+"="+place)
	out, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	start := sync.OnceFunc(func() { time.AfterFunc(after, func() { _ = process.Process.Kill() }) })
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF || err != nil {
			break
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, _ := strconv.ParseInt(rest, 10, 64)
		switch word {
		case "begin":
			begun, counted, written = n, n, n
			if !writes {
				start()
			}
		case "counted":
			counted = n
		case "written":
			written = n
			start()
		default:
			t.Errorf("the child says %q", line)
		}
	}
	_ = process.Wait() // it was killed
	return begun, counted, written
}
