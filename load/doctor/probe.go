package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/api"
)

// probeTokens is how long the answer to the probe may be: enough to see a pace.
const probeTokens = 24

// probePrompt has an answer that is longer than that.
const probePrompt = "Count from one to one hundred in words."

// probe sends one short completion and judges what came.
func (p *patient) probe(ctx context.Context) {
	if p.o.Model == "" {
		p.add(Check{Name: "completion", Verdict: Fail, Value: "not tried: no single model is known", Fix: "name one with --model"})
		return
	}
	if p.o.Client.API.Product() == timeline.Transcript {
		p.add(Check{Name: "completion", Verdict: Warn, Value: "not tried: it would take a recording", Fix: "measure one: bench with a folder of recordings", Facts: facts{"outcome": nil}})
		return
	}
	p.o.say("sending one short completion")
	p.found.Probed = true
	req := api.Request{Model: p.o.Model, Stream: true, MaxTokens: timeline.Some[int64](probeTokens),
		Messages: []api.Message{{Role: "user", Content: probePrompt}}}
	wordless := p.o.Client.API.Product().Wordless()
	if wordless {
		req.Stream, req.MaxTokens = false, timeline.Opt[int64]{}
	}
	tl := p.ask(ctx, &req)
	refused, strict := false, false
	for range 2 { // a refusal is no completion
		switch {
		case tl.Error == nil || tl.HTTPStatus != 400 && tl.HTTPStatus != 422:
			continue
		case !refused && api.RefusesMaxTokens(tl.Error.Message):
			refused, req.MaxTokensField = true, api.MaxCompletionTokens
		case !strict && strings.Contains(tl.Error.Message, "stream_options"):
			strict, req.Extra = true, map[string]any{"stream_options": nil}
		default:
			continue
		}
		tl = p.ask(ctx, &req)
	}
	s := summarise(tl)
	if !p.completion(tl, s) {
		return
	}
	if !wordless {
		p.streaming(tl, s)
		p.ending(tl)
	}
	p.usage(tl, s, strict)
	p.unread(tl)
	if !wordless {
		p.length(tl, refused)
		p.cache(tl)
	}
	p.serverTimes(tl)
	p.kept(ctx, tl)
	if tl.Flags.Has(timeline.Compressed) {
		p.coding("compressed", "a stream")
	}
}

func (p *patient) ask(ctx context.Context, req *api.Request) *timeline.Timeline {
	tl := timeline.New()
	tl.Phase = timeline.Warmup
	tl.DueUS = p.o.Client.Clock.US()
	tl.StartUS = tl.DueUS
	tl.API = p.o.Client.API.Name
	tl.Asked = req.Stream
	p.o.Client.API.Describe(req, tl)
	p.cl.Do(ctx, req, tl)
	return tl
}

// shape is when the tokens of a reply came.
type shape struct {
	events, reads   int
	firstUS, lastUS int64
}

func summarise(tl *timeline.Timeline) (s shape) {
	read := int64(-1)
	for ev := range tl.Events.Generation() {
		if s.events++; s.events == 1 {
			s.firstUS = ev.AtUS
		}
		if ev.Read != read {
			s.reads++
		}
		s.lastUS, read = ev.AtUS, ev.Read
	}
	return s
}

func (s shape) spanUS() int64 { return s.lastUS - s.firstUS }

// completion says whether an answer came at all.
func (p *patient) completion(tl *timeline.Timeline, s shape) bool {
	c := Check{Name: "completion", Verdict: OK, Facts: facts{"outcome": string(tl.Outcome), "http_status": nil,
		"ttft_ms": nil, "e2e_ms": nil, "finish_reason": textOrNull(tl.FinishReason), "model": p.o.Model}}
	if tl.HTTPStatus > 0 {
		c.Facts["http_status"] = tl.HTTPStatus
	}
	if tl.Outcome != timeline.OK {
		c.Verdict = Fail
		c.Value = fmt.Sprintf("%s: %s", tl.Outcome, tl.Error.Message)
		c.Fix = fmt.Sprintf("tokenmeter explain %s says what that usually means", tl.Outcome)
		if tl.Outcome == timeline.EmptyOutput && tl.Usage.OnlyReasoning() {
			c.Verdict, c.Fix = Warn, "the probe asks for few tokens: give a run enough --output-tokens for an answer behind the reasoning"
		}
		p.add(c)
		return false
	}
	if i := slices.IndexFunc(p.checks, func(c Check) bool { return c.Fix == noServer }); i >= 0 {
		p.checks[i].Verdict, p.checks[i].Fix = OK, ""
	}
	if s.events > 0 && !tl.Wordless() {
		c.Facts["ttft_ms"], c.Facts["e2e_ms"] = float64(s.firstUS)/1000, float64(s.lastUS)/1000
		c.Value = fmt.Sprintf("first token after %.3g ms, last after %.3g ms", float64(s.firstUS)/1000, float64(s.lastUS)/1000)
	} else {
		c.Facts["e2e_ms"] = ms(tl.CloseUS)
		c.Value = fmt.Sprintf("answered after %.3g ms", float64(tl.CloseUS.Or(0))/1000)
	}
	p.add(c)
	return true
}

