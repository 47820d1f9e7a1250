package sessions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func sessionOf(t testing.TB, path, format string) *Session {
	t.Helper()
	f, err := Open(path, format)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := f.Session(0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The example of three main turns and a sub-agent of two calls, which AIPerf
// accepts: the third turn waits for the sub-agent, and 14 of 28 blocks are hits.
func TestWeka(t *testing.T) {
	s := sessionOf(t, "testdata/weka.json", "")
	if s.ID != "ex-1" || s.Block != 64 || len(s.Calls) != 5 || len(s.Agents) != 2 || s.Agents[1].Name != "sub_001" {
		t.Fatalf("%+v", s)
	}
	want := []struct {
		agent     int
		after     []int
		gap       time.Duration
		continues int
		hits      int
	}{
		{0, nil, 0, -1, 0},
		{0, []int{0}, 1500 * time.Millisecond, 0, 4},
		{1, []int{1}, 200 * time.Millisecond, -1, 0},
		{1, []int{2}, 400 * time.Millisecond, 2, 3},
		{0, []int{1, 3}, 600 * time.Millisecond, 1, 7},
	}
	hits := s.Ideal()
	for k, w := range want {
		c := s.Calls[k]
		slices.Sort(c.After)
		if c.Agent != w.agent || !slices.Equal(c.After, w.after) || c.Gap != w.gap || c.Continues != w.continues || hits[k] != w.hits {
			t.Errorf("call %d: %+v with %d hits, want %+v", k, c, hits[k], w)
		}
	}
	if ids := s.IDs(4); !slices.Equal(ids, []uint64{0, 1, 2, 3, 4, 5, 6, 11, 12, 13}) {
		t.Errorf("the ids of the last turn are %v", ids)
	}
	whole, between := s.Path()
	if whole != 10300*time.Millisecond || between != 2700*time.Millisecond || s.Width() != 1 {
		t.Errorf("%v, of which %v waiting for tools; width %d", whole, between, s.Width())
	}
}

// Nested times count from the sub-agent's begin in one convention, from the
// session's in the other.
func TestWekaNestedTimes(t *testing.T) {
	data, err := os.ReadFile("testdata/weka.json")
	if err != nil {
		t.Fatal(err)
	}
	relative := strings.NewReplacer(`{"t":5.2,"type":"n"`, `{"t":0.0,"type":"n"`, `{"t":6.6,`, `{"t":1.4,`).Replace(string(data))
	s := sessionOf(t, write(t, "x.json", relative), "weka")
	if s.Calls[2].Start != 5200*time.Millisecond || s.Calls[3].Start != 6600*time.Millisecond {
		t.Errorf("%v and %v", s.Calls[2].Start, s.Calls[3].Start)
	}
}

// Requests that overlap run side by side; one that continues another waits for it
// whatever the clock said; what is not joined is waited for by nobody.
func TestParallel(t *testing.T) {
	s := sessionOf(t, write(t, "x.jsonl", `{"id":"p","block_size":10,"requests":[
{"t":0,"in":20,"out":5,"hash_ids":[1,2],"api_time":1},
{"t":2,"in":30,"out":5,"hash_ids":[1,2,3],"api_time":4},
{"t":3,"in":20,"out":5,"hash_ids":[1,9],"api_time":1},
{"t":5.9,"in":40,"out":5,"hash_ids":[1,2,3,4],"api_time":1},
{"t":9,"in":20,"out":5,"hash_ids":[7,8],"api_time":1}]}`), "")
	want := [][]int{nil, {0}, {0}, {1, 2}, {3}}
	for k, c := range s.Calls {
		slices.Sort(c.After)
		if !slices.Equal(c.After, want[k]) {
			t.Errorf("call %d waits for %v, want %v", k, c.After, want[k])
		}
	}
	if s.Calls[3].Gap != 0 || s.Calls[2].Gap != 2*time.Second || s.Width() != 2 {
		t.Errorf("gaps %v and %v, width %d", s.Calls[3].Gap, s.Calls[2].Gap, s.Width())
	}
}

// Block hashes of 64 bits, as SHA-256's first bytes are, to the largest there is.
func TestLargeIDs(t *testing.T) {
	s := sessionOf(t, write(t, "x.jsonl", `{"id":"p","block_size":10,"requests":[
{"t":0,"in":20,"out":5,"hash_ids":[10000000000000000000,18446744073709551615]},
{"t":2,"in":30,"out":5,"hash_ids":[10000000000000000000,18446744073709551615,0]}]}`), "")
	if c := s.Calls[1]; c.Keep != 2 || len(c.Own) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestForms(t *testing.T) {
	one := `{"id":"a","block_size":4,"requests":[{"t":0,"in":8,"out":1,"hash_ids":[1,2]}]}`
	two := strings.Replace(one, `"a"`, `"b"`, 1)
	for name, text := range map[string]string{
		"lines.jsonl": one + "\n\n" + two + "\n", "list.json": "[" + one + ",\n" + two + "]",
		"pretty.json": strings.ReplaceAll(one, ",", ",\n") + "\n" + strings.ReplaceAll(two, ",", ",\n"), "tight.jsonl": one + "\n" + two,
	} {
		f, err := Open(write(t, name, text), "")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if f.Len() != 2 {
			t.Errorf("%s: %d sessions", name, f.Len())
			continue
		}
		if s, err := f.Session(1); err != nil || s.ID != "b" {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		f.Close()
	}
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "1.json"), []byte(one), 0o600)
	os.WriteFile(filepath.Join(dir, "2.json"), []byte(two), 0o600)
	if f, err := Open(dir, ""); err != nil || f.Len() != 2 {
		t.Errorf("a folder: %+v, %v", f, err)
	}
}

func TestWekaErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"id":"a","requests":[]}`:                                                                        "no request",
		`{"id":"a","requests":[{"in":1,"out":1}]}`:                                                        `without its time`,
		`{"id":"a","requests":[{"t":-1,"in":1,"out":1}]}`:                                                 "a time of -1 s",
		`{"id":"a","requests":[{"t":0,"in":0,"out":1}]}`:                                                  "a request of 0 tokens",
		`{"id":"a","requests":[{"t":0,"in":8,"out":1,"hash_ids":[1]}]}`:                                   `no "block_size"`,
		`{"id":"a","block_size":4,"requests":[{"t":0,"in":8,"out":1,"hash_ids":[1,2,3]}]}`:                "3 hash_ids of 4 tokens each",
		`{"id":"a","block_size":4,"requests":[{"t":0,"in":8,"out":1,"hash_ids":[1.5]}]}`:                  "no whole number",
		`{"id":"a","block_size":4,"requests":[{"t":0,"in":8,"out":1,"hash_ids":[18446744073709551616]}]}`: "more than 2^64 − 1",
		`{"id":"a","hash_id_scope":"global","requests":[]}`:                                               "want local",
		`{"id":"a","requests":[{"t":0,"in":8`:                                                             "ends",
		`{"id":"a","requests":7}`:                                                                         "should come",
		`{"id":"a","requests":[{"t":0,"type":"subagent","requests":[{"t":0,"requests":[]}]}]}`:            "a sub-agent in a sub-agent",
	} {
		f, err := Open(write(t, "x.jsonl", text+"\n"), "weka")
		if err == nil {
			_, err = f.Session(0)
		}
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.jsonl") {
			t.Errorf("%s: %v, want a word about %q", text, err, want)
		}
	}
}

// FuzzSession: whatever is read, calls wait for earlier ones only, and no more is
// a hit than there is.
func FuzzSession(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.json*")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "x.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := Open(path, "")
		if err != nil {
			return
		}
		defer file.Close()
		for i := range min(file.Len(), 10) {
			s, err := file.Session(i)
			if err != nil {
				continue
			}
			checkSession(t, s)
		}
	})
}

func checkSession(t *testing.T, s *Session) {
	hits := s.Ideal()
	for k, c := range s.Calls {
		if c.Agent >= len(s.Agents) || c.Gap < 0 || c.Input < 1 || c.Output < 1 || c.Continues >= k || hits[k] < 0 || hits[k] > s.Blocks(k) {
			t.Fatalf("call %d: %+v, %d hits", k, c, hits[k])
		}
		if c.Continues >= 0 && !slices.Contains(c.After, c.Continues) {
			t.Fatalf("call %d does not wait for what it continues", k)
		}
		for _, j := range c.After {
			if j >= k {
				t.Fatalf("call %d waits for %d", k, j)
			}
		}
		if n := len(s.IDs(k)); n != s.Blocks(k) {
			t.Fatalf("call %d has %d ids", k, n)
		}
	}
	s.Width()
	s.Path()
}

// Sub-agents of one name have names of their own, however many there are; one that asked
// no model is none.
func TestManyAgentsOfOneName(t *testing.T) {
	const call = `{"t":1,"type":"n","model":"m","in":64,"out":1,"hash_ids":[1]}`
	agent := `{"t":1,"type":"subagent","agent_id":"same","subagent_type":"E","status":"completed","models":[],"requests":[` + call + `]},`
	text := `{"id":"x","models":[],"block_size":64,"hash_id_scope":"local","requests":[` + strings.Repeat(agent, 10_000) +
		strings.Replace(agent, call, "", 1) + call + `]}`
	s := sessionOf(t, write(t, "x.json", text), "")
	if len(s.Agents) != 10_001 || len(s.Calls) != 10_001 {
		t.Fatalf("%d agents, %d calls", len(s.Agents), len(s.Calls))
	}
	names := map[string]bool{}
	for _, a := range s.Agents {
		if names[a.Name] {
			t.Fatalf("two agents are named %q", a.Name)
		}
		names[a.Name] = true
	}
}
