package run

import (
	"slices"

	"tokenmeter/record/metric"
	"tokenmeter/record/timeline"
)

// fill makes r the row of a request. The lists of r are reused; r is good
// until the next call.
func (r *row) fill(rec *metric.Record, tl *timeline.Timeline) {
	lists := r.emptied()
	*r = recordRow(rec)
	r.facts, r.eventLists = factsOf(tl), lists
	for ev := range tl.Events.All() {
		r.EvUS = append(r.EvUS, ev.AtUS)
		r.EvKind = append(r.EvKind, ev.Kind.String())
		r.EvTokens = append(r.EvTokens, tokenCount(ev.Tokens))
		r.EvChoice = append(r.EvChoice, int32(ev.Choice))
		r.EvBytes = append(r.EvBytes, ev.Bytes)
		r.EvRead = append(r.EvRead, ev.Read)
		r.EvLagUS = append(r.EvLagUS, ev.LagUS)
	}
}

// smallCounts saves an allocation for the counts that nearly all events have.
var smallCounts = func() (counts [17]int64) {
	for i := range counts {
		counts[i] = int64(i)
	}
	return counts
}()

func tokenCount(tokens timeline.Opt[int64]) *int64 {
	if n, ok := tokens.Get(); ok && n >= 0 && n < int64(len(smallCounts)) {
		return &smallCounts[n]
	}
	return tokens.Ptr()
}

// recordRow fills the columns that a record has.
func recordRow(rec *metric.Record) row {
	r := row{
		Request: rec.Request, Phase: string(rec.Phase), Worker: int64(rec.Worker),
		Session: rec.Session, Turn: rec.Turn.Ptr(), Task: rec.Task, Step: rec.Step.Ptr(),
		Parent: rec.Parent, Agent: rec.Agent, Class: rec.Class, ID: rec.ID, API: rec.API, Model: rec.Model, Served: rec.ServedModel,
		Evidence: string(rec.Evidence), Outcome: string(rec.Outcome), Good: rec.Good.Ptr(),

		HTTPStatus: rec.HTTPStatus.Ptr(), FinishReason: rec.FinishReason, ServiceTier: rec.ServiceTier, AnsweredBy: rec.AnsweredBy, Unread: rec.Unread,
		DueS: rec.DueS, StartS: rec.StartS, DelayMS: rec.DelayMS,

		DNSMS: rec.DNSMS.Ptr(), ConnectMS: rec.ConnectMS.Ptr(), TLSMS: rec.TLSMS.Ptr(),
		ConnectionReused: rec.ConnectionReused.Ptr(), Remote: rec.Remote,
		SentMS: rec.SentMS.Ptr(), FirstByteMS: rec.FirstByteMS.Ptr(),
		TTFTMS: rec.TTFTMS.Ptr(), TTFOMS: rec.TTFOMS.Ptr(),
		TTFAMS: rec.TTFAMS.Ptr(), TTFIMS: rec.TTFIMS.Ptr(), E2EMS: rec.E2EMS.Ptr(), CloseMS: rec.CloseMS.Ptr(),

		TPOTMS: rec.TPOTMS.Ptr(), TPOTAdjMS: rec.TPOTAdjMS.Ptr(),
		ICLMS: rec.ICLMS, ITLMS: rec.ITLMS,
		MaxGapMS: rec.MaxGapMS.Ptr(), Stalls: rec.Stalls.Ptr(),
		DecodeTPS: rec.DecodeTPS.Ptr(), E2ETPS: rec.E2ETPS.Ptr(),

		AudioS: rec.AudioS.Ptr(), AudioBytesPerS: rec.AudioBytesPerS.Ptr(), RTF: rec.RTF.Ptr(), StarvedMS: rec.StarvedMS.Ptr(), Starvations: rec.Starvations.Ptr(),
		Images: rec.Images.Ptr(), ImageSize: rec.ImageSize,
		InputImages: rec.InputImages.Ptr(), InputVideos: rec.InputVideos.Ptr(), InputMediaBytes: rec.InputMediaBytes.Ptr(), MediaTokens: rec.MediaTokens.Ptr(),
		InputChars: rec.InputChars.Ptr(), Inputs: rec.Inputs.Ptr(), InputTokens: rec.InputTokens.Ptr(), CachedTokens: rec.CachedTokens.Ptr(), ReusableTokens: rec.ReusableTokens.Ptr(),
		OutputTokens: rec.OutputTokens.Ptr(), ReasoningTokens: rec.ReasoningTokens.Ptr(),
		RequestedTokens: rec.RequestedTokens.Ptr(), Chunks: rec.Chunks.Ptr(),
		TokenSource: rec.TokenSource, OutputWords: rec.OutputWords.Ptr(), WordsPerS: rec.WordsPerS.Ptr(), Flags: rec.Flags.Names(),

		Attempts: int64(rec.Attempts), ConnRetries: int64(rec.ConnRetries),
		RetryAfterMS: rec.RetryAfterMS.Ptr(),

		ServiceTTFTMS: rec.ServiceTTFTMS.Ptr(), ServiceE2EMS: rec.ServiceE2EMS.Ptr(),
		NetworkMS: rec.NetworkMS.Ptr(),

		NormTokens: rec.NormTokens.Ptr(), NormDecodeTPS: rec.NormDecodeTPS.Ptr(),
		NormE2ETPS: rec.NormE2ETPS.Ptr(), NormTokenizer: rec.NormTokenizer,

		OutputText: rec.OutputText, Server: rec.Server, Clock: string(rec.Clock),
		CostUSD: rec.CostUSD.Ptr(), Check: rec.Check,
	}
	if rec.Error != nil {
		r.Error = &reason{string(rec.Error.Class), rec.Error.Message}
	}
	return r
}

// factsOf fills the columns that the timeline has and no record shows.
func factsOf(tl *timeline.Timeline) facts {
	u := &tl.Usage
	return facts{
		Redirects: int64(tl.Redirects), Streamed: tl.Streamed, Asked: tl.Asked,
		UsageInput: u.Input.Ptr(), UsageCached: u.Cached.Ptr(), UsageCacheWrite: u.CacheWrite.Ptr(), UsageWrite1h: u.CacheWrite1h.Ptr(),
		UsageOutput: u.Output.Ptr(), UsageReasoning: u.Reasoning.Ptr(), UsageRejected: u.Rejected.Ptr(), UsageTotal: u.Total.Ptr(),
		CountedTokens: tl.Counted.Ptr(), TokenizedTokens: tl.Tokenized.Ptr(), TokenizedInput: tl.TokenizedInput.Ptr(), ClockStepUS: tl.ClockStepUS.Ptr(),
		NoticedFlags: slices.Clip(tl.Flags.Names()),
	}
}
