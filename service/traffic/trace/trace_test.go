package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/tokens"
)

func hasher(t testing.TB, key string) *Hasher {
	t.Helper()
	enc, err := tokens.ByName(tokens.Default)
	if err != nil {
		t.Fatal(err)
	}
	return NewHasher([]byte(key), enc)
}

func long(word string, n int) string { return strings.TrimSpace(strings.Repeat(word+" ", n)) }

// What two prompts share is what their hashes share, in whole blocks; a further turn
// changes nothing before it, nor does a mark of where a cache may end.
func TestHashesShareWhatPromptsShare(t *testing.T) {
	h := hasher(t, "k")
	body := func(model string, texts ...string) []byte {
		var list []map[string]any
		for i, text := range texts {
			list = append(list, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": text})
		}
		if len(list) > 0 {
			list[len(list)-1]["cache_control"] = map[string]string{"type": "ephemeral"}
		}
		data, _ := json.Marshal(map[string]any{"model": model, "messages": list, "max_tokens": len(texts)})
		return data
	}
	first, n := h.Prompt(body("m", long("alpha", 100)))
	again, _ := h.Prompt(body("m", long("alpha", 100)))
	second, m := h.Prompt(body("m", long("alpha", 100), long("beta", 40), long("gamma", 40)))
	if len(first) != int(n/Block) || n < 100 || !slices.Equal(first, again) || len(second) != int(m/Block) || !slices.Equal(first, second[:len(first)]) {
		t.Errorf("%d tokens, %d hashes; then %d, %d", n, len(first), m, len(second))
	}
	for what, other := range map[string][]byte{"another model": body("x", long("alpha", 100)), "another beginning": body("m", "z "+long("alpha", 100))} {
		if ids, _ := h.Prompt(other); len(ids) == 0 || ids[0] == first[0] {
			t.Errorf("%s has the same first block", what)
		}
	}
	if ids, _ := hasher(t, "other").Prompt(body("m", long("alpha", 100))); ids[0] == first[0] {
		t.Error("another key gives the same hashes")
	}
	late, _ := h.Prompt(body("m", long("alpha", 60)+" "+long("delta", 60)))
	if at := slices.IndexFunc(late, func(id uint64) bool { return !slices.Contains(first, id) }); at != 60/Block && at != 60/Block+1 {
		t.Errorf("a prompt that differs from word 60 on shares %d blocks", at)
	}
}

// Prompts of all APIs are found where each has them.
func TestPromptsOfAllForms(t *testing.T) {
	h := hasher(t, "k")
	text := long("word", 50)
	for _, form := range []string{
		`{"prompt":%q}`, `{"prompt":[%q]}`, `{"inputs":%q}`, `{"input":%q}`, `{"instructions":"","input":[{"role":"user","content":[{"type":"input_text","text":%q}]}]}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":%q}]}]}`, `{"system":[{"text":%q}],"messages":[]}`,
		`{"contents":[{"role":"user","parts":[{"text":%q}]}],"systemInstruction":{"parts":[]}}`, `{"messages":[{"content":[{"text":%q}]}],"inferenceConfig":{"maxTokens":9}}`,
	} {
		if ids, n := h.Prompt(fmt.Appendf(nil, form, text)); n < 50 || len(ids) != int(n/Block) {
			t.Errorf("%s: %d tokens, %d hashes", form, n, len(ids))
		}
	}
	for _, form := range []string{``, `{`, `[]`, `null`, `{"messages":`, `{"messages":1e999}`, `"x"`} {
		if ids, n := h.Prompt([]byte(form)); n != 0 || ids != nil {
			t.Errorf("%s: %d tokens, %v", form, n, ids)
		}
	}
}

// A body of millions of small values, which would take a gigabyte, is not read.
func TestABodyOfManyValues(t *testing.T) {
	h := hasher(t, "k")
	for _, one := range []string{"{},", "[],", "0,"} {
		body := []byte(`{"prompt":["x",` + strings.Repeat(one, 2_000_000) + `0]}`)
		per := testing.AllocsPerRun(1, func() {
			if ids, n := h.Prompt(body); ids != nil || n != 0 {
				t.Errorf("%s: %d tokens", one, n)
			}
		})
		if per > 100 {
			t.Errorf("%s: %.0f allocations", one, per)
		}
	}
}

// A line has no piece of a content, and hashes have no more blocks than the server
// counted tokens for.
func TestLines(t *testing.T) {
	h := hasher(t, "k")
	body := []byte(`{"model":"m","user":"Mallory","messages":[{"role":"user","content":"` + long("secretword", 200) + `"}],"tools":[{"function":{"name":"sneaky"}}]}`)
	r := &traffic.Request{Timeline: timeline.New(), Body: body, Parent: "bb"}
	r.Session, r.Model, r.Labels.Source = "aa", "m", traffic.Live
	r.Record = metric.Record{InputTokens: timeline.Some(int64(70)), OutputTokens: timeline.Some(int64(5)), E2EMS: timeline.Some(12.5)}
	line, ok := Of(r)
	if !ok || !h.Fill(&line, r.Body) || line.Input != 70 || len(line.Hashes) != 4 || line.Session != "aa" || line.Parent != "bb" || line.TookMS != 12.5 {
		t.Errorf("%+v, %v", line, ok)
	}
	data, err := json.Marshal(line)
	if err != nil || strings.Contains(string(data), "secret") || strings.Contains(string(data), "sneaky") || strings.Contains(string(data), "Mallory") {
		t.Errorf("%s, %v", data, err)
	}
	r.Record.InputTokens = timeline.Opt[int64]{}
	if line, _ := Of(r); !h.Fill(&line, r.Body) || line.Input < 200 {
		t.Errorf("counted: %+v", line)
	}
	r.Record.API = "transcription"
	if line, ok := Of(r); ok {
		t.Errorf("a transcript has a line: %+v", line)
	}
	r.Record.API = "openai-chat"
	for what, change := range map[string]func(){
		"a probe":           func() { r.Labels.Source = traffic.Probe },
		"nothing answered":  func() { r.Labels.Source, r.Record.OutputTokens = traffic.Live, timeline.Opt[int64]{} },
		"no body, no usage": func() { r.Record.OutputTokens, r.Body = timeline.Some(int64(5)), nil },
	} {
		change()
		if line, ok := Of(r); ok && h.Fill(&line, r.Body) {
			t.Errorf("%s has a line: %+v", what, line)
		}
	}
}

func FuzzPrompt(f *testing.F) {
	h := hasher(f, "k")
	f.Add([]byte(`{"messages":[{"role":"user","content":"a b c"}]}`))
	f.Add([]byte(`{"input":[[[["x"]]]],"tools":{"a":{"b":"c"}}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		ids, n := h.Prompt(body)
		if int64(len(ids)) != n/Block {
			t.Errorf("%d tokens, %d hashes", n, len(ids))
		}
		for _, id := range ids {
			if id >= 1<<53 {
				t.Errorf("%d is no whole number everywhere", id)
			}
		}
	})
}
