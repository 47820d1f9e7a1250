package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tokenmeter/base/config"
	"tokenmeter/load/workload/sessions"
	"tokenmeter/wire/api"
	"tokenmeter/wire/tokens"
)

func load(t testing.TB, path string, opt Options) *Loaded {
	t.Helper()
	if opt.Tokenizer == nil {
		opt.Tokenizer = func(name string) (Tokenizer, error) { return tokens.ByName(name) }
	}
	l, err := Load(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func yaml(t testing.TB, text string, opt Options) *Loaded {
	t.Helper()
	if opt.Tokenizer == nil {
		opt.Tokenizer = func(name string) (Tokenizer, error) { return tokens.ByName(name) }
	}
	l, err := FromYAML("testdata/x.yaml", []byte(text), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

// Shares hold: the count of each class is within 4 standard deviations.
func TestMixSharesHold(t *testing.T) {
	l := load(t, "testdata/mix.yaml", Options{Seed: 3, Salt: "s"})
	const n = 8000
	count := map[string]int{}
	for i := range int64(n) {
		count[l.class(i).name]++
	}
	for name, share := range map[string]float64{"plain": 3, "talk": 2, "agent": 1, "seen": 1, "heard": 1} {
		p := share / 8
		if d := float64(count[name]) - n*p; d*d > 16*n*p*(1-p) {
			t.Errorf("%s: %d of %d, want about %v", name, count[name], n, n*p)
		}
	}
}

// of returns the first n items of a class.
func of(l *Loaded, class string, n int) (items []Item) {
	for i := int64(0); len(items) < n; i++ {
		if l.class(i).name == class {
			items = append(items, l.Item(i))
		}
	}
	return items
}

// Users who hang up or read slowly are told in the words of the file, of a mix by class.
func TestUsersAreTold(t *testing.T) {
	for file, want := range map[string]string{
		"input: 5":                                 "",
		"input: 5\nleave: {share: 0, after: 3s}":   "",
		"input: 5\nleave: {share: 50%, tokens: 4}": "50 % leave after 4 pieces of text",
		"input: 5\nleave: {share: 7%, after: 'uniform:1s,3s', tokens: 'uniform:5,9'}":                                                                                          "7 % leave after uniform:1s,3s or uniform:5,9 pieces of text",
		"input: 5\nleave: {share: 0.05, after: 3s}\nslow: {share: 1%, bytes_per_s: 2000}":                                                                                      "5 % leave after 3s, 1 % read 2000 bytes/s",
		"mix: [{name: a, share: 1, input: 5}, {name: b, share: 1, input: 5, leave: {share: 5%, after: 3s}}, {name: c, share: 1, input: 5, slow: {share: 2%, bytes_per_s: 9}}]": "b: 5 % leave after 3s; c: 2 % read 9 bytes/s",
	} {
		if got := yaml(t, file, Options{}).Info().Users; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestClassesOfAMix(t *testing.T) {
	l := load(t, "testdata/mix.yaml", Options{Seed: 3, Salt: "s"})
	for _, it := range of(l, "plain", 50) {
		in, out := it.InputTokens.Or(0), it.MaxTokens.Or(0)
		if it.Len() != 1 || it.Kind != Request || it.Extra["temperature"] != 0.2 || !(in == 64 && out == 16 || in >= 100 && in <= 200) {
			t.Errorf("plain: %d in, %d out, %v", in, out, it.Extra)
		}
	}
	left := 0
	for _, it := range of(l, "talk", 200) {
		conversation(t, &it)
		if it.LeaveAfter > 0 {
			left++
		}
	}
	if left < 70 || left > 130 {
		t.Errorf("%d of 200 first turns leave, want about half", left)
	}
	models := map[string]int{}
	for _, it := range of(l, "seen", 80) {
		models[it.Model]++
		pictures := it.Messages[0].Images
		if len(pictures) != 2 {
			t.Fatalf("%d images", len(pictures))
		}
		for _, p := range pictures {
			m, format, err := image.Decode(bytes.NewReader(p.Data))
			if err != nil || format != "png" || m.Bounds().Dx() != 33 || m.Bounds().Dy() != 17 {
				t.Fatalf("%s, %v", format, err)
			}
		}
		if bytes.Equal(pictures[0].Data, pictures[1].Data) {
			t.Error("two images are the same")
		}
	}
	if models["small"] < 45 || models["large"] < 8 || len(models) != 2 {
		t.Errorf("%v, want 3 to 1", models)
	}
	for _, it := range of(l, "heard", 3) {
		if it.Len() != 3 || it.Kind != Segments || it.ReadRate != 1000 {
			t.Fatalf("%d segments", it.Len())
		}
		for k := range 3 {
			s := it.Nth(k)
			if at, ok := s.At.Get(); !ok || at != time.Duration(k+1)*2*time.Second || len(it.Conversation(k, nil)) != 1 {
				t.Errorf("segment %d at %v", k, at)
			}
		}
	}
}

// conversation checks that a recorded history repeats what was said.
func conversation(t *testing.T, it *Item) {
	t.Helper()
	if it.Len() < 2 || it.Len() > 4 || it.Kind != Conversation {
		t.Fatalf("%d turns", it.Len())
	}
	before := it.Conversation(0, nil)
	if len(before) != 2 || before[0].Role != "system" || words2(before[0].Content) != 50 || words2(before[1].Content) != 100 {
		t.Fatalf("the first turn: %v", before)
	}
	asked := int64(150)
	for k := 1; k < it.Len(); k++ {
		now := it.Conversation(k, nil)
		if len(now) != len(before)+2 || !slices.EqualFunc(now[:len(before)], before, sameText) {
			t.Fatalf("turn %d does not go on with the one before", k)
		}
		if a := now[len(before)]; a.Role != "assistant" || words2(a.Content) != 30 || now[len(before)+1].Role != "user" || words2(now[len(before)+1].Content) != 20 {
			t.Fatalf("turn %d: %v", k, now[len(before):])
		}
		asked += 30 + 20
		if it.Nth(k).InputTokens.Or(0) != asked || it.Nth(k).Wait <= 0 {
			t.Errorf("turn %d asks for %v tokens after %v, want %d", k, it.Nth(k).InputTokens, it.Nth(k).Wait, asked)
		}
		before = now
	}
}

func words2(s string) int { return len(strings.Fields(s)) }

func TestTask(t *testing.T) {
	l := load(t, "testdata/mix.yaml", Options{Seed: 3, Salt: "s"})
	it := of(l, "agent", 1)[0]
	var got []string
	for k := range it.Len() {
		s := it.Nth(k)
		base := -1
		if b, ok := s.Continue.Get(); ok {
			base = b
		}
		got = append(got, fmt.Sprintf("%s after %v on %d +%v", s.Name, s.After, base, s.Wait))
	}
	want := []string{"plan after [] on -1 +0s", "look-1 after [0] on 0 +500ms", "look-2 after [1] on 1 +500ms",
		"look-3 after [0] on 0 +500ms", "look-4 after [3] on 3 +500ms", "answer after [2 4] on 0 +0s"}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
	// The answer goes on with the plan, and is told what both branches found.
	all := it.Conversation(5, nil)
	if len(all) != 3 || all[1].Content != it.Nth(0).Answer || !strings.Contains(all[2].Content, "Result of look-2:\n"+it.Nth(2).Answer) ||
		!strings.Contains(all[2].Content, "Result of look-4:\n"+it.Nth(4).Answer) || !strings.HasSuffix(all[2].Content, it.Nth(5).Messages[0].Content) {
		t.Errorf("%v", all)
	}
	if n := len(it.Conversation(2, nil)); n != 5 {
		t.Errorf("the second look sends %d messages, want plan, answer, look, answer, look", n)
	}
	if l.Info().Deadline != time.Minute || it.Len() != 6 {
		t.Errorf("deadline %v, size %d", l.Info().Deadline, it.Len())
	}
}

func TestLiveHistory(t *testing.T) {
	l := yaml(t, "input: 10\nturns: 3\nhistory: live", Options{})
	it := l.Item(0)
	said := it.Conversation(2, func(k int) string { return fmt.Sprintf("answer %d", k) })
	if len(said) != 5 || said[1].Content != "answer 0" || said[3].Content != "answer 1" || !l.ReadsAnswers() {
		t.Errorf("%v", said)
	}
	// Of reasoning alone: Anthropic, "all messages must have non-empty content except for the optional final assistant message".
	silent := it.Conversation(1, func(int) string { return "" })
	if len(silent) != 3 || silent[1].Role != "assistant" || silent[1].Content == "" {
		t.Errorf("%+v", silent)
	}
	if it.Nth(1).InputTokens.OK() {
		t.Error("the length of a live conversation can't be asked for")
	}
}

func TestPrefixPool(t *testing.T) {
	l := yaml(t, "input: 10\nprefix: {tokens: 100, count: 50, skew: 1}", Options{Seed: 1, Salt: "a"})
	count := map[string]int{}
	const n = 5000
	for i := range int64(n) {
		it := l.Item(i)
		if it.Messages[0].Role != "system" || words2(it.Messages[0].Content) != 100 || it.InputTokens.Or(0) != 110 {
			t.Fatalf("%v", it.Messages)
		}
		count[it.Messages[0].Content]++
	}
	var used []int
	for _, c := range count {
		used = append(used, c)
	}
	slices.Sort(used)
	slices.Reverse(used)
	// Zipf with exponent 1 over 50: the first has 1/H₅₀ = 22.2 %.
	if first := float64(used[0]) / n; len(used) < 45 || first < 0.2 || first > 0.245 {
		t.Errorf("%d prefixes, the first is used in %.1f %%", len(used), 100*first)
	}
}

// Without a salt two runs send the same; with cache_bust request every request
// begins in its own words.
func TestCacheBust(t *testing.T) {
	first := func(bust, salt string, i int64) string {
		l := yaml(t, "input: 50\ncache_bust: "+bust, Options{Salt: salt})
		return l.Item(i).Messages[0].Content
	}
	if first("run", "a", 0) == first("run", "b", 0) || first("off", "a", 0) != first("off", "b", 0) {
		t.Error("off should send the same in each run, run should not")
	}
	given := yaml(t, "file: sharegpt.json\ncache_bust: request", Options{Salt: "a"})
	a, b := given.Item(0).Messages[0].Content, given.Item(2).Messages[0].Content // the file's first, twice
	if a == b || !strings.HasSuffix(a, "How high is the tower in the old harbour?") || a[strings.IndexByte(a, '\n'):] != b[strings.IndexByte(b, '\n'):] {
		t.Errorf("%q and %q", a, b)
	}
}

// Gaps within sessions are played faster whatever the load is, so that trace goes with any
// where no times of a file are played.
func TestSpeedOfSessions(t *testing.T) {
	for _, text := range []string{
		"file: ../sessions/testdata/weka.json\nwhen: {trace: {speed: 4}}",
		"file: ../sessions/testdata/weka.json\nwhen: {trace: {}, concurrency: 2}", // which changes nothing, and is named
		"file: ../sessions/testdata/weka.json\nwhen: {trace: {speed: 4}, rate: 2, arrival: poisson}",
		"file: ../sessions/testdata/weka.json\nwhen: {trace: {speed: 4}, concurrency: 2}",
		"mix: [{name: a, share: 1, file: ../sessions/testdata/weka.json}, {name: b, share: 1, input: 1}]\nwhen: {trace: {speed: 4}, concurrency: 2}",
	} {
		yaml(t, text, Options{})
	}
	_, err := FromYAML("testdata/x.yaml", []byte("file: ../sessions/testdata/weka.json\nwhen: {trace: {from: 1s}}"), Options{})
	if err == nil || !strings.Contains(err.Error(), "no file whose times could be played") {
		t.Error(err)
	}
}

// A file of batches is read as any other.
func TestBatchesOfATrace(t *testing.T) {
	l := yaml(t, "file: mooncake.jsonl\ntime_in: ms\nblock: 512\nbatch: 2", Options{})
	if !l.Timed || len(l.Item(0).Messages) != 2 {
		t.Errorf("timed %t, %d texts", l.Timed, len(l.Item(0).Messages))
	}
}

// Everything that is wrong with a file is told at once, with its place.
func TestSpecErrors(t *testing.T) {
	text := `nmae: x
input: many
output: 5/6
corpus: klingon
turns: 0
think: soon
history: live
prefix: {tokens: 10, count: -1}
images: {width: 100000}
models: [{name: a, share: -1}]
check: {}
leave: {share: 5%}
slow: {share: 200%, bytes_per_s: 0}
task:
  steps:
    - {name: a, after: [b], input: 1}
    - {name: b, after: [a], input: x}
when: {rate: -1, stages: 1m@5, closed: true, trace: {speed: 2}}
`
	_, err := FromYAML("x.yaml", []byte(text), Options{})
	lines := strings.Split(fmt.Sprint(err), "\n")
	for _, want := range []string{
		`x.yaml:1:1: unknown field "nmae"; did you mean "name"?`,
		`x.yaml:4:1: corpus "klingon": want one of`,
		`x.yaml:5:1: length "0"`,
		`x.yaml:6:1: time "soon"`,
		`x.yaml:8:22: -1 prefixes`,
		`x.yaml:9:10: 100000 pixels`,
		`x.yaml:10:20: a share of -1`,
		`x.yaml:11:1: nothing is checked`,
		`x.yaml:12:1: when do they leave?`,
		`x.yaml:13:15: "200%" is no share`,
		`x.yaml:13:21: 0 bytes a second`,
		`x.yaml:14:1: the steps of a task have lengths of their own`,
		`x.yaml:15:3: the steps a, b wait for each other`,
		`x.yaml:18:8: rate can't be negative`,
		`x.yaml:18:46: there is no file whose times could be played`,
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, want) }) {
			t.Errorf("no line starts with %q in\n%s", want, err)
		}
	}
	for text, word := range map[string]string{
		"about: x": "input is missing",
		"input: 5\nmix: [{name: a, share: 1, input: 1}]":                                                                 "beside mix",
		"mix: [{name: a, share: 0, input: 1}, {name: a, share: 1, input: 1}]":                                            `two classes are named "a"`,
		"input: 5\nfile: lengths.csv":                                                                                    "leave one of them out",
		"mix: [{name: a, share: 1, file: mooncake.jsonl}, {name: b, share: 1, input: 1}]\nwhen: {trace: {}}":             "not as a part of a mix",
		"mix: [{name: a, share: 1, file: mooncake.jsonl}, {name: b, share: 1, file: mooncake.jsonl}]\nwhen: {trace: {}}": "not as a part of a mix",
		"file: sharegpt.json\nwhen: {trace: {}}":                                                                         "no file whose times could be played",
		"file: mooncake.jsonl\nwhen: {trace: {speed: 3}, rate: 20}":                                                      "a trace has times of its own",
		"file: mooncake.jsonl\nwhen: {trace: {}, stages: 1m@5}":                                                          "a trace has times of its own",
		"file: mooncake.jsonl\nwhen: {trace: {}, arrival: poisson}":                                                      "a trace has times of its own",
		"input: 5\nwhen: {concurrency: 4, arrival: poisson}":                                                             "belong to an open loop",
		"input: 5\nwhen: {stages: 1m@5, closed: true, burstiness: 2}":                                                    "belong to an open loop",
		"file: ../sessions/testdata/weka.json\nsystem: hi":                                                               "leave out system",
		"file: ../sessions/testdata/weka.json\noutput: 9":                                                                "leave out output",
		"file: mooncake.jsonl\nturns: 3":                                                                                 "records are lengths",
		"cache_bust: request\nmix: [{name: a, share: 1, input: 1}]":                                                      "cache_bust stands beside mix",
		"input: 5\nformat: jsonl":                                                                                        "how a file is read",
		"audio: 1\nsessions: true":                                                                                       "sessions",
		"file: sharegpt.json\nturns: 2\nnext_input: 5":                                                                   "made turns",
		"file: ../sessions/testdata/weka.json\nimages: {width: 16}":                                                      "leave out images",
		"file: ../sessions/testdata/weka.json\ntime_in: s":                                                               "leave out time_in",
		"file: nowhere.jsonl":                                                                                            "no such file",
		"input: file:nowhere.csv":                                                                                        "no such file",
		"input: 5\nthink: 2s":                                                                                            "add turns",
		"input: 5\ncorpus: ids":                                                                                          "name it with tokenizer",
		"input: 5\ntokenizer: nowhere.json":                                                                              "nowhere.json",
		"input: 40%:5,50%:6":                                                                                             "add up to 90 %",
		"file: mooncake.jsonl\ncolumns: {x: y}":                                                                          "no column of ours",
		"file: mooncake.jsonl\nsegments: {every: 1s, count: 2}":                                                          "made, not read",
		"input: 5\nturns: 2\nsegments: {every: 1s, count: 2}":                                                            "exclude each other",
		"input: 5\ncheck: {regex: \"(\"}":                                                                                "regex",
		"input: file:lengths.csv\noutput: 5":                                                                             "holds output lengths already",
	} {
		_, err := FromYAML("testdata/x.yaml", []byte(text), Options{Tokenizer: func(name string) (Tokenizer, error) { return tokens.ByName(name) }})
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%q: %v, want a word about %q", text, err, word)
		}
	}
}

// What is asked for goes before what a record has: lengths, texts and sessions alike.
func TestOutputGoesBeforeTheRecords(t *testing.T) {
	dir := t.TempDir()
	for _, line := range []string{
		`{"timestamp":0,"input_length":9,"output_length":5,"hash_ids":[1]}`,
		`{"input_tokens":9,"output_tokens":5}`,
		`{"prompt":"hi","max_tokens":5}`,
		`{"session_id":"a","input_length":9,"output_length":5}` + "\n" + `{"session_id":"a","delay":2,"input_length":9,"output_length":5}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.jsonl"), []byte(line+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]int64{"file: x.jsonl": 5, "file: x.jsonl\noutput: 30": 30} {
			l, err := FromYAML(filepath.Join(dir, "x.yaml"), []byte(text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			it := l.Item(0)
			for k := range it.Len() {
				if got := it.Nth(k).MaxTokens.Or(0); got != want {
					t.Errorf("%s of %s: request %d asks for %d tokens, want %d", text, line, k, got, want)
				}
			}
			l.Close()
		}
	}
}

// A search has the rates of an arrival.
func TestArrivalWithoutARate(t *testing.T) {
	if _, err := FromYAML("x.yaml", []byte("input: 5\nwhen: {arrival: poisson}"), Options{}); err != nil {
		t.Error(err)
	}
}

func TestSchemaFile(t *testing.T) {
	data, err := config.Schema(&Spec{}, "urn:tokenmeter:schema:workload", "A tokenmeter workload")
	if err != nil {
		t.Fatal(err)
	}
	var schema map[string]any
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	// Every field says what it means.
	look := func(path string, v any) {
		object, _ := v.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		for name, p := range properties {
			inner, _ := p.(map[string]any)
			if _, refers := inner["$ref"]; inner["description"] == nil && !refers {
				t.Errorf("%s.%s has no description", path, name)
			}
		}
	}
	look("", schema)
	defs, _ := schema["$defs"].(map[string]any)
	for name, d := range defs {
		look(name, d)
	}
}

// Every enum of the struct's tags is known to the code, and the other way round.
func TestFormatsAreInTheSchema(t *testing.T) {
	f, _ := reflect.TypeFor[Content]().FieldByName("Format")
	enum := strings.Split(f.Tag.Get("enum"), "|")
	for i := range formats {
		if !slices.Contains(enum, formats[i].name) {
			t.Errorf("the format %s is not in the schema", formats[i].name)
		}
	}
	for _, name := range sessions.Formats() {
		if !slices.Contains(enum, name) {
			t.Errorf("the format %s is not in the schema", name)
		}
	}
	if len(enum) != len(formats)+len(sessions.Formats())+1 {
		t.Errorf("%v", enum)
	}
	f, _ = reflect.TypeFor[Content]().FieldByName("Corpus")
	for _, name := range CorpusNames() {
		if !strings.Contains(f.Tag.Get("doc"), name) {
			t.Errorf("the corpus %s is not in the schema", name)
		}
	}
}

func TestScenarios(t *testing.T) {
	want := []string{"cloud-chat", "cloud-batch", "on-prem", "edge", "hobbyist", "research"}
	if got := ScenarioNames(); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, s := range Scenarios() {
		l, err := FromSpec(s.Name, s.Workload, Options{Salt: "x"})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if d, err := Describe(l, 0, 200); err != nil || d.Items != 200 || s.About == "" || s.Workload.About == "" {
			t.Errorf("%s: %+v, %v", s.Name, d, err)
		}
	}
}

func FuzzFromYAML(f *testing.F) {
	data, _ := os.ReadFile("testdata/mix.yaml")
	f.Add(string(data))
	f.Add("input: 40%:5,60%:6\nturns: 3\nthink: exponential:1s")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4096 || strings.Contains(text, "file") {
			return
		}
		l, err := FromYAML("x.yaml", []byte(text), Options{})
		if err != nil {
			return
		}
		for i := range int64(3) {
			c := l.class(i)
			if c.images != nil || c.shape.text != "" && len(c.shape.parts) > 0 && c.shape.parts[0].input.hi > 10_000 || c.task != nil || c.prefix != nil {
				return // large by right
			}
			it := l.Item(i)
			for k := range it.Len() {
				it.Conversation(k, func(int) string { return "" })
			}
		}
	})
}

func sameText(a, b api.Message) bool { return a.Role == b.Role && a.Content == b.Content }
