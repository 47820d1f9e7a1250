package workload

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

func TestTraceFormats(t *testing.T) {
	type row struct {
		at      time.Duration
		in, out int64
	}
	const ms = time.Millisecond
	cases := []struct {
		file, kind string
		want       []row
	}{
		{"mooncake.jsonl", "mooncake", []row{{0, 1300, 40}, {250 * ms, 1536, 12}, {250 * ms, 700, 5}, {900 * ms, 2100, 60}, {1400 * ms, 400, 30}, {2100 * ms, 1024, 20}}},
		{"bailian.jsonl", "bailian", []row{{0, 40, 13}, {2386 * ms, 90, 21}, {2886 * ms, 16, 4}}},
		// The third request of this one failed when it was recorded.
		{"burstgpt.csv", "burstgpt", []row{{0, 472, 18}, {40 * time.Second, 1087, 230}, {113 * time.Second, 417, 276}}},
		{"azure2023.csv", "azure", []row{{0, 374, 44}, {52 * ms, 396, 109}, {1520040 * time.Microsecond, 879, 55}}},
		{"azure2024.csv", "azure", []row{{0, 2162, 5}, {7405 * time.Microsecond, 2399, 6}, {time.Second, 76, 15}}},
	}
	for _, c := range cases {
		l := load(t, "testdata/"+c.file, Options{Salt: "s"})
		if l.Info().Kind != c.kind || !l.Timed {
			t.Errorf("%s is taken for %s, with times: %v", c.file, l.Info().Kind, l.Timed)
			continue
		}
		var got []row
		i := int64(0)
		for at, err := range l.Times() {
			it := l.Item(i)
			if err != nil || it.Err != nil {
				t.Fatal(c.file, err, it.Err)
			}
			got = append(got, row{at, it.InputTokens.Or(0), it.MaxTokens.Or(0)})
			if n := words2(it.Messages[0].Content); int64(n) != it.InputTokens.Or(0) {
				t.Errorf("%s: record %d has %d words for %v tokens", c.file, i, n, it.InputTokens)
			}
			i++
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %v\nwant %v", c.file, got, c.want)
		}
	}
}

// Equal hash ids are equal stretches of text, and nothing else is.
func TestHashIDsShareText(t *testing.T) {
	l := load(t, "testdata/mooncake.jsonl", Options{Salt: "s"})
	ids := [][]int64{{0, 1, 2}, {0, 1, 3}, {4, 5}, {0, 1, 3, 6, 7}, {8}, {4, 9}}
	text := map[int64]string{}
	for i, row := range ids {
		f := strings.Fields(l.Item(int64(i)).Messages[0].Content)
		for k, id := range row {
			block := strings.Join(f[k*512:min((k+1)*512, len(f))], " ")
			if before, known := text[id]; known && !strings.HasPrefix(before, block) && !strings.HasPrefix(block, before) {
				t.Errorf("request %d: hash id %d is another text than before", i, id)
			}
			for other, b := range text {
				if other != id && strings.HasPrefix(b, block[:100]) {
					t.Errorf("hash ids %d and %d begin alike", id, other)
				}
			}
			text[id] = block
		}
	}
	again := load(t, "testdata/mooncake.jsonl", Options{Salt: "other"})
	if again.Item(0).Messages[0].Content == l.Item(0).Messages[0].Content {
		t.Error("two runs send the same text")
	}
}

