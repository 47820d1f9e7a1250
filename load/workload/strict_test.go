package workload

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func loadText(t *testing.T, name, text string) (*Loaded, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := Load(path, Options{Salt: "s"})
	if err == nil {
		t.Cleanup(l.Close)
	}
	return l, err
}

func textOf(it Item) string { return it.Messages[len(it.Messages)-1].Content }

// Hash ids are whole numbers of 64 bits without sign, or texts: equal ones make
// equal beginnings, others do not.
func TestHashIDs(t *testing.T) {
	for _, pair := range [][2]string{
		{`18446744073709551615`, `18446744073709551614`},
		{`9223372036854775808`, `0`},
		{`"a1b2"`, `"a1b3"`},
		{`"18446744073709551615"`, `"x"`},
	} {
		line := func(id string) string {
			return fmt.Sprintf(`{"timestamp":0,"input_length":1024,"output_length":5,"hash_ids":[%s,7]}`+"\n", id)
		}
		l, err := loadText(t, "trace.jsonl", line(pair[0])+line(pair[0])+line(pair[1]))
		if err != nil {
			t.Errorf("%s: %v", pair[0], err)
			continue
		}
		a, b, c := l.Item(0), l.Item(1), l.Item(2)
		if a.Err != nil || textOf(a) != textOf(b) || textOf(a)[:100] == textOf(c)[:100] {
			t.Errorf("%v: equal %t, %v", pair, textOf(a) == textOf(b), a.Err)
		}
	}
	for _, wrong := range []any{json.Number("18446744073709551616"), json.Number("-1"), json.Number("1.5"), true, nil} {
		if _, err := ids([]any{wrong}); err == nil {
			t.Errorf("%v is an id", wrong)
		}
	}
}

