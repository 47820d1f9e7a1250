package sim

import (
	"strconv"
)

// Truth is what really happened to one request. Times are nanoseconds on one
// clock: CLOCK_MONOTONIC, or since Config.Base. A time that did not come is −1.
type Truth struct {
	ID         string // x-request-id: the client's, or sim-N
	N          int64  // arrival number, from 1
	Conn       int64  // number of the connection, from 1
	OnConn     int64  // number of the request on its connection, from 1
	ReceivedNS int64  // the last byte of the request came
	Clock      string // kernel: stamped by the kernel; user: when the read returned
	StartNS    int64  // the request got its slot
	QueueNS    int64  // StartNS − ReceivedNS; −1: it got none
	PrefillNS  int64  // from the slot to the first token; −1: unknown
	HeadNS     int64  // the response's head was written

	Status          int
	Stream          bool
	PromptTokens    int
	CachedTokens    int
	Inputs          int // texts that were embedded or ranked; 0: it was answered with words
	OutputTokens    int // yielded by the model, whether delivered or not
	ReasoningTokens int // of those
	Preempted       int // times it lost its place in the batch
	Instance        int // which copy of the model made the tokens
	Finish          string
	Outcome         string // done, fault, cancelled (the client left), refused
	Faults          []Fault

	// One entry a token, in order. Tokens of one chunk share times.
	DueNS   []int64 // when it should leave
	WriteNS []int64 // when the write began; −1: it never did
	WroteNS []int64 // when the write returned
	Batch   []int32 // sequences in the step that made it
	Chunk   []int32 // number of the chunk that carried it, from 0

	EndNS   int64 // the last byte of the reply was written
	Blocked bool  // the client read so slowly that writes had to wait
}

// reserve makes room for n tokens, so that nothing moves while two goroutines
// fill different fields.
func (t *Truth) reserve(n int) {
	t.DueNS = make([]int64, n)
	t.Batch = make([]int32, n)
	t.WriteNS = make([]int64, n)
	t.WroteNS = make([]int64, n)
	t.Chunk = make([]int32, n)
	for i := range n {
		t.WriteNS[i], t.WroteNS[i], t.Chunk[i] = -1, -1, -1
	}
}

// close cuts the lists to the tokens that were yielded.
func (t *Truth) close(n int) {
	t.OutputTokens = n
	n = min(n, len(t.WriteNS))
	t.DueNS, t.Batch = t.DueNS[:n], t.Batch[:n]
	t.WriteNS, t.WroteNS, t.Chunk = t.WriteNS[:n], t.WroteNS[:n], t.Chunk[:n]
}

// AppendJSON adds the truth as one JSON object.
func (t *Truth) AppendJSON(b []byte) []byte {
	b = appendQuoted(b, `{"id":`, t.ID)
	num := func(name string, v int64) {
		b = appendNS(append(append(append(b, `,"`...), name...), `":`...), v)
	}
	str := func(name, v string) { b = appendQuoted(b, `,"`+name+`":`, v) }
	num("n", t.N)
	num("conn", t.Conn)
	num("on_conn", t.OnConn)
	num("received_ns", t.ReceivedNS)
	str("clock", t.Clock)
	num("start_ns", t.StartNS)
	num("queue_ns", t.QueueNS)
	num("prefill_ns", t.PrefillNS)
	num("head_ns", t.HeadNS)
	num("status", int64(t.Status))
	b = append(b, `,"stream":`...)
	b = strconv.AppendBool(b, t.Stream)
	num("prompt_tokens", int64(t.PromptTokens))
	num("cached_tokens", int64(t.CachedTokens))
	num("inputs", int64(t.Inputs))
	num("output_tokens", int64(t.OutputTokens))
	num("reasoning_tokens", int64(t.ReasoningTokens))
	num("preempted", int64(t.Preempted))
	num("instance", int64(t.Instance))
	str("finish", t.Finish)
	str("outcome", t.Outcome)
	b = append(b, `,"faults":[`...)
	for i, f := range t.Faults {
		b = appendQuoted(commaBut(b, i), `{"kind":`, f.Kind)
		num("after", int64(f.After))
		num("for_ns", int64(f.For))
		b = append(b, '}')
	}
	b = append(b, ']')
	b = appendInts(b, "due_ns", t.DueNS)
	b = appendInts(b, "write_ns", t.WriteNS)
	b = appendInts(b, "wrote_ns", t.WroteNS)
	b = appendInts(b, "batch", t.Batch)
	b = appendInts(b, "chunk", t.Chunk)
	num("end_ns", t.EndNS)
	b = append(b, `,"blocked":`...)
	b = strconv.AppendBool(b, t.Blocked)
	return append(b, '}')
}

func appendInts[T int32 | int64](b []byte, name string, v []T) []byte {
	b = append(append(append(b, `,"`...), name...), `":[`...)
	for i, x := range v {
		b = appendNS(commaBut(b, i), int64(x))
	}
	return append(b, ']')
}

// appendNS adds a number; −1 stands for one that did not come.
func appendNS(b []byte, v int64) []byte {
	if v == -1 {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, v, 10)
}