// burstUS is a time in which no model makes a whole answer.
const burstUS = 5_000

// streaming says whether tokens come as they are made.
func (p *patient) streaming(tl *timeline.Timeline, s shape) {
	c := Check{Name: "streaming", Verdict: OK, Facts: facts{"streamed": tl.Streamed, "events": s.events, "reads": s.reads, "span_ms": nil}}
	if s.events > 0 {
		c.Facts["span_ms"] = float64(s.spanUS()) / 1000
	}
	const buffering = "something collects the stream: a proxy that buffers (nginx: proxy_buffering off), or the server's kernel, which by Nagle's algorithm waits for an acknowledgement, up to 40 ms (the server should set TCP_NODELAY)"
	switch {
	case !tl.Streamed:
		c.Verdict, c.Value = Warn, "a stream was asked for, the answer came in one body: only E2E can be measured"
		c.Fix = "look for a proxy or a server option that switches streaming off"
	case s.events < 3:
		c.Verdict, c.Value = "", fmt.Sprintf("too few events to tell: %d", s.events)
	case s.reads == 1 || s.events >= 5 && s.spanUS() <= burstUS:
		c.Verdict, c.Value = Warn, fmt.Sprintf("all %d events came within %.3g ms", s.events, float64(s.spanUS())/1000)
		c.Fix = buffering
	case 2*s.reads <= s.events:
		c.Verdict, c.Value = Warn, fmt.Sprintf("%d events came in %d bursts", s.events, s.reads)
		c.Fix = buffering
	default:
		c.Value = fmt.Sprintf("%d events, one every %.3g ms", s.events, float64(s.spanUS())/1000/float64(s.events-1))
	}
	p.add(c)
}

// ending says whether an end can be told from a stream that broke off.
func (p *patient) ending(tl *timeline.Timeline) {
	if !tl.Streamed {
		return
	}
	c := Check{Name: "ending", Verdict: OK, Facts: facts{"finish_reason": textOrNull(tl.FinishReason),
		"done": !tl.Flags.Has(timeline.NoDone), "clean": !tl.Flags.Has(timeline.DirtyClose), "left_open": tl.Flags.Has(timeline.LeftOpen)}}
	c.Value = "finish reason " + tl.FinishReason
	if tl.FinishReason == "" {
		c.Value = "no finish reason, but a terminator"
	}
	switch {
	case tl.Flags.Has(timeline.DirtyClose):
		c.Verdict = Warn
		c.Value += "; the connection then ended without the terminal chunk"
		c.Fix = "answers are complete, but every request needs a new connection: look at the server or proxy that cuts it"
	case tl.Flags.Has(timeline.LeftOpen):
		c.Verdict = Warn
		c.Value += "; the server then left the stream open, and we ended it after 250 ms"
		c.Fix = "answers are complete, but every request needs a new connection: the server or a proxy should end the body with the reply"
	case tl.Flags.Has(timeline.NoDone):
		c.Value += "; no terminator after it"
	}
	p.add(c)
}

// usage says whether the server counts the tokens of a stream.
func (p *patient) usage(tl *timeline.Timeline, s shape, strict bool) {
	c := Check{Name: "usage", Verdict: OK, Facts: facts{"input_tokens": orNull(tl.Usage.Input),
		"output_tokens": orNull(tl.Usage.Output), "reasoning_tokens": orNull(tl.Usage.Reasoning), "chunks": s.events}}
	if n, ok := tl.Usage.Output.Get(); ok {
		c.Value = fmt.Sprintf("the server counts: %d tokens in, %d out; chunks: %d", tl.Usage.Input.Or(0), n, s.events)
		if !tl.Usage.Input.OK() {
			c.Value = fmt.Sprintf("the server counts: %d tokens out; chunks: %d", n, s.events)
		}
		if strict {
			c.Verdict, c.Value, c.Fix = Warn, c.Value+"; stream_options is refused", leaveOut
		}
		p.add(c)
		return
	}
	if tl.Wordless() {
		c.Value = "the server does not tell how many tokens it read"
		if n, ok := tl.Usage.Input.Get(); ok {
			c.Value = fmt.Sprintf("the server counts: %d tokens in", n)
		}
		p.add(c)
		return
	}
	c.Verdict, c.Value = Warn, "the server sends no token counts, although they were asked for"
	c.Fix = "tokens are then estimated from the chunks; a chunk may hold several: look for an option like include_usage in the server or the gateway"
	if tl.Counted.OK() {
		c.Fix = "tokens are then counted by the ids in the stream"
	}
	if strict {
		c.Value, c.Fix = "the server sends no token counts, and refuses stream_options, which asks for them", leaveOut
	}
	p.add(c)
}