func TestShareGPT(t *testing.T) {
	l := load(t, "testdata/sharegpt.json", Options{})
	const want = "records that begin with an answer: 1; records that hold nothing to send: 1; conversations that begin with a system turn, which is not sent: 1"
	if n, err := l.Len(); n != 2 || err != nil || l.LeftOut() != want {
		t.Errorf("%d conversations, %v, %s", n, err, l.LeftOut())
	}
	a, b := l.Item(0), l.Item(1)
	if a.Len() != 1 || a.Messages[0].Content != "How high is the tower in the old harbour?" || b.Messages[0].Content != "Name a river." ||
		l.Item(2).Messages[0].Content != a.Messages[0].Content || l.Item(-1).Messages[0].Content != b.Messages[0].Content || l.Item(-3).Messages[0].Content != b.Messages[0].Content {
		t.Errorf("%+v, %+v", a, b)
	}
	if n := a.MaxTokens.Or(0); n < 11 || n > 16 { // 12 words and two marks
		t.Errorf("%d tokens for the recorded answer", n)
	}
	exact := load(t, "testdata/sharegpt.json", Options{TokenizerName: "o200k_base"})
	loire, _ := tokenizer(t, "o200k_base").Count("The Loire.")
	if n := exact.Item(1).MaxTokens.Or(0); n != int64(loire) {
		t.Errorf("%d tokens of o200k_base for %q", n, "The Loire.")
	}
	whole := yaml(t, "file: sharegpt.json\nturns: 5\nthink: 1s", Options{})
	it := whole.Item(0)
	if it.Len() != 2 || it.Kind != Conversation || it.Nth(1).Wait != time.Second {
		t.Fatalf("%d turns", it.Len())
	}
	said := it.Conversation(1, nil)
	if len(said) != 3 || said[1].Content != "It is forty metres high, and the lantern adds three more." || said[2].Content != "And how many steps lead up?" {
		t.Errorf("%v", said)
	}
}

func TestColumns(t *testing.T) {
	l := yaml(t, "file: generic.csv\ncolumns: {time: ts_ms, input: isl, output: osl, priority: prio}\ntime_in: ms", Options{})
	var at []time.Duration
	for x, err := range l.Times() {
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, x)
	}
	it := l.Item(1)
	if !slices.Equal(at, []time.Duration{0, 20e6, 40e6}) || it.InputTokens.Or(0) != 200 || it.MaxTokens.Or(0) != 20 || it.Extra["priority"] != int64(2) {
		t.Errorf("%v, %+v", at, it)
	}
}

func TestAnswers(t *testing.T) {
	l := load(t, "testdata/checks.jsonl", Options{})
	for i, want := range []string{"It is 42.", "paris, of course", "```json\n{\"ok\":true}\n```"} {
		it := l.Item(int64(i))
		if it.Check == nil || !it.Check.Passes(want) || it.Check.Passes("no idea") {
			t.Errorf("record %d: %v", i, it.Check)
		}
	}
	if !l.ReadsAnswers() || l.Item(0).MaxTokens.Or(0) != 16 {
		t.Error("answers are not read")
	}
}

// GSM8K's column answer is a worked solution: the first record of its test set. Its
// authors read the number with "#### (\-?[0-9\.\,]+)".
func TestWorkedSolutions(t *testing.T) {
	const worked = `Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.\nShe makes 9 * 2 = $<<9*2=18>>18 every day.\n#### `
	for end, want := range map[string]string{"18": "It is $18.", "-1,250": "So -1250", "Summary": strings.ReplaceAll(worked, `\n`, "\n") + "Summary"} {
		l, err := loadText(t, "gsm8k.jsonl", `{"question":"How much?","answer":"`+worked+end+`"}`)
		if err != nil {
			t.Fatal(err)
		}
		if it := l.Item(0); it.Check == nil || !it.Check.Passes(want) || it.Check.Passes("It is 9.") {
			t.Errorf("%s: %v", end, it.Check)
		}
	}
}

// A line of OpenAI's batch files (platform.openai.com/docs/guides/batch) is sent as its
// body says; what of that is not sent is told.
func TestOpenAIsBatchFiles(t *testing.T) {
	l, err := loadText(t, "batch.jsonl", `{"custom_id": "request-1", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "gpt-3.5-turbo-0125", "messages": [{"role": "system", "content": "You are a helpful assistant."},{"role": "user", "content": "Hello world!"}],"max_tokens": 1000, "temperature": 0.2}}`)
	if err != nil {
		t.Fatal(err)
	}
	it := l.Item(0)
	if len(it.Messages) != 2 || it.Messages[1].Content != "Hello world!" || it.MaxTokens.Or(0) != 1000 || it.Model != "gpt-3.5-turbo-0125" ||
		l.LeftOut() != "what stands under temperature (1×) is not sent" {
		t.Errorf("%+v, %q", it, l.LeftOut())
	}
	l, err = loadText(t, "mail.jsonl", `{"prompt":"hi","body":{"prompt":"not this"}}`)
	if err != nil || l.Item(0).Messages[0].Content != "hi" {
		t.Error("a column named body was taken for the request", err)
	}
}

