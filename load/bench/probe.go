package bench

import (
	"context"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// probeTokens is the length that a probe asks for.
const probeTokens = 8

// probe sends one short completion that is not recorded. It finds the name of
// the length field, and fails when the server can't answer.
func (r *runner) probe(ctx context.Context) error {
	reqCtx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(client.ErrRunEnd)
	defer context.AfterFunc(ctx, func() { cancel(client.ErrUser) })()
	for {
		req := api.Request{Model: r.model, Stream: !r.plan.NoStream, Extra: r.plan.Extra,
			Messages:  []api.Message{{Role: "user", Content: "Count from one to three."}},
			MaxTokens: timeline.Some[int64](probeTokens), MaxTokensField: r.field.name()}
		tl := timeline.New()
		tl.Request, tl.ID, tl.Phase = -1, r.id+"-probe", timeline.Warmup
		tl.DueUS = r.clk.US()
		tl.StartUS = tl.DueUS
		r.do.Do(reqCtx, &req, tl)
		r.room.Free(tl)
		switch {
		case ctx.Err() != nil:
			return ErrInterrupted
		case tl.Outcome == timeline.OK:
			return nil
		case r.field.learn(req.MaxTokensField, tl, r.log):
			continue
		case tl.Outcome == timeline.HTTP429:
			r.log.notice("warmup_limited", timeline.Opt[float64]{}, "The probe was answered 429 (too many requests).")
			return nil
		}
		c := tally{failed: 1, firstError: tl.Error, firstStatus: tl.HTTPStatus}
		if tl.Outcome == timeline.ClientResource {
			c.own = 1
		}
		return r.targetFailed(c, "the probe failed")
	}
}
