package control

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tokenmeter/record/run"
)

// writeFiles makes files of three bytes, some of an hour ago.
func writeFiles(t *testing.T, dir string, now time.Time, names ...string) {
	t.Helper()
	for _, name := range names {
		old := name[0] == '-'
		if old {
			name = name[1:]
		}
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("abc"), 0o666); err != nil {
			t.Fatal(err)
		}
		at := now
		if old {
			at = now.Add(-time.Hour)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// The names are those that vLLM, SGLang, nsys and ncu give.
func TestProfileFiles(t *testing.T) {
	now := time.Now()
	traces, dir := t.TempDir(), t.TempDir()
	writeFiles(t, traces, now, "rank0.1764449864.pt.trace.json.gz", "node/1764449864.2-TP-0.trace.json.gz", "-rank0.1700000000.pt.trace.json.gz",
		"profiler_out_0.txt", "out.nsys-rep", "k.ncu-rep", "out.sqlite")
	writeFiles(t, dir, now, "profile/fetched.trace.json", "profile/notes.txt", "other.trace.json")
	for name, c := range map[string]struct {
		files string
		want  []string
	}{
		"fetched by a command": {"", []string{"profile/fetched.trace.json"}},
		"a folder": {traces, []string{"profile/fetched.trace.json", filepath.Join(traces, "k.ncu-rep"), filepath.Join(traces, "node/1764449864.2-TP-0.trace.json.gz"),
			filepath.Join(traces, "out.nsys-rep"), filepath.Join(traces, "rank0.1764449864.pt.trace.json.gz")}},
		"a file of any name":         {filepath.Join(traces, "out.sqlite"), []string{"profile/fetched.trace.json", filepath.Join(traces, "out.sqlite")}},
		"only the server reaches it": {"/nowhere/on/this/machine", []string{"profile/fetched.trace.json"}},
		"what both name is one":      {filepath.Join(dir, "profile"), []string{"profile/fetched.trace.json"}},
	} {
		t.Run(name, func(t *testing.T) {
			ctl := &Control{plan: Plan{ProfileFiles: c.files}}
			ctl.point.Dir = dir
			var got []string
			for _, f := range ctl.find(now) {
				got = append(got, f.Path)
				if f.Bytes != 3 {
					t.Errorf("%s has %d bytes", f.Path, f.Bytes)
				}
			}
			if len(got) != len(c.want) {
				t.Fatalf("found %q, want %q", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("found %q, want %q", got[i], c.want[i])
				}
			}
		})
	}
	if found := (&Control{plan: Plan{ProfileFiles: traces}}).find(now.Add(time.Hour)); found != nil {
		t.Errorf("files from before the profiler began: %+v", found)
	}
}

// The files that a command after the point fetches are in run.json.
func TestProfileFetchedAfterThePoint(t *testing.T) {
	ctx := context.Background()
	e := &engine{owner: "vllm", knows: map[string]int{"/start_profile": 200, "/stop_profile": 200}}
	ctl, p := controlOf(t, e, Plan{Profile: true, ProfileFiles: "/on/the/server"})
	if err := ctl.Before(ctx, p); err != nil {
		t.Fatal(err)
	}
	if err := ctl.Measure(ctx, func() int64 { return 0 }); err != nil {
		t.Fatal(err)
	}
	if err := ctl.Measured(ctx); err != nil {
		t.Fatal(err)
	}
	writeFiles(t, p.Dir, time.Now(), "profile/rank0.trace.json.gz")
	acts, _ := ctl.Acts()
	if len(acts) != 1 || acts[0].Files != "/on/the/server" || len(acts[0].Found) != 1 || acts[0].Found[0] != (run.ProfileFile{Path: "profile/rank0.trace.json.gz", Bytes: 3}) {
		t.Errorf("%+v", acts)
	}
}
