//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// shape is a kind of reply. Its requests are answered in turn, one at a time, by
// the same replies for every client.
type shape struct {
	name, says string
	whole      bool // asked for without a stream
	reply      func(n int) reply
}

// reply is one answer: lines of a stream, each so long after the request came.
type reply struct {
	status int
	lines  []line
	body   string        // of a reply that is no stream
	after  time.Duration // when it comes
	reset  bool          // the connection breaks after the last line
}

type line struct {
	at   time.Duration
	data string
}

// requests is how many replies a shape has. Their paces and lengths differ, so
// that means, medians and weights do.
const requests = 6

var (
	paces   = [requests]float64{1, 1.3, 0.8, 1.6, 1.1, 0.9}
	lengths = [requests]int{9, 6, 12, 5, 8, 10}
)

// Times of a reply of pace 1. They lie so far apart that a client which counts
// from another event, to another one, or over one token more is off by more than
// the noise of a machine.
const (
	roleAt   = 80 * time.Millisecond
	firstAt  = 200 * time.Millisecond
	gap      = 40 * time.Millisecond
	finishIn = 60 * time.Millisecond // after the last token
	usageIn  = 30 * time.Millisecond // after the finish
	doneIn   = 30 * time.Millisecond // after the usage
	prompt   = 16                    // tokens that the server says it read
)

// stream builds a reply event by event.
type stream struct {
	reply
	n   int
	now time.Duration
}

func newStream(n int) *stream { return &stream{reply: reply{status: http.StatusOK}, n: n} }

// at moves on to a time of pace 1 since the request, in moves on by one.
func (s *stream) at(t time.Duration) *stream {
	s.now = time.Duration(float64(t) * paces[s.n])
	return s
}

func (s *stream) in(t time.Duration) *stream {
	s.now += time.Duration(float64(t) * paces[s.n])
	return s
}

func (s *stream) raw(data string) *stream {
	s.lines = append(s.lines, line{s.now, "data: " + data + "\n\n"})
	return s
}

const head = `{"id":"r-%d","object":"chat.completion.chunk","created":1,"model":"sim","choices":[`

func (s *stream) delta(delta, finish string) *stream {
	return s.raw(fmt.Sprintf(head+`{"index":0,"delta":%s,"finish_reason":%s}],"usage":null}`, s.n, delta, finish))
}

// text sends k tokens, each a letter, in one chunk of the named field.
func (s *stream) text(field string, k int) *stream {
	return s.delta(fmt.Sprintf(`{%q:%q}`, field, strings.Repeat("a", k)), "null")
}

// tokens sends n chunks of a token, from firstAt on.
func (s *stream) tokens(n int) *stream {
	s.at(firstAt).text("content", 1)
	for range n - 1 {
		s.in(gap).text("content", 1)
	}
	return s
}

// end sends what follows the last token.
func (s *stream) end(usage string) reply {
	return s.in(finishIn).delta("{}", `"stop"`).close(usage)
}

// close sends what follows the finish reason.
func (s *stream) close(usage string) reply {
	s.in(usageIn)
	if usage != "" {
		s.raw(fmt.Sprintf(head+`],"usage":%s}`, s.n, usage))
	}
	s.in(doneIn).raw("[DONE]")
	return s.reply
}

