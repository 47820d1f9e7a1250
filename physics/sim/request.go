package sim

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// ask is a completion request as far as the simulator understands it.
type ask struct {
	chat      bool
	dialect   *dialect // nil: OpenAI's
	model     string
	stream    bool
	maxTokens int  // −1: not given
	usage     bool // stream_options.include_usage
	running   bool // stream_options.continuous_usage_stats
	prompt    string
	tokens    int      // of the prompt
	ids       []uint32 // of the prompt, if it came as token ids
	beams     int
	metrics   bool // include_metrics
	timings   bool // timings_per_token
	tokenIDs  bool // return_token_ids
	logprobs  bool
	inputs    int  // texts to answer at once
	bare      bool // in text-embeddings-inference's form
	drawing   drawing
	voice     bool // the Realtime API is to speak
	media     int  // tokens of the prompt that are of pictures
	directive

	heardTokens int // of the prompt, those that are sound
}

type askJSON struct {
	inputs  int
	bare    bool
	drawing drawing
	as      *dialect // that writes the reply; nil: the one that read

	Model               string          `json:"model"`
	Stream              bool            `json:"stream"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	UseBeamSearch       bool            `json:"use_beam_search"`
	N                   int             `json:"n"`
	BestOf              int             `json:"best_of"`
	IncludeMetrics      bool            `json:"include_metrics"`
	TimingsPerToken     bool            `json:"timings_per_token"`
	ReturnTokenIDs      bool            `json:"return_token_ids"`
	Logprobs            json.RawMessage `json:"logprobs"` // true, or a number for completions
	Prompt              json.RawMessage `json:"prompt"`
	Messages            []askMessage    `json:"messages"`
	StreamOptions       *struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

type askMessage struct {
	Content json.RawMessage `json:"content"`
}

// begin puts what an API tells the model beside the messages in front of them, if
// anything.
func (j *askJSON) begin(system json.RawMessage) {
	if system != nil {
		j.Messages = append([]askMessage{{system}}, j.Messages...)
	}
}

// messagesOr reads messages from what may be a bare text, which is then the only one.
func (j *askJSON) messagesOr(input json.RawMessage) {
	if json.Unmarshal(input, &j.Messages) != nil {
		j.Messages = []askMessage{{input}}
	}
}

// parseAsk reads a body of OpenAI's chat or completions, or of a dialect, whose
// prompt is a conversation. The directive of the header X-Sim comes after that of
// the prompt and wins.
func parseAsk(cfg *Config, chat bool, d *dialect, path string, body []byte, header string) (ask, error) {
	a := ask{chat: chat, dialect: d, maxTokens: -1, directive: directive{ttft: -1, itl: -1, tokens: -1, cached: -1}}
	var j askJSON
	var err error
	if d != nil {
		j, err = d.read(path, body)
	} else {
		err = json.Unmarshal(body, &j)
	}
	if err != nil {
		return a, fmt.Errorf("the body is no valid request: %w", err)
	}
	a.model, a.stream = j.Model, j.Stream
	a.metrics, a.timings = j.IncludeMetrics, j.TimingsPerToken
	a.tokenIDs = j.ReturnTokenIDs
	a.inputs, a.bare, a.drawing = j.inputs, j.bare, j.drawing
	a.dialect = cmp.Or(j.as, a.dialect)
	switch string(j.Logprobs) {
	case "", "null", "false":
	default:
		a.logprobs = true
	}
	if j.UseBeamSearch {
		a.beams = min(max(j.N, j.BestOf, 1), 64)
	}
	for _, n := range []*int{j.MaxTokens, j.MaxCompletionTokens} {
		if n != nil {
			a.maxTokens = *n
		}
	}
	if a.maxTokens < 1 && (j.MaxTokens != nil || j.MaxCompletionTokens != nil) {
		return a, fmt.Errorf("max_tokens is %d: give 1 or more", a.maxTokens)
	}
	if o := j.StreamOptions; o != nil {
		a.usage, a.running = o.IncludeUsage, o.ContinuousUsage
	}
	if chat {
		if len(j.Messages) == 0 {
			return a, errors.New("messages is empty: give at least one")
		}
		var text strings.Builder
		for _, m := range j.Messages {
			t, n := cfg.textOf(m.Content)
			text.WriteString(t)
			text.WriteByte('\n')
			seen := patchesOf(m.Content)
			a.media += seen
			a.tokens += n + seen
		}
		a.prompt = text.String()
		a.tokens += cfg.TemplateTokens
	} else {
		if len(j.Prompt) == 0 {
			return a, errors.New("prompt is missing")
		}
		a.prompt, a.tokens = cfg.textOf(j.Prompt)
		if a.prompt == "" && a.tokens > 0 {
			_ = json.Unmarshal(j.Prompt, &a.ids)
		}
	}
	for _, text := range []string{promptDirective(a.prompt), header} {
		if err := a.directive.parse(text); err != nil {
			return a, err
		}
	}
	return a, nil
}

// textOf reads a string, a list of strings, a list of text parts or a list of
// token ids, and counts its tokens.
func (c *Config) textOf(raw json.RawMessage) (string, int) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, c.countTokens(s)
	}
	var ids []int
	if json.Unmarshal(raw, &ids) == nil {
		return "", len(ids)
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		s = strings.Join(list, "\n")
		return s, c.countTokens(s)
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &parts) == nil {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.Text)
			b.WriteByte('\n')
		}
		return b.String(), c.countTokens(b.String())
	}
	return "", 0
}
