package daemon

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tokenmeter/load/probe"
	"tokenmeter/record/run"
	"tokenmeter/service/traffic"
)

const probing = `
probes:
  folder: %DIR%
  targets: [{upstream: a, model: m}]
  suite: [{name: often, input: 60, output: 20, per_day: 1440}]
`

// The daemon asks at times of the day. What it asked is a probe in all that is told
// of requests, is in run folders of a day each, and no user's.
func TestProbes(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(24*time.Hour - 10*time.Minute) // the virtual clock begins at midnight (UTC)
		w := begin(t, file(`{name: m, listen: "front:1"}`, allRoutes+"store: "+filepath.Join(t.TempDir(), "s.db")+strings.ReplaceAll(probing, "%DIR%", dir)))
		time.Sleep(20 * time.Minute)
		_, page, err := w.get("localhost:2", get("/metrics"))
		if err != nil || !strings.Contains(page, `source="probe"`) || strings.Contains(page, `source="live",status`) {
			t.Errorf("%v: %.2000s", err, page)
		}
		w.stop()
		<-w.ended
		w.ended <- nil
		w.mu.Lock()
		defer w.mu.Unlock()
		if len(w.seen) < 10 {
			t.Fatalf("%d requests", len(w.seen))
		}
		for i, r := range w.seen {
			if r.Labels.Source != traffic.Probe || r.Labels.Upstream != "a" || r.Labels.Model != "m" || r.Class != "often" {
				t.Fatalf("%+v", r.Labels)
			}
			if at := r.At.Add(time.Duration(r.CloseUS.Or(0)) * time.Microsecond); i > 0 && r.At.Sub(w.seen[i-1].At) > 3*time.Minute || at.After(time.Now()) {
				t.Errorf("request %d at %v", i, r.At)
			}
			if !r.Outcome.Cancelled() && r.Record.TTFTMS.Or(0) != 1000 {
				t.Fatalf("%v ms", r.Record.TTFTMS)
			}
		}
	})
	folders, _ := filepath.Glob(dir + "/*/*")
	if len(folders) < 2 {
		t.Fatalf("%q", folders)
	}
	for _, name := range folders {
		f, err := run.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if m := f.Run(); m.Tags["source"] != "probe" || m.Requests.OK == 0 || m.Finished == nil {
			t.Errorf("%s: %+v", name, m.Requests)
		}
		f.Close()
	}
	if l, err := probe.OpenLedger(dir+"/spent.json", probe.Budget{}); err != nil || l.Spent(time.Time{}).Tokens == 0 {
		t.Errorf("%v", err)
	}
}

// A key that is replaced while the daemon runs is the probes' too, in the same run
// folder and on the days after; another address or suite counts after a restart, and
// no key is sent to an address that it was not given for.
func TestProbesTakeNewKeys(t *testing.T) {
	dir := t.TempDir()
	config := func(url, key, suite string) string {
		return fmt.Sprintf(`listeners: [{name: m, listen: "front:1", open: true}]
upstreams: [{name: a, url: %q, key_env: %s}]
probes: {folder: %s, targets: [{upstream: a, model: m}], suite: [{name: %s, input: 60, output: 20, per_day: 1440}]}
`, url, key, dir, suite) + allRoutes
	}
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		shown := map[string]int{}
		time.Sleep(24*time.Hour - 15*time.Minute) // the virtual clock begins at midnight (UTC)
		w := begin(t, config("http://keyed:1", "OLD", "often"))
		ln, _ := w.net.listen("tcp", "keyed:1")
		server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost { // the daemon asks what the server is, too
				mu.Lock()
				shown[r.Header.Get("Authorization")+" "+r.Header.Get(probe.Header)]++
				mu.Unlock()
			}
			upstream(rw, r)
		})}
		go func() { _ = server.Serve(ln) }()
		defer server.Close()
		until := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(time.Minute) // what is being asked ends
			mu.Lock()
			clear(shown)
			mu.Unlock()
			time.Sleep(d)
			mu.Lock()
			defer mu.Unlock()
			if len(shown) != 1 || shown[want+" 1"] == 0 {
				t.Errorf("asked with %v, want %s", shown, want)
			}
		}
		until(10*time.Minute, "Bearer token-OLD")
		w.change(config("http://keyed:1", "NEW", "often"))
		if strings.Contains(w.logged(), "until a restart") {
			t.Error(w.logged())
		}
		until(10*time.Minute, "Bearer token-NEW")
		w.change(config("http://keyed:1", "NEWER", "other"))
		if strings.Count(w.logged(), "until a restart") != 1 {
			t.Error(w.logged())
		}
		until(10*time.Minute, "Bearer token-NEWER")
		w.change(config("http://elsewhere:1", "LAST", "often"))
		if strings.Count(w.logged(), "until a restart") != 2 || strings.Contains(w.logged(), "token-") {
			t.Error(w.logged())
		}
		until(10*time.Minute, "Bearer token-NEWER")
		w.stop()
		<-w.ended
		w.ended <- nil
	})
	if folders, _ := filepath.Glob(dir + "/*/*"); len(folders) != 2 {
		t.Errorf("%q: want one for each day", folders)
	}
}

// Mistakes are told with their place, before anything is opened.
func TestProbesThatCanNotBe(t *testing.T) {
	base := file(`{name: m, listen: "front:1"}`, allRoutes)
	for text, want := range map[string]string{
		"probes: {folder: x, targets: [{upstream: b, model: m}]}":                                       `no upstream is called "b"`,
		"probes: {folder: x, targets: []}":                                                              "at least one target",
		"probes: {folder: x, targets: [{upstream: a, model: m, api: nope}]}":                            "nope",
		"probes: {folder: x, targets: [{upstream: a, model: m}, {upstream: a, model: m}]}":              "is there already",
		"probes: {folder: x, targets: [{upstream: a, model: m}], suite: [{name: a, per_day: 1000000}]}": "per_day is 1000000",
		"probes: {folder: x, targets: [{upstream: a, model: m}], budget: {usd: -1}}":                    "below 0",
	} {
		_, err := Parse("t.yaml", []byte(base+text+"\n"), os.LookupEnv)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "t.yaml:") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
