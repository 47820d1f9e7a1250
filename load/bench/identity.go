package bench

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"tokenmeter/load/workload"
	"tokenmeter/wire/api"
)

// Session says how a server, or a router in front of several, learns which
// requests belong together, so that each finds the cache that the ones before it
// filled. It concerns items of several requests only: conversations, tasks and
// recorded sessions. The zero value sends X-Session-ID.
type Session struct {
	// Headers carry the session's id. Nil means X-Session-ID; empty, not nil: none.
	Headers []string
	// Fields of the body carry it too: prompt_cache_key, user, …
	Fields []string
	// Echo are headers by which the server itself names the session in its replies:
	// what it said last is sent with the next request of the conversation.
	Echo []string
}

const (
	sessionHeader = "X-Session-Id"
	dynamoSession = "X-Dynamo-Session-Id"
	dynamoParent  = "X-Dynamo-Parent-Session-Id"
)

// several reports whether a request of the item is not alone.
func several(item *workload.Item) bool {
	return item.Kind == workload.Session || item.Kind == workload.Conversation || item.Kind == workload.Task
}

// conversation is the id of the conversation that step k is of: a sub-agent has
// one of its own.
func conversation(run string, item *workload.Item, agent int) string {
	id := fmt.Sprintf("%s-s%d", run, item.Index)
	if agent > 0 {
		id += fmt.Sprintf("-a%d", agent)
	}
	return id
}

// identify puts the session's id into a request. The request's own id stays away
// unless X-Session-ID is there: vLLM's router looks at x-request-id where it finds
// no other, and would send each turn elsewhere.
func (s *Session) identify(req *api.Request, run string, item *workload.Item, k int) {
	if !several(item) {
		return
	}
	step := item.Nth(k)
	id := conversation(run, item, step.AgentNo)
	headers := s.Headers
	if headers == nil {
		headers = []string{sessionHeader}
	}
	req.Header = http.Header{}
	for _, name := range headers {
		name = http.CanonicalHeaderKey(name)
		req.Header[name] = []string{id}
		if name == dynamoSession && step.AgentNo > 0 {
			req.Header[dynamoParent] = []string{conversation(run, item, step.ParentNo)}
		}
	}
	req.NoID = req.Header[sessionHeader] == nil
	if len(s.Fields) > 0 {
		extra := map[string]any{}
		maps.Copy(extra, req.Extra)
		for _, name := range s.Fields {
			if _, given := extra[name]; !given {
				extra[name] = id
			}
		}
		req.Extra = extra
	}
}

// check says what is wrong with the names.
func (s *Session) check() error {
	for _, name := range append(slices.Clone(s.Headers), s.Echo...) {
		switch lower := strings.ToLower(name); {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) }):
			return fmt.Errorf("%q is no name of a header", name)
		case slices.Contains([]string{"host", "content-length", "content-type", "transfer-encoding", "connection", "authorization", "x-request-id"}, lower):
			return fmt.Errorf("the header %s means something else: it can't carry a session's id", name)
		}
	}
	if slices.Contains(s.Fields, "") {
		return fmt.Errorf("the name of a body field is empty")
	}
	return nil
}

// told is how the server named the conversations of an item.
type told struct {
	mu    sync.Mutex
	names map[int]http.Header // by agent
}

// mostTold bounds a name that a server gives.
const mostTold = 8 << 10

// echo sends what the server called the conversation, and listens to what it calls
// it now.
func (t *told) echo(s *Session, req *api.Request, item *workload.Item, k int) {
	if len(s.Echo) == 0 || !several(item) {
		return
	}
	agent := item.Nth(k).AgentNo
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, values := range t.names[agent] {
		req.Header[name] = values
	}
	req.OnHead = func(h http.Header) {
		t.mu.Lock()
		defer t.mu.Unlock()
		for _, name := range s.Echo {
			name = http.CanonicalHeaderKey(name)
			if v := h[name]; len(v) > 0 && len(v[0]) <= mostTold {
				if t.names == nil {
					t.names = map[int]http.Header{}
				}
				if t.names[agent] == nil {
					t.names[agent] = http.Header{}
				}
				t.names[agent][name] = v[:1]
			}
		}
	}
}
