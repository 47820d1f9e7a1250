package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
)

// Of a long reply the first arrivals are written and the gaps beyond counted;
// the figures are those of all, of requests outside the sample too.
func TestRowOfALongReply(t *testing.T) {
	const tokens = 6000
	for _, kept := range []bool{true, false} {
		tl := timeline.New()
		tl.Streamed, tl.Outcome = true, timeline.OK
		metric.KeepFirst(tl, traffic.MostArrivals)
		for i := range tokens {
			tl.Events.Append(timeline.Event{AtUS: 100_000 + 20_000*int64(i), Kind: timeline.Text, Bytes: 4, Read: int64(i)})
		}
		tl.Events.Seal()
		tl.Flags |= timeline.ArrivalsCapped
		data, err := json.Marshal(rowOf(&traffic.Request{Timeline: tl, Record: metric.ScalarsOf(tl), Kept: kept}))
		if err != nil {
			t.Fatal(err)
		}
		var row struct {
			TTFT   float64      `json:"ttft_ms"`
			TPOT   float64      `json:"tpot_ms"`
			E2E    float64      `json:"e2e_ms"`
			Chunks int          `json:"chunks"`
			Flags  []string     `json:"flags"`
			At     []int64      `json:"ev_us"`
			Kinds  []string     `json:"ev_kind"`
			Beyond traffic.Gaps `json:"ev_gaps_beyond"`
		}
		if err := json.Unmarshal(data, &row); err != nil {
			t.Fatal(err)
		}
		if row.TTFT != 100 || row.TPOT != 20 || row.E2E != 100+20*(tokens-1) || row.Chunks != tokens {
			t.Errorf("ttft %v, tpot %v, e2e %v, %d chunks", row.TTFT, row.TPOT, row.E2E, row.Chunks)
		}
		capped := false
		for _, f := range row.Flags {
			capped = capped || f == "arrivals_capped"
		}
		arrivals, beyond := traffic.MostArrivals, traffic.Gaps{14: tokens - traffic.MostArrivals}
		if !kept {
			arrivals, beyond = 0, traffic.Gaps{}
		}
		if !capped || len(row.At) != arrivals || len(row.Kinds) != arrivals || row.Beyond != beyond {
			t.Errorf("kept %v: flags %v, %d arrivals, beyond %v", kept, row.Flags, len(row.At), row.Beyond)
		}
	}
}

// disk is a file on a disk that can be full.
type disk struct {
	mu   sync.Mutex
	text bytes.Buffer
	room int
}

func (d *disk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := min(len(p), d.room)
	d.text.Write(p[:n])
	if d.room -= n; n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (d *disk) Close() error { return nil }

func (d *disk) full(room int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.room = room
}

// A disk that is full for a while costs the rows of that time, which are
// counted, and no others.
func TestRecordsOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 1 << 30}
		r := newRecords(d, false)
		put := func(id string) {
			tl := timeline.New()
			tl.ID = id
			r.Done(&traffic.Request{Timeline: tl, Record: metric.ScalarsOf(tl)})
			synctest.Wait()
		}
		put("first")
		d.full(100)
		put("lost-1")
		put("lost-2")
		d.full(1 << 30)
		put("last")
		dropped, err := r.Close()
		if dropped != 2 || err == nil || r.Dropped() != 2 {
			t.Errorf("%d dropped, %v", dropped, err)
		}
		whole := ""
		for line := range strings.SplitSeq(d.text.String(), "\n") {
			var row struct{ ID string }
			if json.Unmarshal([]byte(line), &row) == nil {
				whole += row.ID + " "
			}
		}
		if whole != "first last " {
			t.Errorf("rows %q in\n%s", whole, d.text.String())
		}
	})
}

// A file whose last line was cut, as by kill -9, loses that line and no other.
func TestRecordsAfterACutLine(t *testing.T) {
	for before, want := range map[string]string{
		"":                              "new\n",
		"{\"id\":\"old\"}\n":            "old\nnew\n",
		"{\"id\":\"old\"}\n{\"id\":\"c": "old\ncut\nnew\n",
		"{\"id\":\"c":                   "cut\nnew\n",
		"{\"id\":\"old\"}":              "old\nnew\n",
	} {
		path := filepath.Join(t.TempDir(), "records.jsonl")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenRecords(path)
		if err != nil {
			t.Fatal(err)
		}
		tl := timeline.New()
		tl.ID = "new"
		r.Done(&traffic.Request{Timeline: tl, Record: metric.ScalarsOf(tl)})
		if dropped, err := r.Close(); dropped != 0 || err != nil {
			t.Errorf("%d dropped, %v", dropped, err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for line := range strings.Lines(string(data)) {
			var row struct{ ID string }
			if json.Unmarshal([]byte(line), &row) != nil {
				row.ID = "cut"
			}
			got += row.ID + "\n"
		}
		if got != want {
			t.Errorf("after %q: %q, want %q", before, got, want)
		}
	}
}

// gated is a disk that waits for the word at every write.
type gated struct {
	disk
	gate chan struct{}
}

func (g *gated) Write(p []byte) (int, error) {
	<-g.gate
	return g.disk.Write(p)
}

// Every row is in the file or counted, never both, wherever the disk was full.
func TestRecordsCountWhatIsNotThere(t *testing.T) {
	for _, room := range []int{0, 10, 30_000, 100_000, 150_000, 250_000} {
		synctest.Test(t, func(t *testing.T) {
			d := &gated{disk: disk{room: room}, gate: make(chan struct{})}
			r := newRecords(d, false)
			const rows = 300
			for i := range rows {
				tl := timeline.New()
				tl.ID = strings.Repeat("x", 3*i)
				r.Done(&traffic.Request{Timeline: tl, Record: metric.ScalarsOf(tl)})
				if i == 0 {
					synctest.Wait() // it is written alone, the others in full pieces
				}
			}
			for range 5 {
				d.gate <- struct{}{}
			}
			synctest.Wait()
			d.full(1 << 30)
			close(d.gate)
			dropped, _ := r.Close()
			there := int64(0)
			for line := range strings.SplitSeq(d.text.String(), "\n") {
				var row struct{ Source string }
				if json.Unmarshal([]byte(line), &row) == nil && row.Source == "" {
					there++
				}
			}
			if there+dropped != rows || dropped == 0 {
				t.Errorf("room for %d: %d rows are there, %d are counted as lost", room, there, dropped)
			}
		})
	}
}

// A pipe whose reader has stopped ends nobody's wait, but for the end's: what it did not take
// by then is counted.
func TestRecordsIntoAStalledPipe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, _ := net.Pipe()
		r := newRecords(ours, false)
		for range 3 {
			tl := timeline.New()
			r.Done(&traffic.Request{Timeline: tl, Record: metric.ScalarsOf(tl)})
		}
		began := time.Now()
		dropped, err := r.Close()
		if took := time.Since(began); dropped != 3 || !errors.Is(err, os.ErrDeadlineExceeded) || took > 2*lastWrites {
			t.Errorf("%d dropped, %v, after %v", dropped, err, took)
		}
	})
}
