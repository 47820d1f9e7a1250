package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tokenmeter/load/workload"
)

// 60 made sessions of chance are due exactly when their gaps say, 8 of them at a
// time: a session is a line of turns; some begin a sub-agent, which the next turn
// waits for. The server takes 1 s for each request, so the truth is a sum.
func TestManyRecordedSessions(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 2))
	var file strings.Builder
	truth := map[int64]float64{} // since the session began, by the asked length, which is each request's own
	sessions, n := 60, int64(0)
	first := map[int64]int64{} // the first request of each session, by its number
	for i := range sessions {
		recorded, played, ids, fresh := 0.0, 0.0, []string{}, 0
		var rows []string
		ask := func(at float64, of *[]string, took float64) string {
			for range 1 + src.IntN(3) {
				*of = append(*of, fmt.Sprint(fresh))
				fresh++
			}
			n++
			return fmt.Sprintf(`{"t":%.3f,"in":%d,"out":%d,"hash_ids":[%s],"api_time":%.3f}`, at, 16*len(*of)+src.IntN(16), n, strings.Join(*of, ","), took)
		}
		gap := func() float64 { return float64(src.IntN(5000)) / 1000 }
		for k := range 2 + src.IntN(6) {
			if k > 0 {
				g := gap()
				recorded, played = recorded+g, played+g
			}
			took := 0.2 + float64(src.IntN(3000))/1000
			rows = append(rows, ask(recorded, &ids, took))
			if truth[n] = played; k == 0 {
				first[n] = int64(i)
			}
			recorded, played = recorded+took, played+1
			if src.IntN(3) > 0 {
				continue
			}
			var own, nested []string
			begun := recorded
			for c := range 1 + src.IntN(3) {
				if g := gap(); c > 0 {
					recorded, played = recorded+g, played+g
				}
				took := 0.1 + float64(src.IntN(2000))/1000
				nested = append(nested, ask(recorded, &own, took))
				truth[n] = played
				recorded, played = recorded+took, played+1
			}
			rows = append(rows, fmt.Sprintf(`{"t":%.3f,"type":"subagent","agent_id":"a%d","requests":[%s]}`, begun, k, strings.Join(nested, ",")))
		}
		fmt.Fprintf(&file, `{"id":"s%d","block_size":16,"requests":[%s]}`+"\n", i, strings.Join(rows, ","))
	}
	name := t.TempDir() + "/traces.jsonl"
	if err := writeFile(name, file.String()); err != nil {
		t.Fatal(err)
	}
	work, err := workload.FromSpec("x", workload.Spec{Content: workload.Content{File: name}}, workload.Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	defer work.Close()
	f := &fake{chat: said(time.Second, func(int, body) string { return "so" })}
	res := virtual(t, f, Plan{Load: Load{Concurrency: 8, Requests: int(n), Warmup: Warmup{Off: true}}, Content: Content{Workload: work}}, nil)
	if res.err != nil || int64(len(res.records)) != n {
		t.Fatalf("%d of %d records, %v", len(res.records), n, res.err)
	}
	began := map[string]float64{}
	for _, rec := range res.records {
		if i, is := first[rec.RequestedTokens.Or(0)]; is {
			if *rec.Session != fmt.Sprint(i) {
				t.Errorf("session %s where %d should be", *rec.Session, i)
			}
			began[*rec.Session] = rec.DueS
		}
	}
	for _, rec := range res.records {
		near(t, "due since the session began", rec.DueS-began[*rec.Session], truth[rec.RequestedTokens.Or(0)])
	}
	if f.most < 8 || res.run.Tasks.OK != int64(sessions) {
		t.Errorf("at most %d at once, %+v", f.most, res.run.Tasks)
	}
}