// Rows of pandas, written by Python's json module, have NaN where a cell is empty.
func TestRowsOfPandas(t *testing.T) {
	const row = `{"prompt": "Is NaN a number?", "score": NaN, "loss": -Infinity, "max_tokens": NaN}`
	for _, name := range []string{"rows.jsonl", "rows.json", "rows"} {
		l, err := loadText(t, name, map[bool]string{true: "[" + row + ",\n" + row + "]", false: row}[name == "rows.json"])
		if err != nil {
			t.Error(name, err)
		} else if it := l.Item(0); it.Messages[0].Content != "Is NaN a number?" || it.MaxTokens.OK() {
			t.Errorf("%s: %+v", name, it)
		}
	}
}

// Percentiles are numpy.percentile's, type 7, as those of what is measured.
func TestFewLengths(t *testing.T) {
	for name, c := range map[string]struct{ lengths, want []int64 }{
		"one": {[]int64{7}, []int64{7, 7, 7}},
		"two": {[]int64{10, 1520}, []int64{765, 1369, 1505}},
		"ten": {[]int64{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}, []int64{550, 910, 991}},
	} {
		var text strings.Builder
		for _, n := range c.lengths {
			fmt.Fprintf(&text, "{\"prompt\":\"a\",\"max_tokens\":%d}\n", n)
		}
		l, err := loadText(t, name+".jsonl", text.String())
		if err != nil {
			t.Fatal(err)
		}
		d, err := Describe(l, 0, int64(len(c.lengths)))
		if got := []int64{d.Output.P50, d.Output.P90, d.Output.P99}; err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// A character is what people count, not a byte, and no role is among them. Bytes are
// what a guess of tokens is made of.
func TestCharactersOfPrompts(t *testing.T) {
	for name, c := range map[string]struct {
		file  string
		chars int64
		bytes float64
	}{
		"zh.txt":     {"你好，请介绍一下北京\n", 10, 30},
		"i.jsonl":    {`{"prompt":"i"}`, 1, 1},
		"two.jsonl":  {`{"messages":[{"role":"system","content":"größer"},{"role":"user","content":"да"}]}`, 8, 12},
		"emoji.json": {`[{"prompt":"\ud83d\ude00a"}]`, 2, 5},
	} {
		l, err := loadText(t, name, c.file)
		if err != nil {
			t.Fatal(name, err)
		}
		d, err := Describe(l, 0, 1)
		if err != nil || d.Chars.N != 1 || d.Chars.Max != c.chars || d.Chars.Mean != float64(c.chars) || d.MeanBytes != c.bytes {
			t.Errorf("%s: %+v of %v bytes, %v", name, d.Chars, d.MeanBytes, err)
		}
	}
}

func TestChecksWovenIn(t *testing.T) {
	spec := Spec{Content: Content{Input: "50"}}.WithChecks("testdata/checks.jsonl")
	l, err := FromSpec("x", spec, Options{Salt: "s"})
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	checked := 0
	for i := range int64(n) {
		if it := l.Item(i); it.Check != nil {
			checked++
		}
	}
	if checked < 415 || checked > 585 { // 500 ± 4 sd
		t.Errorf("%d of %d are checked, want one in ten", checked, n)
	}
}

func TestLengthsFromAFile(t *testing.T) {
	l := yaml(t, "input: file:lengths.csv", Options{Seed: 2})
	pairs := map[[2]int64]int{}
	for i := range int64(3000) {
		it := l.Item(i)
		pairs[[2]int64{it.InputTokens.Or(0), it.MaxTokens.Or(0)}]++
	}
	for _, p := range [][2]int64{{100, 10}, {2000, 50}, {300, 20}} {
		if n := pairs[p]; n < 890 || n > 1110 {
			t.Errorf("%v was drawn %d times of 3000", p, n)
		}
	}
	if len(pairs) != 3 {
		t.Errorf("%v", pairs)
	}
}

func TestParquetPrompts(t *testing.T) {
	type row struct {
		Prompt string `parquet:"prompt"`
		Output int64  `parquet:"output_tokens"`
	}
	name := filepath.Join(t.TempDir(), "p.parquet")
	if err := parquet.WriteFile(name, []row{{"one", 5}, {"two", 6}}); err != nil {
		t.Fatal(err)
	}
	l := load(t, name, Options{})
	if it := l.Item(3); it.Messages[0].Content != "two" || it.MaxTokens.Or(0) != 6 {
		t.Errorf("%+v", it)
	}
}

// A random order sends every record once in each round, whatever the workers.
func TestRandomOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(1, 300).Draw(t, "n")
		key := rapid.Uint64().Draw(t, "key")
		seen := map[int64]bool{}
		for x := range n {
			seen[permuted(x, n, key)] = true
		}
		if uint64(len(seen)) != n {
			t.Fatalf("%d of %d places", len(seen), n)
		}
	})
	var lines strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, "prompt %d\n", i)
	}
	name := filepath.Join(t.TempDir(), "p.txt")
	os.WriteFile(name, []byte(lines.String()), 0o600)
	l := yaml(t, "file: "+name+"\norder: random", Options{Seed: 5})
	var rounds [2]map[string]bool
	same := 0
	for r := range rounds {
		rounds[r] = map[string]bool{}
		for i := range int64(40) {
			p := l.Item(int64(r)*40 + i).Messages[0].Content
			rounds[r][p] = true
			if p == fmt.Sprintf("prompt %d", i) {
				same++
			}
		}
	}
	if len(rounds[0]) != 40 || len(rounds[1]) != 40 || same > 12 || l.Item(0).Messages[0].Content == l.Item(40).Messages[0].Content && l.Item(1).Messages[0].Content == l.Item(41).Messages[0].Content {
		t.Errorf("%d and %d different, %d in place", len(rounds[0]), len(rounds[1]), same)
	}
	if p := l.Item(-1).Messages[0].Content; !rounds[0][p] {
		t.Error(p)
	}
}