func used(output, reasoning int) string {
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}`,
		prompt, output, prompt+output, reasoning)
}

// reasons are replies with four tokens of reasoning before the answer.
func reasons(field string) func(n int) reply {
	return func(n int) reply {
		s := newStream(n).at(firstAt)
		for range 4 {
			s.text(field, 1).in(gap)
		}
		for range lengths[n] {
			s.text("content", 1).in(gap)
		}
		return s.end(used(4+lengths[n], 4))
	}
}

func failed(status int) reply {
	return reply{status: status, after: 50 * time.Millisecond, body: `{"error":{"message":"no","type":"server_error","code":null}}`}
}

// shapes is the table of what is played.
var shapes = []shape{
	{name: "plain", says: "one token a chunk", reply: func(n int) reply {
		return newStream(n).tokens(lengths[n]).end(used(lengths[n], 0))
	}},
	{name: "empty end", says: "the same, and a token without text: an empty content beside the finish reason", reply: func(n int) reply {
		s := newStream(n).at(roleAt).delta(`{"role":"assistant","content":""}`, "null").tokens(lengths[n])
		return s.in(finishIn).delta(`{"content":""}`, `"stop"`).close(used(lengths[n]+1, 0))
	}},
	{name: "length end", says: "one token a chunk, the finish reason beside the last", reply: func(n int) reply {
		s := newStream(n).tokens(lengths[n] - 1).in(gap)
		return s.delta(`{"content":"a"}`, `"length"`).close(used(lengths[n], 0))
	}},
	{name: "role first", says: "a chunk with the role alone long before the first token", reply: func(n int) reply {
		return newStream(n).at(roleAt).delta(`{"role":"assistant","content":""}`, "null").tokens(lengths[n]).end(used(lengths[n], 0))
	}},
	{name: "many tokens", says: "chunks of 1, 4, 3, 1, 4, … tokens", reply: func(n int) reply {
		s := newStream(n).at(firstAt)
		total := 0
		for i := range 3 + lengths[n]/3 {
			k := [...]int{1, 4, 3}[i%3]
			s.text("content", k).in(2 * gap)
			total += k
		}
		return s.end(used(total, 0))
	}},
	{name: "reasoning", says: "`reasoning` before the answer", reply: reasons("reasoning")},
	{name: "reasoning_content", says: "the same under its other name", reply: reasons("reasoning_content")},
	{name: "failures", says: "HTTP 500, HTTP 429 and an error inside a stream between good ones", reply: func(n int) reply {
		switch n {
		case 1:
			return failed(http.StatusInternalServerError)
		case 2:
			return failed(http.StatusTooManyRequests)
		case 4:
			s := newStream(n).tokens(4).in(gap)
			return s.raw(`{"error":{"message":"out of memory","type":"server_error","code":500}}`).in(doneIn).reply
		}
		return newStream(n).tokens(lengths[n]).end(used(lengths[n], 0))
	}},
	{name: "cut off", says: "two streams that end without finish_reason and [DONE], and one whose connection breaks", reply: func(n int) reply {
		s := newStream(n).tokens(lengths[n])
		switch n {
		case 1, 4:
			return s.in(gap).reply
		case 2:
			s.in(gap)
			s.reset = true
			return s.reply
		}
		return s.end(used(lengths[n], 0))
	}},
	{name: "no usage", says: "the server counts nothing", reply: func(n int) reply {
		return newStream(n).tokens(lengths[n]).end("")
	}},
	{name: "not streamed", says: "the whole answer at once", whole: true, reply: func(n int) reply {
		return reply{status: http.StatusOK, after: time.Duration(float64(firstAt+time.Duration(lengths[n])*gap) * paces[n]),
			body: fmt.Sprintf(`{"id":"r-%d","object":"chat.completion","created":1,"model":"sim","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}],"usage":%s}`,
				n, strings.Repeat("a", lengths[n]), used(lengths[n], 0))}
	}},
}

// player answers with the replies of a shape, in the order in which requests come.
type player struct {
	shape  *shape
	played atomic.Int64
	once   bool // the replies are played once; who asks on waits until it leaves
	server *http.Server
	url    string
}

func play(s *shape) (*player, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &player{shape: s, url: "http://" + ln.Addr().String()}
	p.server = &http.Server{Handler: p}
	go p.server.Serve(ln)
	return p, nil
}

func (p *player) stop() { p.server.Close() }

func (p *player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	if r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		w.Header().Set("Content-Type", "application/json")
		if !strings.HasSuffix(r.URL.Path, "/models") && !strings.HasSuffix(r.URL.Path, "/health") {
			w.WriteHeader(http.StatusNotFound)
		}
		json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": []map[string]string{{"id": "sim", "object": "model"}}})
		return
	}
	io.Copy(io.Discard, r.Body)
	n := int(p.played.Add(1) - 1)
	if p.once && n >= requests {
		p.played.Add(-1)
		<-r.Context().Done()
		return
	}
	reply := p.shape.reply(n % requests)
	if reply.lines == nil {
		time.Sleep(time.Until(began.Add(reply.after)))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(reply.status)
		io.WriteString(w, reply.body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(reply.status)
	flush := http.NewResponseController(w)
	flush.Flush()
	for _, l := range reply.lines {
		time.Sleep(time.Until(began.Add(l.at)))
		io.WriteString(w, l.data)
		flush.Flush()
	}
	if reply.reset {
		panic(http.ErrAbortHandler)
	}
}
