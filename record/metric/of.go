package metric

import (
	"maps"
	"math"

	"tokenmeter/record/timeline"
)

// Of computes every figure of one request. It reads the timeline only; what
// was not measured stays null.
func Of(tl *timeline.Timeline) Record {
	v, s := valuesOf(tl)
	r := facts(tl)
	v.into(&r)
	r.normalised(tl)
	r.read(tl, &v, &s)
	r.ICLMS, r.ITLMS = gapLists(tl, &s, &v)
	return r
}

// into copies the figures to the record.
func (v *Values) into(r *Record) {
	r.TTFTMS, r.TTFOMS, r.E2EMS = v.TTFTMS, v.TTFOMS, v.E2EMS
	r.TTFIMS = v.TTFIMS
	r.TTFAMS, r.RTF, r.StarvedMS, r.Starvations = v.TTFAMS, v.RTF, v.StarvedMS, v.Starvations
	r.TPOTMS, r.TPOTAdjMS = v.TPOTMS, v.TPOTAdjMS
	r.MaxGapMS, r.Stalls = v.MaxGapMS, v.Stalls
	r.DecodeTPS, r.E2ETPS = v.DecodeTPS, v.E2ETPS
	r.ServiceTTFTMS, r.ServiceE2EMS, r.NetworkMS = v.ServiceTTFTMS, v.ServiceE2EMS, v.NetworkMS
	r.OutputTokens, r.ReasoningTokens = v.OutputTokens, v.ReasoningTokens
	r.Chunks = v.Chunks
	r.TokenSource = optional(string(v.TokenSource))
	r.Flags = v.Flags
}

// facts copies what the timeline says of itself.
func facts(tl *timeline.Timeline) Record {
	return Record{
		Request: tl.Request, Phase: tl.Phase, Worker: tl.Worker,
		Session: optional(tl.Session), Turn: tl.Turn,
		Task: optional(tl.Task), Step: tl.Step, Parent: optional(tl.Parent),
		Agent: optional(tl.Agent), Class: optional(tl.Class),
		ID: tl.ID, API: tl.API, Model: tl.Model, ServedModel: optional(tl.ServedModel),
		Evidence: tl.Evidence, Outcome: tl.Outcome, Error: tl.Error,

		HTTPStatus:   timeline.Maybe(int64(tl.HTTPStatus), tl.HTTPStatus != 0),
		FinishReason: optional(tl.FinishReason),
		ServiceTier:  optional(tl.ServiceTier),
		AnsweredBy:   optional(tl.AnsweredBy),
		Unread:       optional(string(tl.Unread)),

		DueS:    float64(tl.DueUS) / 1e6,
		StartS:  float64(max(tl.StartUS, tl.DueUS)) / 1e6,
		DelayMS: DelayMS(tl),

		DNSMS: optMS(tl.DNSUS), ConnectMS: optMS(tl.ConnectUS), TLSMS: optMS(tl.TLSUS),
		ConnectionReused: tl.Reused, Remote: optional(tl.Remote),
		SentMS: optMS(tl.SentUS), FirstByteMS: optMS(tl.HeadUS), CloseMS: optMS(tl.CloseUS),

		InputChars: tl.Chars, AudioS: seconds(tl.AudioUS), AudioBytesPerS: tl.AudioRate,
		Images: tl.Images, ImageSize: optional(tl.ImageSize),
		InputImages: tl.InputImages, InputVideos: tl.Videos, InputMediaBytes: tl.MediaBytes, MediaTokens: tl.Usage.Media,
		Inputs: tl.Inputs, InputTokens: tl.Usage.Input, CachedTokens: tl.Usage.Cached, ReusableTokens: tl.Reusable,
		RequestedTokens: tl.Requested,

		Attempts: tl.Attempts, ConnRetries: tl.ConnRetries, RetryAfterMS: optMS(tl.RetryAfterUS),

		OutputText: optional(tl.Text), Server: reported(tl.Server), Clock: tl.Clock,
		CostUSD: tl.CostUSD, Check: check(tl.CheckPassed),
	}
}

// DelayMS is the client's own lateness, start − due, in milliseconds.
func DelayMS(tl *timeline.Timeline) float64 { return ms(max(tl.StartUS-tl.DueUS, 0)) }

// reported leaves out what a server cannot have measured.
func reported(server map[string]float64) map[string]float64 {
	bad := func(_ string, v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) || v < 0 }
	for k, v := range server {
		if bad(k, v) {
			server = maps.Clone(server)
			maps.DeleteFunc(server, bad)
			break
		}
	}
	return server
}

func ms(us int64) float64 { return float64(us) / 1000 }

// optMS turns microseconds to milliseconds. A negative time is no measurement.
func optMS(us timeline.Opt[int64]) timeline.Opt[float64] {
	v, ok := us.Get()
	return timeline.Maybe(ms(v), ok && v >= 0)
}

// seconds is a length in microseconds.
func seconds(us timeline.Opt[int64]) timeline.Opt[float64] {
	v, ok := us.Get()
	return timeline.Maybe(float64(v)/1e6, ok && v >= 0)
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func check(passed timeline.Opt[bool]) *string {
	ok, known := passed.Get()
	switch {
	case !known:
		return nil
	case ok:
		return optional("pass")
	}
	return optional("fail")
}