func TestFileErrors(t *testing.T) {
	for name, c := range map[string][2]string{
		"a.jsonl": {"{\"prompt\":\"x\"}\n{\"prompt\":", "a.jsonl:2: the JSON ends"},
		"b.jsonl": {"{\"prompt\":\"x\"}\n{\"other\":1}", `b.jsonl:2: want a "prompt"`},
		"c.jsonl": {"{\"prompt\":\"x\",\"max_tokens\":0}", "c.jsonl:1: an output length"},
		"d.csv":   {"TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,1,2\n", `d.csv:2: "yesterday" is no date`},
		"e.jsonl": {"", "no record"},
		"f.json":  {"[{\"conversations\":[]}]", "nothing in it can be sent: records that hold nothing to send: 1"},
		"g.jsonl": {"{\"prompt\":\"x\",\"answer\":{\"exakt\":1}}", "unknown field"},
		"h.jsonl": {"{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"image_url\"}]}]}", "without its picture"},
		"i.jsonl": {"{\"timestamp\":1,\"input_length\":5,\"output_length\":5,\"hash_ids\":[1.5]}", "hash_ids"},
	} {
		path := filepath.Join(t.TempDir(), name)
		os.WriteFile(path, []byte(c[0]), 0o600)
		if _, err := Load(path, Options{}); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want a word about %q", name, err, c[1])
		}
	}
	if _, err := Load(t.TempDir(), Options{}); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("a folder: %v", err)
	}
	// A mistake far behind is found when it is reached, and by Strict at once.
	path := filepath.Join(t.TempDir(), "late.jsonl")
	os.WriteFile(path, append(bytes.Repeat([]byte("{\"prompt\":\"x\"}\n"), 3000), "{oops}\n"...), 0o600)
	l := load(t, path, Options{})
	if it := l.Item(3000); it.Err == nil || !strings.Contains(it.Err.Error(), "late.jsonl:3001") {
		t.Errorf("%v", it.Err)
	}
	if _, err := Load(path, Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "late.jsonl:3001") {
		t.Errorf("%v", err)
	}
}

