package run

import (
	"errors"
	"fmt"
	"math"

	"tokenmeter/record/timeline"
)

// fact is the part of a row that a timeline is rebuilt from. Reading only this
// part leaves the figures, which are computed anew, unread.
type fact struct {
	outline
	eventLists
}

// outline is a fact without its events.
type outline struct {
	Request   int64    `parquet:"request"`
	Phase     string   `parquet:"phase"`
	Worker    int64    `parquet:"worker"`
	Session   *string  `parquet:"session"`
	Turn      *int64   `parquet:"turn"`
	Task      *string  `parquet:"task"`
	Step      *int64   `parquet:"step"`
	Parent    *string  `parquet:"parent"`
	Agent     *string  `parquet:"agent"`
	Reusable  *int64   `parquet:"reusable_tokens"`
	Inputs    *int64   `parquet:"inputs"`
	Chars     *int64   `parquet:"input_chars"`
	AudioS    *float64 `parquet:"audio_s"`
	AudioRate *int64   `parquet:"audio_bytes_per_s"`
	Images    *int64   `parquet:"images"`
	ImageSize *string  `parquet:"image_size"`
	Pictures  *int64   `parquet:"input_images"`
	Videos    *int64   `parquet:"input_videos"`
	Media     *int64   `parquet:"input_media_bytes"`
	MediaToks *int64   `parquet:"media_tokens"`
	Class     *string  `parquet:"workload_class"`
	ID        string   `parquet:"id"`
	API       string   `parquet:"api"`
	Model     string   `parquet:"model"`
	Served    *string  `parquet:"served_model"`
	Evidence  string   `parquet:"evidence"`
	Outcome   string   `parquet:"outcome"`
	Error     *reason  `parquet:"error"`

	HTTPStatus   *int64  `parquet:"http_status"`
	FinishReason *string `parquet:"finish_reason"`
	ServiceTier  *string `parquet:"service_tier"`
	AnsweredBy   *string `parquet:"answered_by"`
	Unread       *string `parquet:"unread"`

	DueS   float64 `parquet:"due_s"`
	StartS float64 `parquet:"start_s"`

	DNSMS            *float64 `parquet:"dns_ms"`
	ConnectMS        *float64 `parquet:"connect_ms"`
	TLSMS            *float64 `parquet:"tls_ms"`
	ConnectionReused *bool    `parquet:"connection_reused"`
	Remote           *string  `parquet:"remote"`
	SentMS           *float64 `parquet:"sent_ms"`
	FirstByteMS      *float64 `parquet:"first_byte_ms"`
	CloseMS          *float64 `parquet:"close_ms"`

	RequestedTokens *int64   `parquet:"requested_tokens"`
	Attempts        int64    `parquet:"attempts"`
	ConnRetries     int64    `parquet:"conn_retries"`
	RetryAfterMS    *float64 `parquet:"retry_after_ms"`

	OutputText *string            `parquet:"output_text"`
	Server     map[string]float64 `parquet:"server,optional"`
	Clock      string             `parquet:"clock"`
	CostUSD    *float64           `parquet:"cost_usd"`
	NormTokens *int64             `parquet:"norm_tokens"`
	NormBy     *string            `parquet:"norm_tokenizer"`
	Check      *string            `parquet:"check"`

	facts
}

// timeline rebuilds what was recorded.
func (f *fact) timeline() (*timeline.Timeline, error) {
	t := &timeline.Timeline{}
	if err := f.into(t); err != nil {
		return nil, err
	}
	if err := f.events(&t.Events); err != nil {
		return nil, fmt.Errorf("request %d: %w", f.Request, err)
	}
	return t, nil
}

