package metric

import (
	"math"
	"testing"

	"tokenmeter/record/timeline"
)

// The worked example of the definitions: four requests, one of which waited
// 250 ms in the client (C), one of which brought four tokens in a chunk (C)
// and one of which has a single token (D).
func workedExample(t *testing.T) []*timeline.Timeline {
	a := stream(t, `
		t=200ms x4 every 50ms C("w",1)
		t=350ms U(100,4) + DONE + EOF`)
	b := stream(t, `
		t=400ms x3 every 100ms C("w",1)
		t=600ms U(200,3) + DONE + EOF`)
	b.DueUS, b.StartUS = 100_000, 100_000
	c := stream(t, `
		t=550ms C("w",1)
		t=650ms C("w w w w",4) + U(50,5) + DONE + EOF`)
	c.DueUS, c.StartUS = 200_000, 450_000
	c.SentUS = timeline.Some(int64(250_000))
	d := stream(t, `
		t=600ms C("w",1) + U(10,1) + DONE + EOF`)
	d.DueUS, d.StartUS = 300_000, 300_000
	for _, tl := range []*timeline.Timeline{a, b, d} {
		tl.SentUS = timeline.Some(int64(0))
	}
	return []*timeline.Timeline{a, b, c, d}
}

func TestWorkedExample(t *testing.T) {
	type opt = timeline.Opt[float64]
	ms := func(v float64) opt { return timeline.Some(v) }
	want := []struct {
		ttft, serviceTTFT, e2e, serviceE2E, tpot, e2eTPS opt
		delay                                            float64
	}{
		{ms(200), ms(200), ms(350), ms(350), ms(50), ms(11.4286), 0},
		{ms(400), ms(400), ms(600), ms(600), ms(100), ms(5), 0},
		{ms(550), ms(300), ms(650), ms(400), ms(25), ms(7.6923), 250},
		{ms(600), ms(600), ms(600), ms(600), opt{}, ms(1.6667), 0},
	}
	var spans, tokensAfterFirst, tpots, n, pooled float64
	var chunkGaps []float64
	for i, tl := range workedExample(t) {
		r, w := Of(tl), want[i]
		for name, pair := range map[string][2]opt{
			"ttft": {r.TTFTMS, w.ttft}, "service ttft": {r.ServiceTTFTMS, w.serviceTTFT},
			"e2e": {r.E2EMS, w.e2e}, "service e2e": {r.ServiceE2EMS, w.serviceE2E},
			"tpot": {r.TPOTMS, w.tpot}, "e2e tps": {r.E2ETPS, w.e2eTPS},
			"delay": {ms(r.DelayMS), ms(w.delay)},
		} {
			got, ok := pair[0].Get()
			if expected, known := pair[1].Get(); ok != known || !near(got, expected) {
				t.Errorf("request %c: %s is %v, want %v", 'A'+i, name, show(pair[0]), show(pair[1]))
			}
		}
		if tpot, ok := r.TPOTMS.Get(); ok {
			tpots, n = tpots+tpot, n+1
			tokensAfterFirst += float64(r.OutputTokens.Or(0) - 1)
			spans += r.E2EMS.Or(0) - r.TTFTMS.Or(0)
		}
		chunkGaps = append(chunkGaps, r.ICLMS...)
	}
	if got := tpots / n; !near(got, 58.3333) {
		t.Errorf("mean TPOT of requests is %v, want 58.333", got)
	}
	if got := spans / tokensAfterFirst; !near(got, 50) {
		t.Errorf("TPOT weighted by tokens is %v, want 50", got)
	}
	for _, gap := range chunkGaps {
		pooled += gap
	}
	if got := pooled / float64(len(chunkGaps)); len(chunkGaps) != 6 || !near(got, 75) {
		t.Errorf("mean of %d chunk gaps is %v, want 75 of 6", len(chunkGaps), got)
	}
	// 13 tokens by the sum of request times would be 6.667/s, which no metric says.
	if sum := 1950.0; near(13*1000/sum, Of(workedExample(t)[0]).E2ETPS.Or(0)) {
		t.Error("E2E TPS is tokens by summed request times")
	}
}

// B84: the mean of TPOTs weighs requests, the mean of gaps weighs tokens.
func TestB84MeanOfTPOTsIsNotTheMeanOfGaps(t *testing.T) {
	tls := []*timeline.Timeline{
		stream(t, `
			t=100ms x2 every 100ms C("w")
			t=201ms U(5,2) + DONE + EOF`),
		stream(t, `
			t=100ms x101 every 10ms C("w")
			t=1101ms U(5,101) + DONE + EOF`),
	}
	var tpot, gaps float64
	var times int64
	for _, tl := range tls {
		v := Scan(tl, nil, func(gap float64, n int64) { gaps += gap * float64(n); times += n })
		tpot += v.TPOTMS.Or(math.NaN())
	}
	if got := tpot / 2; !near(got, 55) {
		t.Errorf("mean TPOT %v, want 55", got)
	}
	if got := gaps / float64(times); times != 101 || !near(got, 10.891) {
		t.Errorf("mean ITL %v of %d, want 10.891 of 101", got, times)
	}
}
