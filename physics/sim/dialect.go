package sim

import "strings"

// dialect is an API beside OpenAI's, as the simulator speaks it: how a request is
// read and how the tokens of its reply are written. When they leave, and what goes
// wrong on the way, is the same in all of them.
type dialect struct {
	// in is a part of the paths at which completions are posted, and ends are the
	// ends of them.
	in   string
	ends []string
	// oneText says that reasoning is not told apart from the answer.
	oneText bool
	// mute says that replies have no words: nothing is decoded, nothing streams.
	mute bool
	// bare says that a stream is what was asked for itself, in which no error can be told.
	bare bool
	// read takes a body for what OpenAI's would say.
	read func(path string, body []byte) (askJSON, error)
	// kind is the content type of a stream, and frame puts an event's data into it.
	kind  string
	frame func(b, data []byte) []byte
	// begin adds what comes before the first token; nil: nothing does.
	begin func(r *reply, b []byte) []byte
	// piece adds tokens, of reasoning or of the answer.
	piece func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte
	// end adds what follows the last token, but for the end of the body. With oneEnd
	// all of it is what FaultNoDone leaves out.
	end    func(r *reply, b []byte) []byte
	oneEnd bool
	// whole adds the reply to a request that asked for no stream.
	whole func(r *reply, b []byte) []byte
}

// dialects are the APIs beside OpenAI's completions. A new one is a file of its
// own and a line here.
var dialects = []*dialect{&anthropic, &responses, &realtime, &ollamaChat, &ollamaGenerate, &gemini, &interactions, &bedrock, &cohere, &triton, &tgi, &sglang, &llamaCpp, &embeddings, &rerank, &speech, &transcription, &pictures}

// dialectOf is the API of a path; nil: none.
func dialectOf(path string) *dialect {
	for _, d := range dialects {
		for _, end := range d.ends {
			if strings.Contains(path, d.in) && strings.HasSuffix(path, end) {
				return d
			}
		}
	}
	return nil
}

// appendReasoning adds the tokens of reasoning among the first n as a JSON string.
func (r *reply) appendReasoning(b []byte, n int) []byte {
	return r.appendText(b, 0, min(r.s.cfg.Reasoning, n))
}

// appendAnswer adds the tokens behind the reasoning among the first n.
func (r *reply) appendAnswer(b []byte, n int) []byte {
	return r.appendText(b, min(r.s.cfg.Reasoning, n), n)
}

// shows reports whether reasoning is written.
func (r *reply) showsReasoning() bool {
	return r.s.cfg.Reasoning > 0
}

const (
	eventStream = "text/event-stream; charset=utf-8"
	jsonLines   = "application/x-ndjson"
)

// dataFrame makes an event of a stream of events.
func dataFrame(b, data []byte) []byte {
	return append(append(append(b, "data: "...), data...), "\n\n"...)
}

// lineFrame makes a line of JSON.
func lineFrame(b, data []byte) []byte { return append(append(b, data...), '\n') }

// appendFramed adds an event as one chunk.
func appendFramed(b []byte, frame func(b, data []byte) []byte, data []byte) []byte {
	b, at := beginChunk(b)
	return endChunk(frame(b, data), at)
}

// appendNamed adds an event with the name of its type, as one chunk.
func appendNamed(b []byte, name string, data []byte) []byte {
	b, at := beginChunk(b)
	b = append(append(append(b, "event: "...), name...), '\n')
	return endChunk(dataFrame(b, data), at)
}

// ended is the API's word for why the reply ended: by itself, or at its limit.
func (r *reply) ended(stop, length string) string {
	if r.finish == "length" {
		return length
	}
	return stop
}

// toldTokens is how many tokens a whole reply has.
func (r *reply) toldTokens() int {
	if findFault(r.faults, FaultEmpty) != nil {
		return 0
	}
	return r.yielded
}