// into rebuilds what was recorded, but for the events, whose memory is kept.
func (f *outline) into(t *timeline.Timeline) error {
	events := t.Events
	events.Reset()
	*t = timeline.Timeline{
		Request: f.Request, ID: f.ID, Phase: timeline.Phase(f.Phase), Worker: int(f.Worker),
		Session: word(f.Session), Turn: timeline.FromPtr(f.Turn),
		Task: word(f.Task), Step: timeline.FromPtr(f.Step), Parent: word(f.Parent), Agent: word(f.Agent), Reusable: timeline.FromPtr(f.Reusable), Inputs: timeline.FromPtr(f.Inputs), Class: word(f.Class),
		Chars: timeline.FromPtr(f.Chars), AudioUS: scaled(f.AudioS, 1e6), AudioRate: timeline.FromPtr(f.AudioRate),
		Images: timeline.FromPtr(f.Images), ImageSize: word(f.ImageSize), InputImages: timeline.FromPtr(f.Pictures), Videos: timeline.FromPtr(f.Videos), MediaBytes: timeline.FromPtr(f.Media),
		Norm: timeline.FromPtr(f.NormTokens), NormBy: word(f.NormBy),
		API: f.API, Model: f.Model, ServedModel: word(f.Served),
		Evidence: timeline.Evidence(f.Evidence), Clock: timeline.Clock(f.Clock),

		DueUS: int64(math.Round(f.DueS * 1e6)), StartUS: int64(math.Round(f.StartS * 1e6)),
		DNSUS: micros(f.DNSMS), ConnectUS: micros(f.ConnectMS), TLSUS: micros(f.TLSMS),
		Reused: timeline.FromPtr(f.ConnectionReused), Remote: word(f.Remote),

		Attempts: int(f.Attempts), ConnRetries: int(f.ConnRetries),
		RetryAfterUS: micros(f.RetryAfterMS), Redirects: int(f.Redirects),
		SentUS: micros(f.SentMS), HeadUS: micros(f.FirstByteMS), CloseUS: micros(f.CloseMS),

		FinishReason: word(f.FinishReason), ServiceTier: word(f.ServiceTier), AnsweredBy: word(f.AnsweredBy), Unread: timeline.Unread(word(f.Unread)), Streamed: f.Streamed, Asked: f.Asked,
		Usage: timeline.Usage{
			Input: timeline.FromPtr(f.UsageInput), Cached: timeline.FromPtr(f.UsageCached),
			CacheWrite: timeline.FromPtr(f.UsageCacheWrite), CacheWrite1h: timeline.FromPtr(f.UsageWrite1h), Output: timeline.FromPtr(f.UsageOutput),
			Reasoning: timeline.FromPtr(f.UsageReasoning), Rejected: timeline.FromPtr(f.UsageRejected),
			Total: timeline.FromPtr(f.UsageTotal), Media: timeline.FromPtr(f.MediaToks),
		},
		Counted: timeline.FromPtr(f.CountedTokens), Tokenized: timeline.FromPtr(f.TokenizedTokens), TokenizedInput: timeline.FromPtr(f.TokenizedInput),
		Requested: timeline.FromPtr(f.RequestedTokens), ClockStepUS: timeline.FromPtr(f.ClockStepUS),
		Outcome: timeline.Outcome(f.Outcome), Text: word(f.OutputText),
		CostUSD: timeline.FromPtr(f.CostUSD),
		Events:  events,
	}
	t.SortImages()
	if f.HTTPStatus != nil {
		t.HTTPStatus = int(*f.HTTPStatus)
	}
	if f.Error != nil {
		t.Error = &timeline.Error{Class: timeline.Outcome(f.Error.Class), Message: f.Error.Message}
	}
	if len(f.Server) > 0 {
		t.Server = f.Server
	}
	if f.Check != nil {
		t.CheckPassed = timeline.Some(*f.Check == "pass")
	}
	var err error
	if t.Flags, err = timeline.ParseFlags(f.NoticedFlags); err != nil {
		return fmt.Errorf("request %d: %w", f.Request, err)
	}
	return nil
}

var errEvents = errors.New("damaged lists of events")

// events trusts nothing about the lists: another program may have written them.
func (f *fact) events(into *timeline.Events) error {
	n := len(f.EvUS)
	for _, length := range []int{len(f.EvKind), len(f.EvTokens), len(f.EvChoice),
		len(f.EvBytes), len(f.EvRead), len(f.EvLagUS)} {
		if length != n {
			return errEvents
		}
	}
	at := int64(0)
	for i := range n {
		kind, known := timeline.ParseKind(f.EvKind[i])
		if !known || !validEvent(kind, at, f.EvUS[i]-at) {
			return errEvents
		}
		at = f.EvUS[i]
		into.Append(timeline.Event{AtUS: at, LagUS: f.EvLagUS[i], Kind: kind,
			Tokens: timeline.FromPtr(f.EvTokens[i]), Choice: int(f.EvChoice[i]),
			Bytes: f.EvBytes[i], Read: f.EvRead[i]})
	}
	return nil
}

func word(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// micros undoes µs/1000, exactly for times up to decades.
func micros(ms *float64) timeline.Opt[int64] { return scaled(ms, 1e3) }

// scaled is a column as the whole number that it was divided from.
func scaled(v *float64, by float64) timeline.Opt[int64] {
	if v == nil {
		return timeline.Opt[int64]{}
	}
	return timeline.Some(int64(math.Round(*v * by)))
}
