package workload

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// mtBench are questions as MT-Bench (lmsys/mt_bench) and Spec-Bench have them.
const mtBench = `{"question_id":81,"category":"writing","turns":["Compose a travel post.","Rewrite it."]}
{"question_id":101,"category":"reasoning","turns":["You overtake the second person.","And the last?"],"reference":["second","impossible"]}
{"question_id":161,"category":"summarization","turns":["Summarize this."]}
`

// What a user says turn by turn is sent as other conversations are: the first turn, or with
// turns all of them, after answers that are made or the server's.
func TestTurnsOfAUser(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"q.jsonl": mtBench,
		"q.json":  "[" + strings.ReplaceAll(strings.TrimSpace(mtBench), "\n", ",\n") + "]",
		"q.csv":   "id,turns\n1,\"[\"\"Compose a travel post.\"\",\"\"Rewrite it.\"\"]\"\n2,\"[\"\"a\"\",\"\"b\"\"]\"\n3,\"[\"\"Summarize this.\"\"]\"\n",
		// lmsys-arena-human-preference-55k
		"arena.csv": "id,model_a,prompt,response_a\n1,m,\"[\"\"Compose a travel post.\"\",\"\"Rewrite it.\"\"]\",\"[\"\"x\"\",null]\"\n2,m,\"[\"\"a\"\",\"\"b\"\"]\",x\n3,m,\"[\"\"Summarize this.\"\"]\",x\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			turns, history string
			want           string // what the first conversation's last request holds
		}{
			{"", "", "user Compose a travel post."},
			{"2", "", "user Compose a travel post.|assistant MADE|user Rewrite it."},
			{"8", "live", "user Compose a travel post.|assistant said|user Rewrite it."},
		} {
			l, err := FromSpec("x", Spec{Content: Content{File: path, Turns: c.turns, History: c.history, System: ""}}, Options{Salt: name + c.turns})
			if err != nil {
				t.Errorf("%s, turns %q: %v", name, c.turns, err)
				continue
			}
			it, last := l.Item(0), l.Item(2)
			var got []string
			for _, m := range it.Conversation(it.Len()-1, func(int) string { return "said" }) {
				if m.Role == "assistant" && c.history == "" && len(m.Content) > 100 {
					m.Content = "MADE"
				}
				got = append(got, m.Role+" "+m.Content)
			}
			if it.Err != nil || strings.Join(got, "|") != c.want || last.Len() != 1 || textOf(last) != "Summarize this." || l.ReadsAnswers() != (c.history == "live") {
				t.Errorf("%s, turns %q, %s: %q, %v; then %d", name, c.turns, c.history, got, it.Err, last.Len())
			}
			l.Close()
		}
	}
}

// The answers that are made are the same in every run, as what the file holds is.
func TestMadeAnswersOfTurnsAreTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "q.jsonl")
	if err := os.WriteFile(path, []byte(mtBench), 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, salt := range []string{"a", "b"} {
		l, err := FromSpec("x", Spec{Content: Content{File: path, Turns: "2"}}, Options{Salt: salt})
		if err != nil {
			t.Fatal(err)
		}
		it := l.Item(1)
		said = append(said, it.Answer)
		l.Close()
	}
	if said[0] == "" || said[0] != said[1] {
		t.Errorf("%q", said)
	}
}

// A system prompt beside turns is sent with the first.
func TestSystemBesideTurns(t *testing.T) {
	l, err := loadText(t, "q.jsonl", `{"system":"Be brief.","turns":["a","b"]}`+"\n")
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Item(0).Messages; len(got) != 2 || got[0].Role != "system" || got[0].Content != "Be brief." || got[1].Content != "a" {
		t.Errorf("%+v", got)
	}
}

