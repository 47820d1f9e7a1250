package run_test

import (
	"fmt"
	"log"
	"os"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// Recording requests and reading them again.
func Example() {
	dir, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	manifest := run.Run{Name: "example", Target: run.Target{Model: "m"}}
	w, err := run.Create(dir, manifest, run.Options{})
	if err != nil {
		log.Fatal(err)
	}
	tl := timeline.New()
	tl.Streamed, tl.Outcome = true, timeline.OK
	for _, at := range []int64{214_000, 234_000, 254_000} {
		tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 1, Read: at})
	}
	tl.Usage.Output = timeline.Some(int64(3))
	if err := w.Append(tl); err != nil {
		log.Fatal(err)
	}
	if _, err := w.Finish(manifest); err != nil {
		log.Fatal(err)
	}

	f, err := run.Open(dir)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for rec, err := range f.Records() {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Outcome, rec.TTFTMS.Or(0), rec.TPOTMS.Or(0))
	}
	// Output: ok 214 20
}
