// Command sessions makes a corpus of recorded agent sessions of the size and shape of
// the public Weka corpora, which no machine of ours may fetch. Its statistics are those
// that were published of cc-traces-weka-062126: 393 sessions, some 99,000 requests,
// 21.6 billion input tokens and 1.85 GB.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"strconv"

	"tokenmeter/base/random"
)

func main() {
	out := flag.String("out", "", "the file to write, like traces.jsonl")
	sessions := flag.Int("sessions", 393, "how many sessions")
	seed := flag.Uint64("seed", 1, "the same seed gives the same corpus")
	flag.Parse()
	if *out == "" {
		log.Fatal("give -out FILE")
	}
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	c := corpus{out: bufio.NewWriterSize(f, 1<<20)}
	for i := range *sessions {
		c.session(i, mostTurns, random.New(*seed, uint64(i)))
	}
	if err := c.out.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
	c.print()
}

// block is how many tokens an id stands for.
const block = 64

// Published of the corpus, over all its requests: medians and means of what is drawn.
var (
	turns  = lognormal(65, 144.5)    // of a session's own agent
	fresh  = lognormal(1664, 3792)   // tokens of a prompt that the turn before had not
	answer = lognormal(616, 1374)    // tokens
	brief  = lognormal(300, 673)     // tokens of a sub-agent's answer
	pause  = spread(4.9, 131.5)      // s between requests, by median and p90
	calls  = lognormal(14, 26)       // of a sub-agent
	begin  = lognormal(40000, 60000) // tokens of a first prompt
)

const (
	withAgents = 0.445   // of the sessions
	agentsEach = 9.7     // of a session that has some
	longest    = 990_016 // tokens of a prompt
	shortest   = 0.15    // of that: sessions compact their context from there on
	mostTurns  = 1500
)

// shape is a log-normal distribution.
type shape struct{ median, sigma float64 }

func lognormal(median, mean float64) shape {
	return shape{median, math.Sqrt(2 * math.Log(mean/median))}
}

// spread is one by its median and p90, which lies 1.2816 σ above it.
func spread(median, p90 float64) shape { return shape{median, math.Log(p90/median) / 1.2816} }

func (s shape) draw(src *random.Source) float64 {
	return s.median * math.Exp(s.sigma*src.Normal())
}

type corpus struct {
	out                    *bufio.Writer
	requests, main, agents int
	input, output, bytes   int64
	own                    []int64 // lengths of the prompts of sessions' own agents
}

// context is a conversation: the ids of its blocks.
type context struct {
	ids  []int
	next *int // the session's next id
	most int  // blocks; then it is compacted
}

func (x *context) grow(tokens float64) {
	for range max(int(tokens/block), 1) {
		x.ids = append(x.ids, *x.next)
		*x.next++
	}
	if len(x.ids) > x.most {
		x.ids = x.ids[:len(x.ids)/16] // a compaction keeps the beginning
	}
}

// session writes session i, whose own agent has so many turns at most.
func (c *corpus) session(i, most int, src random.Source) {
	next := 0
	room := int((shortest + (1-shortest)*src.Float64()) * longest / block)
	own := context{next: &next, most: room}
	c.write(`{"id":"made-`, strconv.Itoa(i), `","models":["big","small"],"block_size":64,"hash_id_scope":"local","requests":[`)
	n, at := min(max(int(turns.draw(&src)), 3), most), 0.0
	agents := 0
	if src.Float64() < withAgents {
		agents = 1 + int(src.Exp()*(agentsEach-1)+0.5)
	}
	for k := range n {
		if k == 0 {
			own.grow(begin.draw(&src))
		} else {
			c.write(",")
			own.grow(fresh.draw(&src))
		}
		at = c.request(&own, at, "big", answer.draw(&src))
		c.own = append(c.own, int64(len(own.ids))*block)
		c.main++
		for agents > 0 && src.Float64() < float64(agents)/float64(n-k) {
			agents--
			at = c.agent(at, &next, &src)
		}
		at += min(pause.draw(&src), 24*3600)
	}
	c.write("]}\n")
}

// agent writes a sub-agent and returns when its last request ended.
func (c *corpus) agent(at float64, next *int, src *random.Source) float64 {
	c.agents++
	c.write(`,{"t":`, seconds(at), `,"type":"subagent","agent_id":"agent-`, strconv.Itoa(c.agents),
		`","subagent_type":"Explore","status":"completed","models":["small"],"requests":[`)
	x := context{next: next, most: longest / block}
	for k := range max(int(calls.draw(src)), 1) {
		if k == 0 {
			x.grow(begin.draw(src) / 2)
		} else {
			c.write(",")
			x.grow(fresh.draw(src))
		}
		at = c.request(&x, at+0.2, "small", brief.draw(src))
	}
	c.write("]}")
	return at
}

// request writes a request and returns when it ended.
func (c *corpus) request(x *context, at float64, model string, tokens float64) float64 {
	out := max(int64(tokens), 1)
	took := 1 + float64(out)/60
	in := int64(len(x.ids)) * block
	c.write(`{"t":`, seconds(at), `,"type":"s","model":"`, model, `","in":`, strconv.FormatInt(in, 10), `,"out":`, strconv.FormatInt(out, 10), `,"hash_ids":[`)
	var digits [20]byte
	for i, id := range x.ids {
		if i > 0 {
			c.out.WriteByte(',')
			c.bytes++
		}
		n, _ := c.out.Write(strconv.AppendInt(digits[:0], int64(id), 10))
		c.bytes += int64(n)
	}
	c.write(`],"api_time":`, seconds(took), `}`)
	c.requests++
	c.input, c.output = c.input+in, c.output+out
	return at + took
}

func seconds(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

func (c *corpus) write(parts ...string) {
	for _, p := range parts {
		n, _ := c.out.WriteString(p) // the writer keeps its error
		c.bytes += int64(n)
	}
}

func (c *corpus) print() {
	slices.Sort(c.own)
	at := func(p float64) int64 { return c.own[int(p*float64(len(c.own)-1))] }
	fmt.Printf("%d requests, %d of them turns of sessions, %d sub-agents; %d input and %d output tokens; %d bytes\n",
		c.requests, c.main, c.agents, c.input, c.output, c.bytes)
	fmt.Printf("prompts of turns: p50 %d, p90 %d, p99 %d tokens\n", at(0.5), at(0.9), at(0.99))
}
