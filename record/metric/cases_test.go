package metric

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Each case is a trap with the values that must be reported; want is a part of
// the record in its own JSON form, not lists values that prove the trap.
var cases = []struct {
	name   string
	stream string
	set    func(*timeline.Timeline)
	want   string
	not    string
}{
	{name: "B1 role-only first chunk", stream: `
		t=5ms ROLE
		t=214ms C("A")
		t=234ms C("B")
		t=254ms C("C") + FIN
		t=255ms U(10,3) + DONE + EOF`,
		want: `{"first_byte_ms":5,"ttft_ms":214,"ttfo_ms":214,"tpot_ms":20,"output_tokens":3,"token_source":"usage","chunks":3,"e2e_ms":254,"close_ms":255,"input_tokens":10,"itl_ms":[20,20]}`,
		not:  `{"ttft_ms":[5]}`},
	{name: "B2 prefill after the role chunk", stream: `
		t=900ms ROLE
		t=2200ms x4 every 25ms C("w")
		t=2276ms FIN + U(6000,4) + DONE + EOF`,
		want: `{"ttft_ms":2200,"tpot_ms":25,"icl_ms":[25,25,25],"chunks":4,"e2e_ms":2275,"max_gap_ms":25}`,
		not:  `{"ttft_ms":[900],"max_gap_ms":[1300]}`},
	{name: "B3 empty answer", stream: `
		t=8ms ROLE
		t=9ms FIN + U(12,0) + DONE
		t=10ms EOF`,
		set:  fails(timeline.EmptyOutput),
		want: `{"outcome":"empty_output","ttft_ms":null,"ttfo_ms":null,"tpot_ms":null,"e2e_ms":null,"output_tokens":0,"chunks":0,"close_ms":10,"icl_ms":null,"itl_ms":null,"max_gap_ms":null,"stalls":null,"e2e_tps":null,"decode_tps":null}`},
	{name: "B4 one token", stream: `
		t=3ms ROLE
		t=180ms C("Yes")
		t=181ms FIN + U(20,1) + DONE + EOF`,
		want: `{"ttft_ms":180,"tpot_ms":null,"tpot_adj_ms":null,"icl_ms":[],"output_tokens":1,"chunks":1,"e2e_ms":180,"close_ms":181,"e2e_tps":5.556,"decode_tps":null,"max_gap_ms":null}`},
	{name: "B5 TTFT is no gap", stream: `
		t=500ms x4 every 20ms C("w")
		t=561ms FIN + U(100,4) + DONE + EOF`,
		want: `{"ttft_ms":500,"tpot_ms":20,"icl_ms":[20,20,20],"itl_ms":[20,20,20],"max_gap_ms":20}`},
	{name: "B6 tokens produced, not requested", stream: `
		t=300ms x5 every 40ms C("w")
		t=461ms FIN + U(64,5) + DONE + EOF`,
		set:  func(tl *timeline.Timeline) { tl.Requested = timeline.Some(int64(128)) },
		want: `{"ttft_ms":300,"tpot_ms":40,"output_tokens":5,"requested_tokens":128,"e2e_ms":460}`,
		not:  `{"tpot_ms":[1.26]}`},
	{name: "B7 TPOT is not E2E by tokens", stream: `
		t=1000ms x5 every 20ms C("w")
		t=1081ms FIN + U(2000,5) + DONE + EOF`,
		want: `{"ttft_ms":1000,"tpot_ms":20,"e2e_ms":1080}`,
		not:  `{"tpot_ms":[216]}`},
	{name: "B8 uneven gaps", stream: `
		t=250ms C("a")
		t=650ms C("b")
		t=750ms C("c")
		t=1150ms C("d")
		t=1250ms C("e") + FIN + U(8,5) + DONE + EOF`,
		want: `{"ttft_ms":250,"tpot_ms":250,"icl_ms":[400,100,400,100],"itl_ms":[400,100,400,100],"e2e_ms":1250,"stalls":0}`},
	{name: "B9 several tokens a chunk, unknown", stream: `
		t=200ms C("t1")
		t=260ms C("t2 t3 t4 t5")
		t=280ms C("t6")
		t=340ms C("t7 t8 t9 t10") + FIN
		t=341ms U(50,10) + DONE + EOF`,
		want: `{"ttft_ms":200,"tpot_ms":15.5556,"icl_ms":[60,20,60],"output_tokens":10,"chunks":4,"itl_ms":null,"tpot_adj_ms":null,"flags":["multi_token_chunks"]}`,
		not:  `{"tpot_ms":[46.667],"output_tokens":[4]}`},
	{name: "B9 several tokens a chunk, told", stream: `
		t=200ms C("t1",1)
		t=260ms C("t2 t3 t4 t5",4)
		t=280ms C("t6",1)
		t=340ms C("t7 t8 t9 t10",4) + FIN
		t=341ms U(50,10) + DONE + EOF`,
		want: `{"tpot_ms":15.5556,"tpot_adj_ms":15.5556,"itl_ms":[15,15,15,15,20,15,15,15,15]}`},
	{name: "B10 plain", stream: `
		t=300ms x3 every 200ms C("a b c d e f g h i j")
		t=701ms FIN + U(32,30) + DONE + EOF`,
		want: `{"ttft_ms":300,"tpot_ms":13.793,"tpot_adj_ms":null,"itl_ms":null,"output_tokens":30,"chunks":3,"icl_ms":[200,200],"flags":["multi_token_chunks"]}`},
	{name: "B10 running usage", stream: `
		t=300ms x3 every 200ms C("a b c d e f g h i j",10)
		t=701ms FIN + U(32,30) + DONE + EOF`,
		want: `{"ttft_ms":300,"tpot_ms":13.793,"tpot_adj_ms":20,"output_tokens":30,"chunks":3,"icl_ms":[200,200],"itl_ms":[20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20,20],"flags":["multi_token_chunks"]}`},
	{name: "B11 trailing usage chunk", stream: `
		t=200ms x11 every 100ms C("w")
		t=1201ms FIN
		t=1400ms U(16,11) + DONE
		t=1405ms EOF`,
		want: `{"ttft_ms":200,"tpot_ms":100,"e2e_ms":1200,"close_ms":1405,"output_tokens":11,"chunks":11}`,
		not:  `{"tpot_ms":[120,120.5],"e2e_ms":[1400,1405]}`},
	{name: "B12 reasoning before the answer", stream: `
		t=6ms ROLE
		t=300ms x4 every 20ms Z("th")
		t=400ms x2 every 20ms C("an")
		t=421ms FIN + UR(50,6,4) + DONE + EOF`,
		want: `{"ttft_ms":300,"ttfo_ms":400,"tpot_ms":24,"output_tokens":6,"reasoning_tokens":4,"chunks":6,"e2e_ms":420,"flags":[]}`,
		not:  `{"ttft_ms":[400],"output_tokens":[10,2]}`},
	{name: "B13 cumulative usage", stream: `
		t=100ms x4 every 30ms C("a",1)
		t=191ms FIN + U(9,4) + DONE + EOF`,
		want: `{"ttft_ms":100,"tpot_ms":30,"output_tokens":4,"input_tokens":9,"token_source":"usage","chunks":4,"itl_ms":[30,30,30]}`},
	{name: "B15 no usage", stream: `
		t=150ms C("Hello")
		t=170ms C(" big")
		t=190ms C(" world") + FIN + DONE + EOF`,
		want: `{"ttft_ms":150,"output_tokens":3,"token_source":"chunks","tpot_ms":20,"flags":["estimated"]}`},
	{name: "B15 no usage, a tokenizer", stream: `
		t=150ms C("Hello")
		t=170ms C(" big")
		t=190ms C(" wo rld") + FIN + DONE + EOF + TOK(5)`,
		want: `{"output_tokens":5,"token_source":"tokenizer","tpot_ms":10,"itl_ms":null,"flags":["multi_token_chunks","estimated"]}`},
	{name: "B16 replaced usage", stream: `
		t=42ms PING
		t=320ms x5 every 70ms C("abc ")
		t=601ms FIN + U(25,15) + DONE + EOF`,
		want: `{"ttft_ms":320,"tpot_ms":20,"output_tokens":15,"input_tokens":25,"chunks":5,"e2e_ms":600}`,
		not:  `{"output_tokens":[16,1]}`},
	{name: "B17 tokenizer disagrees", stream: `
		t=100ms x100 every 10ms C(" ")
		t=1091ms FIN + U(5,100) + DONE + EOF + TOK(7)`,
		want: `{"ttft_ms":100,"output_tokens":100,"token_source":"usage","tpot_ms":10,"chunks":100,"flags":["token_count_mismatch"]}`,
		not:  `{"output_tokens":[7],"tpot_ms":[165]}`},
	{name: "B19 tool call in one late piece", stream: `
		t=10ms ROLE
		t=800ms T("get")
		t=2400ms T("{a:1}")
		t=2401ms FIN + U(60,81) + DONE + EOF`,
		want: `{"ttft_ms":800,"ttfo_ms":800,"tpot_ms":20,"output_tokens":81,"chunks":2,"e2e_ms":2400,"flags":["multi_token_chunks","token_count_mismatch"]}`},
	{name: "B20 usage in the last content chunk", stream: `
		t=100ms C("a")
		t=150ms C("b")
		t=200ms C("c") + U(4,3)
		t=201ms DONE + EOF`,
		want: `{"ttft_ms":100,"tpot_ms":50,"output_tokens":3,"chunks":3,"e2e_ms":200}`},
	{name: "B21 two speeds", stream: `
		t=4000ms x299 every 20ms C("w")
		t=10000ms C("w")
		t=10001ms FIN + U(100,300) + DONE + EOF`,
		want: `{"ttft_ms":4000,"e2e_ms":10000,"output_tokens":300,"e2e_tps":30,"decode_tps":49.8333,"tpot_ms":20.0669}`},
	{name: "B22 cached prompt", stream: `
		t=50ms x10 every 10ms C("w")
		t=141ms FIN + UC(1000,10,900) + DONE + EOF`,
		want: `{"ttft_ms":50,"tpot_ms":10,"input_tokens":1000,"cached_tokens":900,"flags":["prefix_cache_active"]}`},
	{name: "B24 not streamed", stream: `
		t=2000ms C("word word") + U(40,100) + EOF`,
		set:  func(tl *timeline.Timeline) { tl.Streamed, tl.Asked = false, false },
		want: `{"ttft_ms":null,"ttfo_ms":null,"tpot_ms":null,"e2e_ms":2000,"output_tokens":100,"e2e_tps":50,"decode_tps":null,"chunks":null,"icl_ms":null,"itl_ms":null,"max_gap_ms":null,"stalls":null,"service_ttft_ms":null,"flags":["non_streaming"]}`,
		not:  `{"ttft_ms":[2000]}`},
	{name: "B34 several events in one read", stream: `
		t=100ms C("a")
		t=200ms C("b") + C("c") + C("d")
		t=300ms C("e") + FIN + U(3,5) + DONE + EOF`,
		want: `{"ttft_ms":100,"tpot_ms":50,"output_tokens":5,"chunks":5,"icl_ms":[100,0,0,100],"itl_ms":null,"flags":["coalesced"]}`},
	{name: "B36 a very long event", stream: `
		t=100ms C("a")
		t=184ms C("xxxx")
		t=185ms FIN + U(3,2) + DONE + EOF`,
		want: `{"ttft_ms":100,"tpot_ms":84,"output_tokens":2,"chunks":2,"e2e_ms":184}`},
	{name: "B39 cut short", stream: `
		t=100ms x3 every 20ms C("w")
		t=150ms EOF`,
		set:  fails(timeline.StreamTruncated),
		want: `{"outcome":"stream_truncated","ttft_ms":100,"tpot_ms":20,"output_tokens":3,"token_source":"chunks","chunks":3,"e2e_ms":140,"close_ms":150,"flags":["estimated"]}`},
	{name: "B43b one flush at the end", stream: `
		t=255ms ROLE + C("A") + C("B") + C("C") + FIN + U(10,3) + DONE + EOF`,
		want: `{"ttft_ms":255,"tpot_ms":null,"tpot_adj_ms":null,"itl_ms":null,"icl_ms":[0,0],"output_tokens":3,"flags":["burst","coalesced"]}`},
	{name: "B44 the whole stream at once", stream: `
		t=2800ms x20 every 0ms C("w")
		t=2800ms FIN + U(10,20) + DONE + EOF`,
		want: `{"ttft_ms":2800,"tpot_ms":null,"e2e_ms":2800,"output_tokens":20,"chunks":20,"e2e_tps":7.1429,"decode_tps":null,"itl_ms":null,"flags":["burst"]}`},
	{name: "B44 spread over 3 ms", stream: `
		t=2800ms x20 every 0.15ms C("w")
		t=2803ms FIN + U(10,20) + DONE + EOF`,
		want: `{"tpot_ms":null,"flags":["burst"]}`},
	{name: "B45 partial buffering", stream: `
		t=260ms x25 every 0ms C("w")
		t=510ms x25 every 0ms C("w")
		t=760ms x25 every 0ms C("w")
		t=1010ms x25 every 0ms C("w")
		t=1010ms FIN + U(10,100) + DONE + EOF`,
		want: `{"ttft_ms":260,"tpot_ms":7.5758,"tpot_adj_ms":10,"max_gap_ms":250,"output_tokens":100,"chunks":100,"flags":["coalesced_bursts"]}`},
	{name: "B47 an error page", stream: `
		t=20ms EOF`,
		set: func(tl *timeline.Timeline) {
			tl.Streamed, tl.HTTPStatus = false, 503
			tl.Fail(timeline.HTTP5xx, "no healthy upstream")
		},
		want: `{"outcome":"http_5xx","http_status":503,"ttft_ms":null,"e2e_ms":null,"output_tokens":0,"close_ms":20,"flags":[],"icl_ms":null}`},
}

func fails(o timeline.Outcome) func(*timeline.Timeline) {
	return func(tl *timeline.Timeline) { tl.Fail(o, "it failed") }
}

func TestCases(t *testing.T) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tl := stream(t, c.stream)
			if c.set != nil {
				c.set(tl)
			}
			record := asMap(t, Of(tl))
			for key, want := range parsed(t, c.want) {
				if got, ok := record[key]; !ok || !equal(want, got) {
					t.Errorf("%s: got %v, want %v", key, got, want)
				}
			}
			for key, bad := range parsed(t, c.not) {
				for _, v := range bad.([]any) {
					if equal(v, record[key]) {
						t.Errorf("%s is %v, the value of the trap", key, v)
					}
				}
			}
		})
	}
}

func asMap(t *testing.T, v any) map[string]any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(data))
}

func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return m
}

// equal compares JSON values; numbers to the printed accuracy.
func equal(a, b any) bool {
	switch a := a.(type) {
	case float64:
		b, ok := b.(float64)
		return ok && math.Abs(a-b) < 0.001
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equal)
	}
	return a == b
}
