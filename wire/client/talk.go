package client

import (
	"reflect"
	"slices"

	"tokenmeter/wire/api"
)

// talk is what the server of an open WebSocket knows of a conversation: the response
// that its next turn may go on with, and the messages that led there.
type talk struct {
	previous string // id of the response; empty: none
	messages []api.Message
}

// goesOn is how many messages of a request the server has already: those of the turn
// before and the answer to it. 0: it does not go on from there.
//
// The answer is the server's own, whatever the request has in its place: a recorded
// one is not sent.
func (t *talk) goesOn(messages []api.Message) int {
	n := len(t.messages)
	if t.previous == "" || len(messages) < n+2 || messages[n].Role != "assistant" || !slices.EqualFunc(t.messages, messages[:n], sameMessage) {
		return 0
	}
	return n + 1
}

func sameMessage(a, b api.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && a.Sound == b.Sound &&
		len(a.ToolCalls) == len(b.ToolCalls) && len(a.Images) == len(b.Images) &&
		(len(a.ToolCalls) == 0 || reflect.DeepEqual(a.ToolCalls, b.ToolCalls)) && (len(a.Images) == 0 || reflect.DeepEqual(a.Images, b.Images))
}

// told notes a reply that is whole.
func (t *talk) told(x *exchange) {
	*t = talk{}
	if stream, ok := x.sink.(*api.Stream); ok && stream.ReplyID() != "" && !x.tl.Outcome.Failed() {
		*t = talk{previous: stream.ReplyID(), messages: x.ask.Messages}
	}
}

// continued reports whether an idle connection is the one whose talk the request goes
// on with: others of its session may have other conversations.
func (x *exchange) continued(cn *conn) bool {
	return x.ask != nil && x.fits(cn) && cn.ws.talk.goesOn(x.ask.Messages) > 0
}

// create writes the message that asks for the reply, unless it is the one that was made
// ahead: of a turn that goes on with the one before it only what is new.
func (x *exchange) create(t *talk) error {
	own := *x.ask
	previous := ""
	n := t.goesOn(own.Messages)
	if n > 0 && !x.whole {
		own.Messages, previous = own.Messages[n:], t.previous
	}
	made := !x.chained // x.msg.body has all of the messages
	if x.chained = previous != ""; made && !x.chained {
		return nil
	}
	call, err := x.c.cfg.API.Create(&own, previous)
	x.msg.body = call.Body
	return err
}

// refusedChain looks at the first message of a reply: unchained when the turn must be
// asked for with all of its messages, lostIdle when on a new connection, else settled.
func (x *exchange) refusedChain(line []byte) verdict {
	switch gone, old := notFound(line); {
	case gone && x.chained:
		return unchained
	case old && x.onIdle: // the documented bound is an hour
		return lostIdle
	}
	return settled
}