// What can't be meant is refused with its line, before anything is sent.
func TestRecordsThatCannotBeMeant(t *testing.T) {
	ok := `{"timestamp":0,"input_length":600,"output_length":5,"hash_ids":[1,2]}` + "\n"
	for name, c := range map[string]struct{ file, text, want string }{
		"hash ids for three blocks": {"t.jsonl", ok + `{"timestamp":1,"input_length":600,"output_length":5,"hash_ids":[1,2,3]}`, "2 such blocks"},
		"hash ids for a part of it": {"t.jsonl", ok + `{"timestamp":1,"input_length":1600,"output_length":5,"hash_ids":[1,2]}`, "t.jsonl:2: 2 hash_ids of 512 tokens each for a prompt of 1600 tokens, which has 4 such blocks"},
		"one hash id of a long one": {"t.jsonl", ok + `{"timestamp":1,"input_length":100000,"output_length":5,"hash_ids":[9]}`, "196 such blocks"},
		"hash ids of a short one":   {"t.jsonl", ok + `{"timestamp":1,"input_length":5,"output_length":5,"hash_ids":[1,2]}`, "1 such blocks"},
		"a negative time":           {"t.jsonl", `{"timestamp":-5,"input_length":600,"output_length":5}`, "before 0"},
		"a negative fraction":       {"t.jsonl", `{"timestamp":-0.5,"input_length":600,"output_length":5}`, "before 0"},
		"a negative time in CSV":    {"t.csv", "timestamp,input_tokens,output_tokens\n-1,5,5\n", "before 0"},
		"a number, then a date":     {"t.jsonl", `{"timestamp":0,"input_length":5,"output_length":5}` + "\n" + `{"timestamp":"2026-03-01T00:00:05Z","input_length":5,"output_length":5}`, "t.jsonl:2: the time 2026-03-01T00:00:05Z is written in another form than the first record's"},
		"a date, then a number":     {"t.csv", "timestamp,input_tokens,output_tokens\n2026-03-01 00:00:05,5,5\n2026-03-01 00:00:06,5,5\n3,5,5\n", "t.csv:4: the time 3 is written in another form"},
		"an unknown role":           {"t.jsonl", `{"messages":[{"role":"human","content":"x"}]}`, `"human"`},
		"a role in capitals":        {"t.jsonl", `{"messages":[{"role":"User","content":"x"}]}`, `"User"`},
		"a role that is a model":    {"t.jsonl", `{"messages":[{"role":"user","content":"x"},{"role":"gpt","content":"y"}]}`, `"gpt"`},
		"UTF-16 with its mark":      {"t.txt", "\xff\xfeh\x00i\x00\n\x00", "UTF-16LE"},
		"UTF-16 the other way":      {"t.txt", "\xfe\xff\x00h\x00i\x00\n", "UTF-16BE"},
		"UTF-16 without a mark":     {"t.jsonl", "{\x00\"\x00p\x00", "UTF-16LE"},
		"Latin-1":                   {"t.txt", "caf\xe9 au lait\n", "LATIN1"},
		"Latin-1 in JSON":           {"t.jsonl", "{\"prompt\":\"na\xefve\"}\n", "LATIN1"},
		"Windows-1252 in CSV":       {"t.csv", "prompt\n\x93quoted\x94\n", "Windows-1252"},
	} {
		if _, err := loadText(t, c.file, c.text); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := loadText(t, "t.jsonl", ok); err != nil {
		t.Error(err)
	}
}

// What is left out of a file is counted aloud.
func TestLeftOutIsTold(t *testing.T) {
	talk := func(turns ...string) string {
		var list []string
		for i := 0; i < len(turns); i += 2 {
			list = append(list, fmt.Sprintf(`{"from":%q,"value":%q}`, turns[i], turns[i+1]))
		}
		return fmt.Sprintf(`{"conversations":[%s]}`+"\n", strings.Join(list, ","))
	}
	nameless := `{"conversations":[{"content":"hi"},{"content":"hello"}]}` + "\n" // SGLang's custom.py
	good := talk("human", "hi", "gpt", "hello")
	for want, text := range map[string]string{
		"":                                     good + nameless + good,
		"records that hold nothing to send: 1": good + talk("human", "", "gpt", "x"),
		"records that begin with an answer: 2": good + talk("gpt", "alone") + talk("gpt", "hi", "human", "hi", "gpt", "x"),
		"records that have no answer to the first turn: 5":                                                        good + talk("human", "a", "human", "b", "gpt", "x") + talk("human", "a") + talk("human", "a", "gpt", " ") + talk("human", "a", "narrator", "x") + talk("system", "s", "human", "a", "system", "t"),
		"records that begin with a speaker that is neither a user nor an assistant: 2":                            good + talk("narrator", "x", "human", "a", "gpt", "b") + talk("", "x"),
		"records that begin with an answer: 1; records that hold nothing to send: 1":                              good + talk("gpt", "alone") + talk(),
		"conversations that begin with a system turn, which is not sent: 1":                                       good + talk("system", "be brief", "human", "hi", "gpt", "hello"),
		"records that begin with an answer: 1; conversations that begin with a system turn, which is not sent: 2": talk("system", "a", "human", "hi", "gpt", "x") + talk("gpt", "alone") + talk("system", "b", "human", "hi", "gpt", "x"),
	} {
		l, err := loadText(t, "talks.jsonl", text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Len(); err != nil {
			t.Fatal(err)
		}
		if got := l.LeftOut(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A trace's request that nothing was answered to is left out, as BurstGPT's are that
// failed (by vLLM's benchmark, too): it can't be asked for an answer of no token.
func TestAnswersOfNoTokenAreLeftOut(t *testing.T) {
	mooncake := func(output int, more string) string {
		return fmt.Sprintf(`{"timestamp":0,"input_length":20,"output_length":%d,"hash_ids":[1]%s}`+"\n", output, more)
	}
	for name, text := range map[string]string{
		"m.jsonl": mooncake(5, "") + mooncake(0, "") + mooncake(6, ""),
		"a.csv":   "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,374,44\n2023-11-16 18:17:04.03,396,0\n2023-11-16 18:17:04.07,879,55\n",
	} {
		l, err := loadText(t, name, text)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := l.Len(); n != 2 || err != nil || l.LeftOut() != "records that have an answer of 0 tokens: 1" {
			t.Errorf("%s: %d records, %v, %q", name, n, err, l.LeftOut())
		}
	}
	for name, text := range map[string]string{
		"negative.jsonl": mooncake(-1, ""),
		"prompts.jsonl":  `{"prompt":"hi","max_tokens":0}`,
	} {
		l, err := loadText(t, name, text)
		if err == nil {
			_, err = l.Len()
		}
		if err == nil || !strings.Contains(err.Error(), "want 1 to") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// AIPerf clamps a turn's max_tokens of 0 to 1 (composer/base.py): servers refuse 0.
	l, err := loadText(t, "session.jsonl", mooncake(5, `,"session_id":"s"`)+mooncake(0, `,"session_id":"s"`)+mooncake(6, `,"session_id":"s"`))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int64{5, 1, 6} {
		if it := l.Item(int64(i)); it.MaxTokens.Or(0) != want || l.LeftOut() != "" {
			t.Errorf("turn %d asks for %v tokens, want %d; %s", i, it.MaxTokens, want, l.LeftOut())
		}
	}
}

// What a record has of its request and is not sent, is told: the text beside an
// instruction (Alpaca, Dolly), pictures (vLLM's custom_mm), tools (SGLang's openai).
func TestColumnsThatAreNotSentAreTold(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"alpaca", `{"instruction":"Sum","input":"","output":"x"}` + "\n" + `{"instruction":"Sum","input":"a long text","output":"x"}`, "what stands under input (1×) is not sent"},
		{"alpaca without texts", `{"instruction":"Sum","input":"","output":"x"}`, ""},
		{"dolly", `{"instruction":"Who?","context":"Bert","response":"x","category":"qa"}`, "what stands under context (1×) is not sent"},
		{"pictures", `{"prompt":"Look","image_files":["a.png"],"output_tokens":9}`, "what stands under image_files (1×) is not sent"},
		{"tools", `{"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function"}],"response_format":{"type":"json_object"}}`, "what stands under response_format (1×), tools (1×) is not sent"},
		{"no tools", `{"messages":[{"role":"user","content":"hi"}],"tools":[],"images":null}`, ""},
		{"talk", `{"conversations":[{"from":"human","value":"hi"},{"from":"gpt","value":"yo"}],"system":"Be brief","tools":"[]"}`, "what stands under system (1×), tools (1×) is not sent"},
		{"lengths", `{"input":512,"prompt":"hi"}`, ""},
		// https://github.com/Azure/AzurePublicDataset/blob/master/AzureLMMInferenceDataset2025.md
		{"Azure's pictures", `{"TIMESTAMP":"2024-10-15 00:00:00","NumImages":"0","ContextTokens":9,"GeneratedTokens":2}` + "\n" + `{"TIMESTAMP":"2024-10-15 00:00:01","NumImages":"3","ContextTokens":4500,"GeneratedTokens":2}`, "what stands under NumImages (1×) is not sent"},
		// Fields of a request, which SGLang's openai dataset sends and others do not.
		{"settings", `{"prompt":"hi","temperature":0,"n":4}` + "\n" + `{"prompt":"ho","temperature":1,"stop":["x"],"top_p":null}`, "what stands under n (1×), stop (1×), temperature (2×) is not sent"},
		{"Azure's words", `{"TIMESTAMP":"2024-10-15 00:00:00","NumImages":0,"ContextTokens":9,"GeneratedTokens":2}`, ""},
	} {
		l, err := loadText(t, "x.jsonl", c.text+"\n")
		if err != nil {
			t.Fatal(c.name, err)
		}
		if _, err := l.Len(); err != nil {
			t.Fatal(c.name, err)
		}
		if got := l.LeftOut(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// GuideLLM's traces have Mooncake's columns but for hash_ids, and count in seconds. Where a
// time has a part of a millisecond nobody guesses; with whole ones they are Mooncake's.
// Source: https://github.com/vllm-project/guidellm/blob/main/docs/guides/trace_replay.md
func TestSecondsUnderMooncakesNames(t *testing.T) {
	record := func(at, more string) string {
		return `{"timestamp":` + at + `,"input_length":100,"output_length":10` + more + "}\n"
	}
	for _, c := range []struct {
		name, text, spec string
		want             time.Duration // of the second; 0: refused
	}{
		{"whole", record("0", "") + record("2", ""), "", 2 * time.Millisecond},
		{"seconds", record("0", "") + record("0.5", ""), "", 0},
		{"seconds since 1970", record("1700000000.25", "") + record("1700000001.5", ""), "", 0},
		{"Mooncake's", record("0", `,"hash_ids":[1]`) + record("0.5", `,"hash_ids":[1]`), "", 500 * time.Microsecond},
		{"told", record("0", "") + record("0.5", ""), "time_in: s", 500 * time.Millisecond},
		{"told to be milliseconds", record("0", "") + record("0.5", ""), "time_in: ms", 500 * time.Microsecond},
		{"told to be Mooncake's", record("0", "") + record("0.5", ""), "format: mooncake", 500 * time.Microsecond},
	} {
		l, err := loadText(t, "x.jsonl", c.text)
		if c.spec != "" {
			dir := t.TempDir()
			for name, text := range map[string]string{"x.jsonl": c.text, "w.yaml": "file: x.jsonl\n" + c.spec + "\n"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l, err = Load(filepath.Join(dir, "w.yaml"), Options{Salt: "s"})
		}
		if err != nil {
			if c.want != 0 || !strings.Contains(err.Error(), "time_in: s") {
				t.Fatal(c.name, err)
			}
			continue
		}
		var last time.Duration
		for at, e := range l.Times() {
			last, err = at, e
		}
		if c.want == 0 && (err == nil || !strings.Contains(err.Error(), "time_in: s")) || c.want != 0 && (err != nil || last != c.want) {
			t.Errorf("%s: the second is due at %s, %v, want %s", c.name, last, err, c.want)
		}
		l.Close()
	}
}

// AIPerf's own files of one turn a record count in milliseconds, and a session's turns are
// whole prompts. Times since 1970 in seconds are none of its.
// Source: SingleTurn and MooncakeTrace in aiperf/dataset/loader/models.py, single_turn.py of 0.13.0.
func TestAIPerfsTurns(t *testing.T) {
	for _, c := range []struct {
		what, at string
		want     time.Duration // of the second; 0: refused
	}{
		{`"text":"hi"`, "1500", 1500 * time.Millisecond},
		{`"text":"hi","output_length":5`, "1500.5", 1500*time.Millisecond + 500*time.Microsecond},
		{`"messages":[{"role":"user","content":"hi"}]`, "1500", 1500 * time.Millisecond},
		{`"payload":{"messages":[{"role":"user","content":"hi"}],"max_tokens":5}`, "1500", 1500 * time.Millisecond},
		{`"text":"hi"`, "0.5", 0},
		{`"prompt":"hi"`, "0.5", 500 * time.Millisecond},
	} {
		l, err := loadText(t, "x.jsonl", `{"timestamp":0,`+c.what+"}\n"+`{"timestamp":`+c.at+`,`+c.what+"}\n")
		if err != nil {
			t.Fatal(c.what, err)
		}
		var last time.Duration
		for at, e := range l.Times() {
			last, err = at, e
		}
		if c.want == 0 && (err == nil || !strings.Contains(err.Error(), "time_in: s")) || c.want != 0 && (err != nil || last != c.want) {
			t.Errorf("%s at %s: %s, %v, want %s", c.what, c.at, last, err, c.want)
		}
	}
	l, err := loadText(t, "log.jsonl", `{"timestamp":1700000000,"text":"a"}`+"\n"+`{"timestamp":1700000002,"text":"b"}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	for at, err := range l.Times() {
		if err != nil || at != 0 && at != 2*time.Second {
			t.Error(at, err)
		}
	}
	l, err = loadText(t, "x.jsonl", `{"text":"a1","session_id":"A"}`+"\n"+`{"text":"b1","session_id":"B"}`+"\n"+`{"text":"a2","session_id":"A","delay":200}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	it := l.Item(0)
	if second := it.Nth(1); it.Len() != 2 || second.Wait != 200*time.Millisecond || second.Continue.OK() || len(second.Messages) != 1 || second.Messages[0].Content != "a2" {
		t.Errorf("%d requests, the second %+v", it.Len(), second)
	}
}

// Only AIPerf's names make a file one in milliseconds: max_tokens, time and arrival_time are
// not in its SingleTurn or MooncakeTrace. What can't be told is refused with a part of a
// millisecond, and said without one, in sessions and of delays too.
func TestNotAIPerfsNames(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"hi"}]`
	for _, c := range []struct {
		name, first, more, time string
		at                      string
		want                    time.Duration // after the first; 0: refused
		told                    bool
	}{
		{"our answers' length", messages + `,"max_tokens":5`, "", "timestamp", "4.5", 4500 * time.Millisecond, false},
		{"our time", messages + `,"session_id":"a"`, "", "time", "4.5", 4500 * time.Millisecond, false},
		{"our session", messages + `,"session_id":"a","max_tokens":5`, "", "arrival_time", "2", 2 * time.Second, false},
		{"our text", `"prompt":"hi","session_id":"a"`, "", "timestamp", "4.5", 4500 * time.Millisecond, false},
		{"messages, a part", messages, "", "timestamp", "4.5", 0, false},
		{"messages, a part, a later length", messages, `,"max_tokens":5`, "timestamp", "4.5", 0, false},
		{"messages", messages, "", "timestamp", "4", 4 * time.Millisecond, true},
		{"AIPerf's length", messages + `,"output_length":5`, "", "timestamp", "4.5", 4500 * time.Microsecond, false},
		{"its payload", `"payload":{"prompt":"hi","max_tokens":5}`, "", "timestamp", "4.5", 4500 * time.Microsecond, false},
		{"neither's", `"text_input":"hi","output_length":5,"session_id":"a","model":"m"`, "", "time", "4.5", 0, false},
		{"delays, a part", messages + `,"session_id":"a"`, "", "delay", "2.5", 0, false},
		{"delays", messages + `,"session_id":"a"`, "", "delay", "2", 2 * time.Millisecond, true},
		{"our delays", messages + `,"session_id":"a","max_tokens":5`, "", "delay", "2.5", 2500 * time.Millisecond, false},
		{"Mooncake's delays", `"input_length":9,"session_id":"a"`, "", "delay", "2.5", 2500 * time.Microsecond, false},
	} {
		first := `{"` + c.time + `":0,`
		if c.time == "delay" {
			first = "{"
		}
		text := first + c.first + "}\n" + `{"` + c.time + `":` + c.at + "," + c.first + c.more + "}\n"
		var last time.Duration
		l, err := loadText(t, "x.jsonl", text)
		if err == nil && c.time == "delay" {
			it := l.Item(0)
			last = it.Nth(1).Wait
		} else if err == nil {
			for at, e := range l.Times() {
				last, err = at, e
			}
		}
		if c.want == 0 {
			if err == nil || !strings.Contains(err.Error(), "time_in: s") {
				t.Errorf("%s: %s, %v, want it refused", c.name, last, err)
			}
			continue
		}
		if err != nil || last != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, last, err, c.want)
			continue
		}
		if told := strings.Contains(strings.Join(l.Remarks(), "\n"), "taken for milliseconds"); told != c.told {
			t.Errorf("%s: told %t, want %t", c.name, told, c.told)
		}
	}
	// A later time of a session is looked at as its first.
	w := filepath.Join(t.TempDir(), "w.yaml")
	for name, text := range map[string]string{"x.jsonl": `{"timestamp":0,"session_id":"a",` + messages + "}\n" + `{"timestamp":4.5,"session_id":"a",` + messages + "}\n", "w.yaml": "file: x.jsonl\nsessions: true\n"} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(w), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Load(w, Options{Salt: "s"}); err == nil || !strings.Contains(err.Error(), "time_in: s") {
		t.Error(err)
	}
}

// What a record adds to its request is not what the record or the run says otherwise, at any
// API: OpenAI's Responses say max_output_tokens, llama.cpp n_predict, Gemini and Bedrock an
// object's member.
func TestExtraIsBesideTheRequest(t *testing.T) {
	for extra, word := range map[string]string{
		`{"temperature":0.5,"ignore_eos":true}`:      "",
		`{"model":null,"stream":null}`:               "", // as Vertex AI and Bedrock want
		`{"text":{"verbosity":"low"}}`:               "",
		`{"generationConfig":{"topK":3}}`:            "",
		`{"stream":false}`:                           "stream",
		`{"max_tokens":9}`:                           "max_tokens",
		`{"max_tokens":null}`:                        "max_tokens",
		`{"model":"other"}`:                          "model",
		`{"max_output_tokens":9}`:                    "max_output_tokens",
		`{"n_predict":4}`:                            "n_predict",
		`{"generationConfig":{"maxOutputTokens":3}}`: "generationConfig.maxOutputTokens",
		`{"inferenceConfig":{"maxTokens":3}}`:        "inferenceConfig.maxTokens",
		`{"input":"x"}`:                              "input",
	} {
		_, err := loadText(t, "x.jsonl", `{"timestamp":0,"text_input":"hi","output_length":5,"extra":`+extra+"}\n")
		if (err == nil) != (word == "") || err != nil && !strings.Contains(err.Error(), "extra: "+word+" is") {
			t.Errorf("%s: %v", extra, err)
		}
	}
}

// AIPerf's records of one turn have extra without times too (its guide to custom datasets,
// "Per-Request extra"); under other columns it may be anything, and what is not sent is told.
func TestExtraWithoutTimes(t *testing.T) {
	for record, want := range map[string]string{
		`{"text":"Summarize ML.","extra":{"min_tokens":50,"ignore_eos":true}}`: "ignore_eos:true min_tokens:50 ",
		`{"messages":[{"role":"user","content":"x"}],"extra":{"top_p":0.9}}`:   "top_p:0.9 ",
		`{"text":"x"}`: "",
		`{"question":"x","extra":{"difficulty":"hard"}}`: "what stands under extra (1×) is not sent",
		`{"text":"x","extra":"a note"}`:                  "what stands under extra (1×) is not sent",
		`{"prompt":"x","extra":"a note"}`:                "what stands under extra (1×) is not sent",
	} {
		l, err := loadText(t, "x.jsonl", record+"\n")
		if err != nil {
			t.Errorf("%s: %v", record, err)
			continue
		}
		it, got := l.Item(0), l.LeftOut()
		for _, name := range slices.Sorted(maps.Keys(it.Extra)) {
			got += fmt.Sprintf("%s:%v ", name, it.Extra[name])
		}
		if got != want {
			t.Errorf("%s: %q, want %q", record, got, want)
		}
	}
}

// AIPerf's forms of Mooncake's traces (texts or messages in place of lengths, no length of
// the answer) count in milliseconds, too; GuideLLM's column of output lengths is one.
// Source: https://docs.nvidia.com/aiperf/benchmark-modes/trace-replay-with-mooncake-traces
func TestOtherToolsColumns(t *testing.T) {
	for _, what := range []string{
		`"text_input":"hi","output_length":5`,
		`"text_input":"hi"`,
		`"messages":[{"role":"user","content":"hi"}],"output_length":5`,
		`"input_length":10,"hash_ids":[123]`,
		`"input_length":10`,
	} {
		l, err := loadText(t, "x.jsonl", `{"timestamp":0,`+what+"}\n"+`{"timestamp":1500,`+what+"}\n")
		if err != nil {
			t.Fatal(err)
		}
		var last time.Duration
		for at, err := range l.Times() {
			if last = at; err != nil {
				t.Fatal(err)
			}
		}
		if last != 1500*time.Millisecond {
			t.Errorf("%s: the second is due at %s, want 1.5s", what, last)
		}
	}
	l, err := loadText(t, "y.jsonl", `{"prompt":"hi","prompt_tokens_count":2,"output_tokens_count":7}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if n := l.Item(0).MaxTokens.Or(-1); n != 7 {
		t.Errorf("%d tokens are asked for, want 7", n)
	}
}

// Times since 1970 in another unit than the format's are refused with the unit that
// they are in. Units in the names of columns are believed.
func TestTimesSince1970(t *testing.T) {
	const now = 1_764_482_400 // 30 November 2025, 06:00 UTC
	two := func(head string, unit int64, tail string) string {
		return fmt.Sprintf("{%s%d%s}\n{%s%d%s}\n", head, now*unit, tail, head, (now+2)*unit, tail)
	}
	const lengths, mooncake = `,"prompt_tokens":9,"completion_tokens":2`, `,"input_length":9,"output_length":2`
	for _, c := range []struct {
		name, text, want string // want: the unit that the error names; empty: two seconds lie between
	}{
		{"s", two(`"timestamp":`, 1, lengths), ""},
		{"ms", two(`"timestamp":`, 1e3, lengths), "ms"},
		{"us", two(`"timestamp":`, 1e6, lengths), "us"},
		{"ns", two(`"timestamp":`, 1e9, lengths), "ns"},
		{"Mooncake's in s", two(`"timestamp":`, 1, mooncake), "s"},
		{"Mooncake's in ms", two(`"timestamp":`, 1e3, mooncake), ""},
		{"Mooncake's in us", two(`"timestamp":`, 1e6, mooncake), "us"},
		{"Mooncake's in ns", two(`"timestamp":`, 1e9, mooncake), "ns"},
		{"a number for Azure's dates", two(`"TIMESTAMP":`, 1e3, `,"ContextTokens":9,"GeneratedTokens":2`), "ms"},
		{"BLIS's", two(`"arrival_time_us":`, 1e6, `,"input_tokens":9,"output_tokens":2`), ""},
		{"Baseten's", two(`"timestamp_start_unix_ms":`, 1e3, lengths), ""},
		{"named under Mooncake's lengths", two(`"timestamp_s":`, 1, mooncake), ""},
		{"nanoseconds by name", two(`"arrival_ns":`, 1e9, lengths), ""},
		{"Vidur's", two(`"arrived_at":`, 1, `,"num_prefill_tokens":9,"num_decode_tokens":2`), ""},
	} {
		l, err := loadText(t, "x.jsonl", c.text)
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), "write time_in: "+c.want+" beside") {
				t.Errorf("%s: %v, want the unit %s", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var last time.Duration
		for at, err := range l.Times() {
			if last = at; err != nil {
				t.Error(c.name, err)
			}
		}
		if it := l.Item(0); !l.Timed || last != 2*time.Second || it.InputTokens.Or(0) != 9 || it.MaxTokens.Or(0) != 2 {
			t.Errorf("%s: timed %t, the second after %v, %+v", c.name, l.Timed, last, it)
		}
	}
}

// What of a file nothing reads is said once, and so is what was supposed of it.
// Mooncake's lengths and ids share prefixes though they have no times.
func TestMooncakeWithoutTimes(t *testing.T) {
	l, err := loadText(t, "x.jsonl", `{"input_length":1030,"output_length":4,"hash_ids":[0,1,2]}`+"\n"+`{"input_length":1030,"output_length":4,"hash_ids":[0,1,3]}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	one, two := strings.Fields(l.Item(0).Messages[0].Content), strings.Fields(l.Item(1).Messages[0].Content)
	shared := 0
	for shared < min(len(one), len(two)) && one[shared] == two[shared] {
		shared++
	}
	if l.Info().Kind != "mooncake" || l.Timed || shared < 1000 || shared > 1024 || len(l.Remarks()) > 0 {
		t.Errorf("%s, timed %t: %d words of %d are shared; %q", l.Info().Kind, l.Timed, shared, len(one), l.Remarks())
	}
}

// Ids of other blocks than Mooncake's are no form of its, where nothing else says so.
func TestLengthsWithIdsOfOtherBlocks(t *testing.T) {
	l, err := loadText(t, "x.jsonl", `{"input_length":40,"output_length":3,"hash_ids":[1,2,3]}`+"\n")
	if err != nil || l.Info().Kind != "jsonl" || !strings.Contains(strings.Join(l.Remarks(), "\n"), "hash_ids (which need block)") {
		t.Errorf("%+v, %v", l, err)
	}
}

// Fields that have nothing to act on are named, each with the reason; those that have
// something are not.
func TestIdleFields(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"checks": `{"prompt":"hi","answer":"yes","model":"m"}`, "texts": `{"prompt":"hi","other":"x"}`, "ids": `{"input_tokens":9,"hash_ids":[1,2],"time":1}`,
		"turns": `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}],"session":"s"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"file: texts.jsonl\nblock: 4":                                                            "block: no record",
		"file: texts.jsonl\ntime_in: us":                                                         "time_in: no record",
		"file: texts.jsonl\nsessions: true":                                                      "sessions: no record",
		"file: texts.jsonl\nturns: 2":                                                            "turns: no record",
		"file: texts.jsonl\ncorpus: code":                                                        "corpus: the prompts",
		"file: texts.jsonl\ncache_bust: run":                                                     "cache_bust: run makes",
		"file: texts.jsonl\ncolumns: {output: tokens}":                                           "columns.output: nothing",
		"file: checks.jsonl\ncolumns: {answer: none, model: none}":                               "", // they switch the checks and the models off
		"file: texts.jsonl\ncolumns: {answer: none}":                                             "columns.answer: nothing",
		"mix: [{name: a, share: 1, input: 3}, {name: b, share: 1, file: texts.jsonl, block: 4}]": "block: no record",
		"file: texts.jsonl\ncolumns: {prompt: other}\ncache_bust: request":                       "",
		"file: ids.jsonl\nblock: 4\ntime_in: us\ncorpus: code\ncache_bust: run":                  "",
		"file: turns.jsonl\nturns: 2\nsessions: false":                                           "",
		"file: turns.jsonl\nsessions: true":                                                      "",
	} {
		l, err := FromYAML(filepath.Join(dir, "x.yaml"), []byte(text), Options{})
		if err != nil {
			t.Fatal(text, err)
		}
		said := strings.Join(l.Remarks(), "\n")
		if is := strings.Contains(said, "change nothing here"); is != (want != "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", text, said, want)
		}
		l.Close()
	}
}

// With off two runs send the same, of lengths and recorded sessions too, whose texts are
// made; with request each item begins in words of its own.
func TestCacheBustOfFiles(t *testing.T) {
	for _, file := range []string{"mooncake.jsonl", "../sessions/testdata/weka.json"} {
		say := func(bust, salt string, i int64) string {
			l := yaml(t, "file: "+file+"\ncache_bust: "+bust, Options{Salt: salt})
			it := l.Item(i)
			return it.Conversation(0, nil)[0].Content
		}
		if say("off", "a", 0) != say("off", "b", 0) || say("run", "a", 0) == say("run", "b", 0) {
			t.Errorf("%s: off should send the same in each run, run should not", file)
		}
		plain, own := say("off", "a", 0), say("request", "a", 0)
		if strings.Count(own, "\n") != strings.Count(plain, "\n")+1 {
			t.Errorf("%s: %q has no word in front", file, own)
		}
	}
}

func TestRemarks(t *testing.T) {
	const guess = "the file's times are taken for milliseconds"
	for _, c := range []struct{ name, text, want string }{
		{"nothing", `{"prompt":"hi","max_tokens":4,"id":"a"}`, ""},
		{"an arrival without a unit", `{"prompt":"hi","ts":1,"n_predict":4}`, "columns of the file that are not used: ts"},
		{"in a later record", `{"prompt":"hi"}` + "\n" + `{"prompt":"ho","start":3,"user":"u","empty":null}`, "not used: start, user"},
		{"one of two names", `{"prompt":"hi","text":"ho"}`, "not used: text"},
		{"ids without a block", `{"prompt_tokens":9,"hash_ids":[1]}`, "not used: hash_ids (which need block)"},
		{"told elsewhere", `{"prompt":"hi","temperature":1}`, ""},
		{"GuideLLM's whole seconds", `{"timestamp":0,"input_length":9,"output_length":2}`, guess},
		{"milliseconds since 1970", `{"timestamp":1764482400000,"input_length":9,"output_length":2}`, ""},
		{"Mooncake's", `{"timestamp":0,"input_length":9,"output_length":2,"hash_ids":[1]}`, ""},
		{"an answer at the end", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`, "records that end with an answer, as far as the file was read: 1"},
	} {
		l, err := loadText(t, "x.jsonl", c.text+"\n")
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := strings.Join(l.Remarks(), "\n"); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An answer is a check only where all that was asked is sent: not the index or the letter of a
// choice in another column (MMLU, MMLU-Pro, LongBench v2 on Hugging Face), and not what stands
// in a passage (SQuAD's form). A letter alone is in any text. GSM8K's and TriviaQA's short
// answers are; the column that was named is, whatever it says.
func TestAnswersThatAreNoChecks(t *testing.T) {
	const letter = "answers that are no check, as they are of what is not sent, or one letter: 1"
	for record, c := range map[string]struct {
		checked bool
		left    string
	}{
		`{"question":"q","choices":["0","4"],"answer":1}`:                {false, "what stands under choices (1×) is not sent; " + letter},
		`{"question":"q","options":["a","b"],"answer":"I"}`:              {false, "what stands under options (1×) is not sent; " + letter},
		`{"question":"q","choice_A":"x","choice_B":"y","answer":"A"}`:    {false, "what stands under choice_A (1×) is not sent; " + letter},
		`{"question":"q","context":"Born in Ulm.","answer":"Ulm"}`:       {false, "what stands under context (1×) is not sent; " + letter},
		`{"question":"Which? (A) x (B) y","answer":"B"}`:                 {false, letter},
		`{"question":"Which? (A) x (B) y","answer":{"regex":"\\bB\\b"}}`: {true, ""},
		`{"question":"q","context":"","answer":"Ulm"}`:                   {true, ""},
		`{"question":"q","answer":"so #### 4"}`:                          {true, ""},
		`{"question":"q","answer":7}`:                                    {true, ""},
	} {
		l, err := loadText(t, "x.jsonl", record+"\n")
		if err != nil {
			t.Errorf("%s: %v", record, err)
			continue
		}
		if it := l.Item(0); it.Err != nil || (it.Check != nil) != c.checked || l.ReadsAnswers() != c.checked || l.LeftOut() != c.left {
			t.Errorf("%s: %v, a check %v, %q", record, it.Err, it.Check != nil, l.LeftOut())
		}
	}
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(`{"question":"q","choices":["0","4"],"answer":"B","key":"C"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]bool{"key": true, "answer": true, "none": false} {
		l, err := FromSpec("x", Spec{Content: Content{File: path, Columns: map[string]string{"answer": column}}}, Options{Salt: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if it := l.Item(0); it.Err != nil || (it.Check != nil) != want {
			t.Errorf("columns: {answer: %s}: %v, a check %v", column, it.Err, it.Check != nil)
		}
		l.Close()
	}
	for _, answer := range []string{`["a"]`, "true", `{"aliases":["a"],"value":"a"}`} {
		if _, err := loadText(t, "x.jsonl", `{"question":"q","answer":`+answer+"}\n"); err == nil || !strings.Contains(err.Error(), "columns: {answer: none}") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// Answers are read where any of the first records has a check, not the first alone.
func TestALaterAnswerIsACheck(t *testing.T) {
	l, err := loadText(t, "x.jsonl", `{"question":"a"}`+"\n"+`{"question":"b","answer":"yes"}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if !l.ReadsAnswers() || l.Item(0).Check != nil || l.Item(1).Check == nil {
		t.Errorf("answers are read %v", l.ReadsAnswers())
	}
}

// Records of OpenAI's batches and of request logs name a model. It gives way to the run's own
// and to the workload's, with a word, unless the column is named.
func TestModelsOfRecords(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"batch.jsonl": `{"custom_id":"r","method":"POST","url":"/v1/chat/completions","body":{"model":"other","messages":[{"role":"user","content":"x"}]}}`,
		"own.jsonl":   `{"prompt":"x","model":"other"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			one     string
			models  []ModelShare
			columns map[string]string
			want    string
			told    bool
		}{
			{want: "other"},
			{one: "m", want: "", told: true},
			{one: "other", want: ""}, // which the records name too
			{models: []ModelShare{{Name: "a", Share: 1}}, want: "a", told: true},
			{one: "m", models: []ModelShare{{Name: "a", Share: 1}}, want: "a", told: true},
			{one: "m", columns: map[string]string{"model": "model"}, want: "other"},
		} {
			if name == "batch.jsonl" && c.columns != nil {
				continue
			}
			l, err := FromSpec("x", Spec{Content: Content{File: path, Models: c.models, Columns: c.columns}}, Options{Salt: "s", OneModel: c.one})
			if err != nil {
				t.Fatal(err)
			}
			if it := l.Item(0); it.Err != nil || it.Model != c.want {
				t.Errorf("%s, %+v: %v, model %q", name, c, it.Err, it.Model)
			}
			if told := strings.Contains(strings.Join(l.Remarks(), " "), "name a model of their own"); told != c.told {
				t.Errorf("%s, %+v: told %v", name, c, l.Remarks())
			}
			l.Close()
		}
	}
}

// A file that was given for its answers has checks, whatever stands beside them.
func TestAnswersOfChecks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(`{"prompt":"Which? A) 3 B) 4","options":["3","4"],"answer":"4"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := FromSpec("x", Spec{Content: Content{Input: "20"}}.WithChecks(path), Options{Salt: "s", Checks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !l.ReadsAnswers() || strings.Contains(l.LeftOut(), "no check") {
		t.Errorf("answers are read %v, %q", l.ReadsAnswers(), l.LeftOut())
	}
}

// block that nobody told.
func TestIdsOfAnotherBlock(t *testing.T) {
	for text, format := range map[string]string{
		`{"input_length":40,"output_length":3,"hash_ids":[1,2,3]}`:   "jsonl",
		`{"input_length":1100,"output_length":3,"hash_ids":[1,2,3]}`: "mooncake",
	} {
		l, err := loadText(t, "x.jsonl", text+"\n")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := l.classes[0].source.format.name; got != format {
			t.Errorf("%s is %s", text, got)
		}
	}
}