const leaveOut = `leave it out of a run, too: --parameters '{"stream_options": null}'; without counts of the server a tokenizer counts (--tokenizer)`

// unread names what of the answer is in no figure; nothing, where all of it was read.
func (p *patient) unread(tl *timeline.Timeline) {
	if tl.Unread == "" {
		return
	}
	c := Check{Name: "unread", Verdict: Warn, Value: "not known by name, so in no figure: " + string(tl.Unread), Facts: facts{"unread": string(tl.Unread)},
		Fix: "tokenmeter explain unread_parts says what that means"}
	p.add(c)
}

// length says whether the asked output length is kept.
func (p *patient) length(tl *timeline.Timeline, refused bool) {
	field := api.MaxTokens
	if refused {
		field = api.MaxCompletionTokens
	}
	c := Check{Name: "output_length", Verdict: OK, Facts: facts{"asked": probeTokens, "output_tokens": nil, "max_tokens_refused": refused}}
	n, known := tl.Usage.Output.Get()
	if !known {
		n, known = tl.Counted.Get()
	}
	if known {
		c.Facts["output_tokens"] = n
	}
	switch {
	case !known:
		c.Verdict, c.Value = "", "not known without token counts"
	case n > probeTokens && n-tl.Usage.Reasoning.Or(0) <= probeTokens: // some limits are of the answer alone
		c.Value = fmt.Sprintf("kept by the answer: %d tokens; %d of reasoning came besides", n-tl.Usage.Reasoning.Or(0), tl.Usage.Reasoning.Or(0))
	case n > probeTokens:
		c.Verdict = Warn
		c.Value = fmt.Sprintf("not kept: %d tokens were asked for, %d came", probeTokens, n)
		c.Fix = "--output-tokens will have no effect on this server"
	case n == probeTokens:
		c.Value = fmt.Sprintf("kept: %d tokens", n)
	default:
		c.Value = fmt.Sprintf("the answer ended by itself after %d of %d tokens", n, probeTokens)
	}
	if refused {
		c.Value += fmt.Sprintf("; %s is refused, %s works", api.MaxTokens, field)
	}
	p.add(c)
}

// cache says whether hits of a prefix cache could be seen.
func (p *patient) cache(tl *timeline.Timeline) {
	c := Check{Name: "prompt_cache", Facts: facts{"cached_tokens": orNull(tl.Usage.Cached)},
		Value: "the server does not tell whether prompts come from a cache"}
	if n, ok := tl.Usage.Cached.Get(); ok {
		c.Verdict = OK
		c.Value = fmt.Sprintf("the server tells: %d of %d prompt tokens came from a cache", n, tl.Usage.Input.Or(0))
	}
	p.add(c)
}

func (p *patient) serverTimes(tl *timeline.Timeline) {
	c := Check{Name: "server_times", Value: "the server does not report its own times", Facts: facts{}}
	if len(tl.Server) > 0 {
		c.Verdict, c.Value = OK, "the server reports its own times: they are kept beside ours"
		for name, v := range tl.Server {
			c.Facts[name] = v
		}
	}
	p.add(c)
}

// kept sees whether the connection outlived the streamed reply.
func (p *patient) kept(ctx context.Context, tl *timeline.Timeline) {
	if tl.Flags.Has(timeline.LeftOpen) {
		return // we closed it; the ending says so
	}
	p.idle(ctx)
	r, err := p.get(ctx, p.cl, api.Probes[0], getTime)
	if err != nil || p.o.Client.NoKeepAlive {
		return
	}
	what := "streamed"
	if !tl.Streamed {
		what = "whole"
	}
	c := Check{Name: "stream_keep_alive", Verdict: OK, Value: "the connection is kept after a " + what + " reply", Facts: facts{"reused": reused(r.Timeline)}}
	if !reused(r.Timeline) {
		c.Verdict, c.Value = Warn, "the server closes the connection after a "+what+" reply"
		c.Fix = fmt.Sprintf("each request pays for a new connection (here %.3g ms), as this server's users do", float64(r.Timeline.ConnectUS.Or(0)+r.Timeline.TLSUS.Or(0))/1000)
	}
	p.add(c)
}
