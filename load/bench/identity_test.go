package bench

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"tokenmeter/load/workload"
)

// replicas are servers with a prefix cache each, behind a router. A word is a
// token, a block 64 of them.
type replicas struct {
	mu    sync.Mutex
	known []map[string]bool
	turn  int
	asked []http.Header
	body  []map[string]any
	hit   int
	all   int
}

func (f *replicas) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
		return
	}
	var b body
	raw := map[string]any{}
	var data json.RawMessage
	json.NewDecoder(r.Body).Decode(&data)
	json.Unmarshal(data, &b)
	json.Unmarshal(data, &raw)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.body = append(f.asked, r.Header.Clone()), append(f.body, raw)
	at := f.turn % len(f.known)
	if id := r.Header.Get("X-Session-Id"); id != "" {
		h := fnv.New32a()
		h.Write([]byte(id))
		at = int(h.Sum32()) % len(f.known)
	}
	f.turn++
	var words []string
	for _, m := range b.Messages {
		words = append(words, strings.Fields(m.Content)...)
	}
	cached, hit := 0, true
	for n := 64; n <= len(words); n += 64 {
		f.all++
		key := strings.Join(words[:n], " ")
		if hit = hit && f.known[at][key]; hit {
			cached += 64
			f.hit++
		}
		f.known[at][key] = true
	}
	w.Header().Set("X-Session-Token", fmt.Sprintf("token-%d", len(f.asked)))
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":%d,\"completion_tokens\":1,\"prompt_tokens_details\":{\"cached_tokens\":%d}}}\n\ndata: [DONE]\n\n", len(words), cached)
}

// A router that goes by the session gives the ideal hit rate, 14 of 28 blocks. One
// that takes its two servers in turn gives what each of them saw: the first turns 1
// and 3 and the sub-agent's first, the second turn 2 and the sub-agent's other. So
// 4 blocks are hits, the first ones of turn 3.
func TestAffinity(t *testing.T) {
	for _, c := range []struct {
		headers []string
		hit     int
	}{{nil, 14}, {[]string{}, 4}} {
		f := &replicas{known: []map[string]bool{{}, {}}}
		work := recordedWork(t, workload.Content{})
		res := virtual(t, &fake{whole: f}, Plan{Load: Load{Concurrency: 1, Requests: 5, Warmup: Warmup{Off: true}}, Content: Content{Workload: work, Session: Session{Headers: c.headers}}}, nil)
		if res.err != nil || f.hit != c.hit || f.all != 28 {
			t.Errorf("%v: %d of %d blocks were hits, want %d of 28; %v", c.headers, f.hit, f.all, c.hit, res.err)
		}
		var cached, input, ideal int64
		for _, rec := range res.records {
			ideal += rec.ReusableTokens.Or(0)
			cached, input = cached+rec.CachedTokens.Or(0), input+rec.InputTokens.Or(0)
		}
		if cached != int64(c.hit)*64 || input != 28*64 || ideal != 14*64 {
			t.Errorf("the records say %d of %d tokens, ideally %d", cached, input, ideal)
		}
	}
}

// What a router reads is the same on every turn; a sub-agent is a conversation of
// its own with a parent; nothing that differs by request has a name that routers hash.
func TestSessionNames(t *testing.T) {
	play := func(s Session) *replicas {
		f := &replicas{known: []map[string]bool{{}}}
		res := virtual(t, &fake{whole: f}, Plan{Load: Load{Concurrency: 1, Requests: 5, Warmup: Warmup{Off: true}}, Content: Content{Workload: recordedWork(t, workload.Content{}), Session: s}}, nil)
		if res.err != nil || len(f.asked) != 5 {
			t.Fatalf("%d requests, %v", len(f.asked), res.err)
		}
		return f
	}
	values := func(f *replicas, name string) (out []string) {
		for _, h := range f.asked {
			out = append(out, h.Get(name))
		}
		return out
	}
	own, sub := []int{0, 1, 4}, []int{2, 3}
	same := func(what string, v []string) {
		t.Helper()
		for _, group := range [][]int{own, sub} {
			for _, i := range group {
				if v[i] == "" || v[i] != v[group[0]] {
					t.Errorf("%s: %q", what, v)
				}
			}
		}
		if v[0]+"-a1" != v[2] {
			t.Errorf("%s: the sub-agent of %q is %q", what, v[0], v[2])
		}
	}
	f := play(Session{})
	same("X-Session-ID", values(f, "X-Session-ID"))
	if slices.Contains(values(f, "X-Request-ID"), "") {
		t.Error("beside X-Session-ID, x-request-id is harmless and ties records to the server's log")
	}
	f = play(Session{Headers: []string{"X-Dynamo-Session-ID", "x-smg-routing-key"}, Fields: []string{"prompt_cache_key"}})
	same("X-Dynamo-Session-ID", values(f, "X-Dynamo-Session-ID"))
	same("X-SMG-Routing-Key", values(f, "X-SMG-Routing-Key"))
	parents, id := values(f, "X-Dynamo-Parent-Session-ID"), f.asked[0].Get("X-Dynamo-Session-ID")
	if !slices.Equal(parents, []string{"", "", id, id, ""}) {
		t.Errorf("parents %q", parents)
	}
	if v := values(f, "X-Request-ID"); !slices.Equal(v, make([]string, 5)) {
		t.Errorf("x-request-id %q", v)
	}
	for i, b := range f.body {
		if b["prompt_cache_key"] != f.asked[i].Get("X-Dynamo-Session-ID") {
			t.Errorf("%v", b["prompt_cache_key"])
		}
	}
	// The server's own name comes back with the next request of the conversation.
	f = play(Session{Headers: []string{}, Echo: []string{"x-session-token"}})
	if v := values(f, "X-Session-Token"); !slices.Equal(v, []string{"", "token-1", "", "token-3", "token-2"}) {
		t.Errorf("tokens %q", v)
	}
	for _, s := range []Session{{Headers: []string{"a b"}}, {Headers: []string{"X-Request-ID"}}, {Echo: []string{"Host"}}, {Fields: []string{""}}} {
		if s.check() == nil {
			t.Errorf("%+v is no mistake", s)
		}
	}
}
