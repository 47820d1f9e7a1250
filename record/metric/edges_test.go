package metric

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
)

// Conditions at their edges: token counts, choices, stalls, flags.
func TestEdges(t *testing.T) {
	for _, c := range []struct {
		name   string
		stream string
		set    func(*timeline.Timeline)
		want   string
	}{
		{name: "ids come before the tokenizer", stream: `
			t=100ms x4 every 10ms C("w",1)
			t=140ms FIN + IDS(4) + TOK(5) + DONE + EOF`,
			want: `{"output_tokens":4,"token_source":"ids","itl_ms":[10,10,10],"flags":["token_count_mismatch"]}`},
		{name: "a tokenizer within 10 %", stream: `
			t=100ms x10 every 10ms C("w")
			t=191ms FIN + U(1,10) + TOK(11) + DONE + EOF`,
			want: `{"flags":[]}`},
		{name: "hidden reasoning leaves the pace", stream: `
			t=900ms x5 every 20ms C("w")
			t=1000ms FIN + UR(10,105,100) + DONE + EOF`,
			want: `{"output_tokens":105,"reasoning_tokens":100,"tpot_ms":20,"tpot_adj_ms":20,"itl_ms":[20,20,20,20],"e2e_tps":107.1429,"decode_tps":50,"flags":["hidden_reasoning"]}`},
		{name: "a summary of the reasoning, whose tokens nobody counts", stream: `
			t=900ms x10 every 1ms Z("s")
			t=5000ms x6 every 20ms C("w")
			t=5101ms FIN + UR(10,506,500) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.ReasoningSummary },
			want: `{"output_tokens":506,"reasoning_tokens":500,"ttft_ms":900,"ttfo_ms":5000,"tpot_ms":20,"tpot_adj_ms":null,"itl_ms":null,"flags":["hidden_reasoning","reasoning_summary"]}`},
		{name: "a summary between two parts of the answer", stream: `
			t=100ms Z("s")
			t=900ms x3 every 20ms C("w")
			t=5000ms Z("s")
			t=5900ms x3 every 20ms C("w")
			t=5941ms FIN + UR(10,506,500) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.ReasoningSummary },
			want: `{"output_tokens":506,"tpot_ms":20,"flags":["hidden_reasoning","reasoning_summary"]}`},
		{name: "a summary and one event of the answer have no pace", stream: `
			t=100ms x10 every 20ms Z("s")
			t=900ms C("w")
			t=901ms FIN + UR(10,506,500) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.ReasoningSummary },
			want: `{"output_tokens":506,"tpot_ms":null,"decode_tps":null}`},
		{name: "hidden reasoning in the total only", stream: `
			t=900ms x5 every 20ms C("w")
			t=1000ms FIN + UT(10,5,115) + DONE + EOF`,
			want: `{"output_tokens":105,"reasoning_tokens":100,"tpot_ms":20,"flags":["hidden_reasoning","usage_inconsistent"]}`},
		{name: "a total too small is only inconsistent", stream: `
			t=900ms x5 every 20ms C("w")
			t=1000ms FIN + UT(10,5,12) + DONE + EOF`,
			want: `{"output_tokens":5,"reasoning_tokens":null,"tpot_ms":20,"flags":["usage_inconsistent"]}`},
		{name: "more reasoning than output", stream: `
			t=900ms x2 every 20ms C("w")
			t=1000ms FIN + UR(10,2,9) + DONE + EOF`,
			want: `{"output_tokens":2,"tpot_ms":20,"flags":["token_count_mismatch"]}`},
		{name: "sealed reasoning that nobody counts", stream: `
			t=900ms x5 every 20ms C("w")
			t=1000ms FIN + U(10,505) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.HiddenReasoning },
			want: `{"output_tokens":505,"reasoning_tokens":null,"tpot_ms":null,"tpot_adj_ms":null,"decode_tps":null,"itl_ms":null,"icl_ms":[20,20,20,20],"flags":["hidden_reasoning"]}`},
		{name: "fewer tokens than events", stream: `
			t=100ms x10 every 20ms C("w")
			t=281ms FIN + U(10,3) + DONE + EOF`,
			want: `{"output_tokens":3,"token_source":"usage","tpot_ms":20,"tpot_adj_ms":null,"itl_ms":null,"flags":["token_count_mismatch"]}`},
		{name: "one token in three events", stream: `
			t=100ms x3 every 20ms C("w")
			t=141ms FIN + U(10,1) + DONE + EOF`,
			want: `{"output_tokens":1,"tpot_ms":20,"flags":["token_count_mismatch"]}`},
		{name: "reasoning within the content is not hidden", stream: `
			t=100ms x10 every 20ms C("w")
			t=281ms FIN + UR(10,10,7) + DONE + EOF`,
			want: `{"output_tokens":10,"reasoning_tokens":7,"tpot_ms":20,"flags":["token_count_mismatch"]}`},
		{name: "a surplus beside told reasoning is nobody's", stream: `
			t=100ms x3 every 20ms C("w")
			t=141ms FIN + UR(10,5,2) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Usage.Total = timeline.Some[int64](40) },
			want: `{"output_tokens":5,"reasoning_tokens":2,"tpot_ms":20,"flags":["hidden_reasoning","usage_inconsistent"]}`},
		{name: "rejected predictions", stream: `
			t=100ms x3 every 20ms C("w")
			t=141ms FIN + U(10,13) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Usage.Rejected = timeline.Some[int64](10) },
			want: `{"output_tokens":13,"tpot_ms":20,"flags":["hidden_reasoning"]}`},
		{name: "refused: nothing was given, and that is known", stream: `
			t=40ms EOF`,
			set: func(tl *timeline.Timeline) {
				tl.Streamed, tl.HTTPStatus = false, 503
				tl.Fail(timeline.HTTP5xx, "busy")
			},
			want: `{"output_tokens":0,"token_source":null,"chunks":null,"flags":[]}`},
		{name: "no answer: nothing is known", stream: `
			t=40ms EOF`,
			set: func(tl *timeline.Timeline) {
				tl.Streamed, tl.HTTPStatus = false, 0
				tl.Fail(timeline.ConnectRefused, "refused")
			},
			want: `{"output_tokens":null,"token_source":null,"chunks":null,"flags":[]}`},
		{name: "reasoning in the text, and the token that ends it", stream: `
			t=150ms x3 every 50ms Z("th")
			t=300ms x2 every 50ms C("w")
			t=400ms FIN + U(5,6) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.InlineReasoning },
			want: `{"output_tokens":6,"ttft_ms":150,"ttfo_ms":300,"tpot_ms":50,"itl_ms":[50,50,50,50],"flags":["inline_reasoning"]}`},
		{name: "only reasoning", stream: `
			t=100ms x3 every 20ms Z("th")
			t=161ms FIN + UR(10,3,3) + DONE + EOF`,
			want: `{"ttft_ms":100,"ttfo_ms":null,"tpot_ms":20,"flags":["no_answer"]}`},
		{name: "the stop token of usage has no event", stream: `
			t=100ms x4 every 10ms C("w",1)
			t=131ms FIN + U(3,5) + DONE + EOF`,
			want: `{"output_tokens":5,"tpot_ms":10,"itl_ms":[10,10,10]}`},
		{name: "counts that do not add up are not known", stream: `
			t=100ms x4 every 10ms C("w",2)
			t=131ms FIN + U(3,20) + DONE + EOF`,
			want: `{"itl_ms":null,"tpot_adj_ms":null}`},
		{name: "an event without a token of its own", stream: `
			t=100ms C("a",1)
			t=130ms C("b",0)
			t=160ms C("c",3)
			t=161ms FIN + U(3,4) + DONE + EOF`,
			want: `{"icl_ms":[30,30],"itl_ms":[20,20,20],"chunks":3}`},
		{name: "two choices", stream: `
			t=100ms CI(0,"a")
			t=110ms CI(1,"a")
			t=120ms CI(0,"b")
			t=150ms CI(1,"b")
			t=151ms FIN + U(3,4) + DONE + EOF`,
			want: `{"tpot_ms":30,"tpot_adj_ms":null,"itl_ms":null,"icl_ms":[10,10,30],"chunks":4}`},
		{name: "two choices share the tokens by events", stream: `
			t=100ms x3 every 40ms CI(0,"aaaa")
			t=200ms CI(1,"bbbb")
			t=300ms FIN + U(3,16) + DONE + EOF`,
			want: `{"tpot_ms":7.2727,"flags":["multi_token_chunks"]}`},
		{name: "a stall", stream: `
			t=100ms x5 every 20ms C("w")
			t=400ms x2 every 201ms C("w")
			t=602ms FIN + U(3,7) + DONE + EOF`,
			want: `{"max_gap_ms":220,"stalls":2}`},
		{name: "200 ms is no stall", stream: `
			t=100ms x5 every 20ms C("w")
			t=380ms C("w")
			t=602ms FIN + U(3,6) + DONE + EOF`,
			want: `{"max_gap_ms":200,"stalls":0}`},
		{name: "5 × the median is no stall", stream: `
			t=100ms x5 every 50ms C("w")
			t=550ms C("w")
			t=602ms FIN + U(3,6) + DONE + EOF`,
			want: `{"max_gap_ms":250,"stalls":0}`},
		{name: "two events at one moment have no pace", stream: `
			t=100ms C("a") + C("b") + U(3,2) + DONE + EOF`,
			want: `{"tpot_ms":null,"decode_tps":null,"flags":["coalesced"]}`},
		{name: "three tokens in one chunk are a burst", stream: `
			t=100ms C("a b c") + U(3,3) + DONE + EOF`,
			want: `{"tpot_ms":null,"icl_ms":[],"flags":["burst","multi_token_chunks"]}`},
		{name: "four tokens in 3 ms are none", stream: `
			t=100ms x4 every 1ms C("w")
			t=104ms U(3,4) + DONE + EOF`,
			want: `{"tpot_ms":1,"flags":[]}`},
		{name: "five tokens in 5 ms are a burst, in 5.001 not", stream: `
			t=100ms C("w")
			t=101ms x3 every 1ms C("w")
			t=105.001ms C("w") + U(3,5) + DONE + EOF`,
			want: `{"tpot_ms":1.25,"flags":[]}`},
		{name: "equal kernel stamps are one delivery", stream: `
			t=100ms C("w")
			t=200ms x2 every 0ms C("w")
			t=300ms C("w") + U(3,4) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Clock = timeline.Kernel },
			want: `{"itl_ms":null,"flags":["coalesced"]}`},
		{name: "media have no bytes of text", stream: `
			t=100ms x3 every 20ms M()
			t=161ms U(3,30) + DONE + EOF`,
			want: `{"tpot_ms":1.3793,"flags":["multi_token_chunks"]}`},
		{name: "not streamed and failed: no time at all", stream: `
			t=40ms EOF`,
			set:  func(tl *timeline.Timeline) { tl.Streamed = false; tl.Fail(timeline.ConnReset, "reset") },
			want: `{"e2e_ms":null,"close_ms":40,"output_tokens":null,"chunks":null,"flags":[]}`},
		{name: "not streamed, no usage: no count", stream: `
			t=40ms C("one two") + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Streamed = false },
			want: `{"e2e_ms":40,"output_tokens":null,"token_source":null,"e2e_tps":null,"flags":["non_streaming","stream_ignored"]}`},
		{name: "not streamed: reasoning is not hidden", stream: `
			t=40ms C("one two") + UR(5,20,12) + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Streamed, tl.Asked = false, false },
			want: `{"output_tokens":20,"reasoning_tokens":12,"e2e_tps":500,"flags":["non_streaming"]}`},
		{name: "no arrival was kept for each", stream: `
			t=100ms x3 every 20ms C("w")
			t=141ms U(3,60) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.Flags |= timeline.ArrivalsCapped },
			want: `{"ttft_ms":100,"chunks":null,"icl_ms":null,"itl_ms":null,"max_gap_ms":null,"stalls":null}`},
		{name: "server times give the network's part", stream: `
			t=100ms x2 every 20ms C("w")
			t=141ms U(3,2) + DONE + EOF`,
			set: func(tl *timeline.Timeline) {
				tl.SentUS = timeline.Some(int64(10_000))
				tl.Server = map[string]float64{"queue_ms": 20, "prefill_ms": 60}
			},
			want: `{"sent_ms":10,"service_ttft_ms":90,"service_e2e_ms":110,"network_ms":10}`},
		{name: "an answer before the request was written", stream: `
			t=100ms C("w") + U(3,1) + DONE + EOF`,
			set:  func(tl *timeline.Timeline) { tl.SentUS = timeline.Some(int64(200_000)) },
			want: `{"ttft_ms":100,"service_ttft_ms":null,"service_e2e_ms":null}`},
	} {
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
		})
	}
}

// A request that never got an answer has a record without a single time.
func TestNothingAnswered(t *testing.T) {
	tl := timeline.New()
	tl.Fail(timeline.ConnectRefused, "connection refused")
	for key, value := range asMap(t, Of(tl)) {
		if strings.HasSuffix(key, "_ms") && key != "delay_ms" && value != nil {
			t.Errorf("%s is %v", key, value)
		}
	}
}

func TestDeliveredAddsUpToS(t *testing.T) {
	for _, c := range []struct {
		stream string
		want   []float64
	}{
		{"t=100ms x3 every 20ms C(\"abcd\")\nt=141ms U(1,10) + DONE + EOF", []float64{10. / 3, 10. / 3, 10. / 3}},
		{"t=100ms x3 every 20ms C(\"abcd\",4)\nt=141ms U(1,12) + DONE + EOF", []float64{4, 4, 4}},
		{"t=100ms x3 every 20ms C(\"abcd\",1)\nt=141ms U(1,4) + DONE + EOF", []float64{1, 1, 2}},
	} {
		tl := stream(t, c.stream)
		v := ValuesOf(tl)
		var got []float64
		Delivered(tl, &v, func(_ int64, tokens float64) { got = append(got, tokens) })
		if len(got) != len(c.want) {
			t.Fatalf("got %v, want %v", got, c.want)
		}
		for i := range got {
			if !near(got[i], c.want[i]) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		}
	}
}

func TestNormalise(t *testing.T) {
	r := Of(stream(t, `
		t=100ms x11 every 10ms C("word ")
		t=201ms U(1,11) + DONE + EOF`))
	r.Normalise(21, "o200k_base")
	if !near(r.NormDecodeTPS.Or(0), 200) || !near(r.NormE2ETPS.Or(0), 105) || *r.NormTokenizer != "o200k_base" {
		t.Errorf("got %s and %s tokens/s", show(r.NormDecodeTPS), show(r.NormE2ETPS))
	}
}