// Turns that can't be read as texts are refused with what to do.
func TestTurnsThatAreNoTexts(t *testing.T) {
	for text, want := range map[string]string{
		// AIPerf's conversations, as its multi_turn loader has them.
		`{"session_id":"s","turns":[{"text":"Hello","delay":0},{"text":"Hi there","delay":1000}]}`: "write each of such turns as a record with session_id, text_input",
		`{"turns":["a",5]}`:                "turn 2 is no text",
		`{"turns":[]}`:                     `want a "prompt", "text" or "messages"`,
		`{"turns":3}`:                      `want a "prompt", "text" or "messages"`,
		`{"turns":["  ","only a second"]}`: `want a "prompt", "text" or "messages"`,
	} {
		if _, err := loadText(t, "q.jsonl", text+"\n"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	l, err := loadText(t, "lengths.jsonl", `{"turns":[{"text":"a"}],"input_length":5}`+"\n")
	if err != nil || l.Item(0).InputTokens.Or(0) != 5 {
		t.Errorf("lengths beside turns: %v", err)
	}
	path := filepath.Join(t.TempDir(), "q.jsonl")
	for _, text := range []string{mtBench, `{"conversations":[{"from":"human","value":"a"},{"from":"gpt","value":"b"}]}` + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := FromSpec("x", Spec{Content: Content{File: path, Sessions: true}}, Options{}); err == nil || !strings.Contains(err.Error(), "leave out sessions") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// AIPerf's inputs.json, as it writes it beside its results, is the requests that it sent;
// GenAI-Perf's has the same in another list.
func TestInputsOfAIPerf(t *testing.T) {
	payload := func(text string) string {
		return fmt.Sprintf("{\n          \"messages\": [\n            {\"role\": \"user\", \"content\": %q}\n          ],\n          \"model\": \"m\", \"stream\": true, \"max_completion_tokens\": 7\n        }", text)
	}
	session := `{"data": [{"session_id": "a", "payloads": [` + payload("one") + ", " + payload("two") + `]},
		{"session_id": "b", "payloads": [` + payload("three") + `]}]}`
	for name, text := range map[string]string{
		"inputs.json": session,
		"one.jsonl":   strings.Join(strings.Fields(session), " "),
		"more.json":   strings.TrimSuffix(session, "}") + `, "metadata": {"data": [1]}, "version": "1"}` + "\n\n",
		"genai.json":  `{"data":[{"payload":[` + payload("one") + `]},{"payload":[` + payload("two") + "]},{\"payload\":[" + payload("three") + `]}]}`,
	} {
		l, err := loadText(t, name, text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for i := range int64(3) {
			it := l.Item(i)
			got = append(got, textOf(it))
			if it.Err != nil || it.MaxTokens.Or(0) != 7 {
				t.Errorf("%s: %v, %v tokens", name, it.Err, it.MaxTokens)
			}
		}
		if n, err := l.Len(); n != 3 || err != nil || !slices.Equal(got, []string{"one", "two", "three"}) {
			t.Errorf("%s: %q of %d, %v", name, got, n, err)
		}
		told := strings.Contains(strings.Join(l.Remarks(), " "), "records name sessions")
		if told != (name != "genai.json") {
			t.Errorf("%s: %q", name, l.Remarks())
		}
	}
	for text, want := range map[string]string{
		`{"data":[{"session_id":"a","payloads":[{"messages":[{"role":"user","content":"x"}]}]}`: "does not end",
		`{"data":[{"session_id":"a","payloads":[{"input":["x"]}]}]}`:                            "its columns are payload, session_id",
		session + "\n" + session: "more stands behind the object",
		session + "x":            "more stands behind the object",
		strings.TrimSuffix(session, "}") + `, "data": [{"payloads": [{"x": 1}]}]}`: "data twice",
		strings.TrimSuffix(session, "}") + `, "more": 1`:                           "does not end",
		`{"data":[{"x":1}]}`: "its columns are data",
		`{"data":[]}`:        "its columns are data",
		`{"data":"x"}`:       "its columns are data",
	} {
		if _, err := loadText(t, "inputs.json", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A file that is given for its answers and has none is refused.
func TestChecksWithoutAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"none.jsonl":   {`{"prompt":"x"}` + "\n" + `{"prompt":"y"}` + "\n", false},
		"lines.txt":    {"x\ny\n", false},
		"other.csv":    {"prompt,solution\nx,y\n", false},
		"turns.jsonl":  {mtBench, false},
		"later.jsonl":  {`{"prompt":"x"}` + "\n" + `{"prompt":"y","answer":"z"}` + "\n", true},
		"letter.jsonl": {`{"prompt":"A or B?","answer":"B"}` + "\n", true},
		"named.csv":    {"prompt,expected\nx,y\n", true},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := FromSpec("x", Spec{Content: Content{Input: "20"}}.WithChecks(path), Options{Salt: "s", Checks: true})
		if c.good != (err == nil) || err != nil && !strings.Contains(err.Error(), "has an answer to check") {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			l.Close()
		}
	}
}

// Requests of a file are told apart by all that they send: turns of a conversation that is
// sent again are the same ones, and a word, a picture or a made answer in front is another.
func TestPrintsOfWhatIsSent(t *testing.T) {
	picture := func(data string) string {
		return `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data + `"}}]}]}` + "\n"
	}
	talk := `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"},{"role":"assistant","content":"d"}]}` + "\n"
	for name, c := range map[string]struct {
		content Content
		text    string
		items   int64
		want    int // different prompts, of all that can be told apart
	}{
		"one conversation twice":  {Content{Turns: "8"}, talk, 2, 2},
		"two that begin alike":    {Content{Turns: "8"}, talk + strings.Replace(talk, `"c"`, `"e"`, 1), 2, 3},
		"another answer":          {Content{Turns: "8"}, talk + strings.Replace(talk, `"b"`, `"e"`, 1), 2, 3},
		"a live one":              {Content{Turns: "8", History: "live"}, talk, 2, 1},
		"a word in front":         {Content{CacheBust: "request"}, `{"prompt":"a"}` + "\n", 3, 3},
		"the same prompt":         {Content{}, `{"prompt":"a"}` + "\n", 3, 1},
		"other pictures":          {Content{}, picture("AAAA") + picture("BBBB") + picture("AAAA"), 3, 2},
		"a session that adds":     {Content{Sessions: true}, `{"session_id":"s","timestamp":0,"text_input":"a","output_length":3}` + "\n" + `{"session_id":"s","timestamp":9,"text_input":"b","output_length":3}` + "\n", 2, 3},
		"made answers, each anew": {Content{Turns: "2"}, `{"turns":["a","b"]}` + "\n", 2, 3},
	} {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.content.File = path
		l, err := FromSpec("x", Spec{Content: c.content}, Options{Salt: "s"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen := map[uint64]bool{}
		for i := range c.items {
			it := l.Item(i)
			for k := range it.Len() {
				if p := it.Nth(k).Print; p != 0 {
					seen[p] = true
				}
			}
		}
		if len(seen) != c.want {
			t.Errorf("%s: %d different, want %d", name, len(seen), c.want)
		}
		l.Close()
	}
}

// A prompt that is a list of messages, or the JSON text of one, is sent as these; any other
// text that begins as a list stays text. Sources: openai/mrcr's card (json.loads of prompt),
// verl's Parquet files (DAPO-Math-17k).
func TestPromptsThatAreConversations(t *testing.T) {
	talk := `[{"role": "user", "content": "write a poem"}, {"role": "assistant", "content": "a poem"}, {"role": "user", "content": "repeat"}]`
	const said = "user write a poem|assistant a poem|user repeat"
	path := filepath.Join(t.TempDir(), "p.jsonl")
	for prompt, want := range map[string]string{
		talk:                        said,
		strconv.Quote(talk):         said,
		strconv.Quote(" " + talk):   said,
		`"[1, 2] is a list"`:        "user [1, 2] is a list",
		`"[{\"role\": \"user\"}]"`:  `user [{"role": "user"}]`,
		`"[\"one turn\", \"two\"]"`: `user ["one turn", "two"]`,
		`"[]"`:                      "user []",
	} {
		if err := os.WriteFile(path, []byte(`{"prompt":`+prompt+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := FromSpec("x", Spec{Content: Content{File: path}}, Options{Salt: "s"})
		if err != nil {
			t.Errorf("%s: %v", prompt, err)
			continue
		}
		it := l.Item(0)
		var got []string
		for _, m := range it.Conversation(it.Len()-1, func(int) string { return "" }) {
			got = append(got, m.Role+" "+m.Content)
		}
		if it.Err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s: %q, %v", prompt, got, it.Err)
		}
		l.Close()
	}
}
