package main

import (
	"math/rand/v2"

	"tokenmeter/record/run"
	"tokenmeter/record/timeline"
)

// invent makes the folder of a run that never was: requests every millisecond,
// first tokens after about 200 ms and others about every 20 ms.
func invent(dir string) error {
	w, err := run.Create(dir, run.Run{}, run.Options{Force: true})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 2))
	tl := timeline.New()
	for i := range *requests {
		events := tl.Events
		events.Reset()
		*tl = *timeline.New()
		tl.Events = events
		one(tl, int64(i), random)
		if err := w.Append(tl); err != nil {
			return err
		}
	}
	_, err = w.Finish(run.Run{})
	return err
}

func one(tl *timeline.Timeline, i int64, random *rand.Rand) {
	tl.Request, tl.ID, tl.API, tl.Model = i, "", "openai-chat", "invented"
	tl.DueUS = i * 1000
	tl.StartUS = tl.DueUS + random.Int64N(60)
	tl.Attempts, tl.HTTPStatus, tl.Streamed, tl.Asked = 1, 200, true, true
	tl.Clock, tl.Outcome, tl.FinishReason = timeline.Kernel, timeline.OK, "stop"
	at := 150_000 + int64(random.ExpFloat64()*50_000)
	tl.SentUS, tl.HeadUS = timeline.Some(int64(100)), timeline.Some(at-50)
	tl.Usage.Input, tl.Usage.Output = timeline.Some(100+random.Int64N(50)), timeline.Some(int64(*tokens))
	for k := range *tokens {
		tl.Events.Append(timeline.Event{AtUS: at, Kind: timeline.Text, Bytes: 4, Read: int64(k), LagUS: random.Int64N(2000)})
		at += max(20_000+int64(random.NormFloat64()*1500), 1)
	}
	tl.CloseUS = timeline.Some(tl.Events.LastUS() + 100)
}