// A trace of a million requests can be sent within a second, in less than 200 MB.
func TestAMillionRequestsStartAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 150 MB")
	}
	name := filepath.Join(t.TempDir(), "big.jsonl")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":8192,"output_length":512,"hash_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,%d]}`+"\n", i, i)
		if b.Len() > 1<<20 {
			b.WriteTo(out)
		}
	}
	b.WriteTo(out)
	out.Close()
	b = bytes.Buffer{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := func() (*Loaded, time.Duration) {
		start := time.Now()
		l := load(t, name, Options{})
		if first := l.Item(0); first.Err != nil {
			t.Fatal(first.Err)
		}
		for at, err := range l.Times() {
			if err != nil || at != 0 {
				t.Fatal(at, err)
			}
			break
		}
		return l, time.Since(start)
	}
	l, began := begin()
	for tries := 1; began > time.Second && tries < 5; tries++ { // others may have had the processor
		l, began = begin()
	}
	for i := int64(-4); i < 2000; i++ {
		if it := l.Item(i); it.Err != nil {
			t.Fatal(it.Err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20
	if began > time.Second || grown > 200 {
		t.Errorf("the first request after %v, %d MB", began, grown)
	}
	t.Logf("the first request after %v; 2000 later %d MB", began, grown)
}

func FuzzEntries(f *testing.F) {
	for _, name := range []string{"mooncake.jsonl", "bailian.jsonl", "burstgpt.csv", "azure2023.csv", "sharegpt.json", "checks.jsonl"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(name, string(data))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, data string) {
		ext := filepath.Ext(name)
		if len(ext) > 8 || strings.ContainsAny(ext, "/\\\x00") {
			return
		}
		path := filepath.Join(dir, "x"+ext)
		if strings.HasSuffix(ext, "yaml") || strings.HasSuffix(ext, "yml") || os.WriteFile(path, []byte(data), 0o600) != nil {
			return
		}
		l, err := Load(path, Options{})
		if err != nil {
			return
		}
		defer l.Close()
		src := l.classes[0].source
		for _, i := range []int64{0, 1, -1} {
			if e, err := src.entry(i); err == nil && e.input.Or(0) < 10_000 {
				l.Item(i)
			}
		}
		for _, err := range l.Times() {
			if err != nil {
				break
			}
		}
	})
}

// Packed files are what they hold.
func TestPackedFiles(t *testing.T) {
	data, err := os.ReadFile("testdata/mooncake.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var gz, zst bytes.Buffer
	w := gzip.NewWriter(&gz)
	w.Write(data)
	w.Close()
	z, _ := zstd.NewWriter(&zst)
	z.Write(data)
	z.Close()
	want := load(t, "testdata/mooncake.jsonl", Options{Salt: "s"})
	for name, packed := range map[string][]byte{"a.jsonl.gz": gz.Bytes(), "a.jsonl.zst": zst.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, packed, 0o600); err != nil {
			t.Fatal(err)
		}
		l := load(t, path, Options{Salt: "s"})
		if l.Info().Kind != "mooncake" || !l.Timed {
			t.Errorf("%s: %+v", name, l.Info())
		}
		for i := range int64(3) {
			if got, want := l.Item(i), want.Item(i); got.Messages[0].Content != want.Messages[0].Content {
				t.Errorf("%s: item %d differs", name, i)
			}
		}
	}
	broken := filepath.Join(dir, "broken.csv.gz")
	if err := os.WriteFile(broken, gz.Bytes()[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(broken, Options{}); err == nil || !strings.Contains(err.Error(), "broken.csv.gz: it can't be unpacked") {
		t.Errorf("%v", err)
	}
}

// A file of a million prompts is not read as a whole either.
func TestAMillionPromptsStartAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 60 MB")
	}
	name := filepath.Join(t.TempDir(), "prompts.txt")
	var b bytes.Buffer
	for i := range 1_000_000 {
		fmt.Fprintf(&b, "What is the square of the number %d, and why is it so?\n", i)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	b = bytes.Buffer{}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	l, err := FromSpec("--prompts", Spec{Content: Content{File: name}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, i := range []int64{-1, 0, 1, 2000} {
		if it := l.Item(i); it.Err != nil {
			t.Fatal(it.Err)
		}
	}
	if it := l.Item(-1); !strings.Contains(it.Messages[0].Content, " 999999,") {
		t.Errorf("the warm-up begins with %q", it.Messages[0].Content)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := (int64(after.HeapAlloc) - int64(before.HeapAlloc)) >> 20; grown > 20 {
		t.Errorf("%d MB", grown)
	}
}

// A length has the same bound in every format: texts of it are made.
func TestLengthsHaveABound(t *testing.T) {
	const long = "10000001"
	for name, text := range map[string]string{
		"burst-in.csv":  "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT," + long + ",230,1317,Conversation log\n",
		"burst-out.csv": "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,230," + long + ",1317,Conversation log\n",
		"azure.csv":     "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.97,374,44\n2023-11-16 18:17:04.03," + long + ",9\n",
		"plain.csv":     "input_length,output_length\n3,4\n3," + long + "\n",
		"mooncake.jsonl": `{"timestamp":1,"input_length":5,"output_length":5,"hash_ids":[1]}` + "\n" +
			`{"timestamp":2,"input_length":5,"output_length":` + long + `,"hash_ids":[1]}`,
		"bailian.jsonl": `{"chat_id":1,"parent_chat_id":-1,"timestamp":1,"input_length":5,"output_length":5,"hash_ids":[1]}` + "\n" +
			`{"chat_id":2,"parent_chat_id":-1,"timestamp":2,"input_length":5,"output_length":` + long + `,"hash_ids":[1]}`,
		"prompts.jsonl": `{"prompt":"x","max_tokens":5}` + "\n" + `{"prompt":"x","max_tokens":` + long + `}`,
	} {
		path := filepath.Join(t.TempDir(), name)
		os.WriteFile(path, []byte(text), 0o600)
		if _, err := Load(path, Options{Strict: true}); err == nil || !strings.Contains(err.Error(), "a length of "+long+"; want 1 to 10000000") || !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BurstGPT's release 2.0 names the conversation of its chats, and of API calls none. Source: its README.
func TestSessionsOfBurstGPT(t *testing.T) {
	const table = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n" +
		"19440110.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n19440161.0,,2,ChatGPT,36,29,65,API log\n" +
		"19440163.0,,2,ChatGPT,37,29,66,API log\n19440210.0,1722ac82,12,GPT-4,1380,12,1392,Conversation log\n"
	l, err := loadText(t, "burst3.csv", table)
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(l.Remarks(), "; "); !strings.Contains(notes, "records name sessions") || strings.Contains(notes, "Session ID") {
		t.Errorf("%q", notes)
	}
	path := filepath.Join(t.TempDir(), "burst3.csv")
	if err := os.WriteFile(path, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err = loadText(t, "x.yaml", "file: "+path+"\nsessions: true\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1, 1} {
		if it := l.Item(int64(i)); it.Err != nil || it.Len() != want {
			t.Errorf("session %d has %d requests, %v; want %d", i, it.Len(), it.Err, want)
		}
	}
	first := l.Item(0)
	if second := first.Nth(1); second.At.Or(0) != 100*time.Second || second.InputTokens.Or(0) != 1380 {
		t.Errorf("%+v", second)
	}
}

// A table that pandas wrote has its rows' numbers in front, in a column without a name.
func TestTableWithAnIndex(t *testing.T) {
	l, err := loadText(t, "burst.csv", ",Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n0,5,ChatGPT,472,18,490,Conversation log\n1,45,ChatGPT,1087,230,1317,Conversation log\n")
	if err != nil {
		t.Fatal(err)
	}
	if it := l.Item(1); it.Err != nil || it.InputTokens.Or(0) != 1087 || it.MaxTokens.Or(0) != 230 || l.Info().Kind != "burstgpt" {
		t.Errorf("%v tokens, %v asked, %s, %v", it.InputTokens, it.MaxTokens, l.Info().Kind, it.Err)
	}
	if notes := strings.Join(l.Remarks(), " "); !strings.Contains(notes, "(index)") {
		t.Errorf("%q", notes)
	}
}
