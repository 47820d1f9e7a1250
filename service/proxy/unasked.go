package proxy

import (
	"bytes"
	"log/slog"
	"net/http"

	"tokenmeter/wire/client"
)

// Some servers refuse requests with options that they do not know, as some models of
// Azure's do with stream_options. What we added to a request must not make it fail:
// then it goes as the client sent it, and so do all that follow to this upstream, where
// that was taken: a client can have its own words repeated in a refusal of another thing.

// early is what was read of a reply before it was passed on.
type early struct {
	data []byte
	at   client.Arrived
	err  error
}

// mostEarly is how much of a refusal is read to see what it is about.
const mostEarly = 16 << 10

// refusesUsage reports whether an upstream refuses a request for the usage option that
// was added to it. What was read to see that is passed on where it does not.
func (c *call) refusesUsage(reply *client.Passed) bool {
	if !c.inject || reply.Status != http.StatusBadRequest && reply.Status != http.StatusUnprocessableEntity {
		return false
	}
	var body []byte
	for len(body) < mostEarly {
		data, at, err := reply.Read(reply.LastNS() + int64(c.up.IdleTimeout))
		body = append(body, data...)
		c.early = append(c.early, early{bytes.Clone(data), at, err})
		if err != nil {
			break
		}
	}
	if !bytes.Contains(body, []byte("stream_options")) && !bytes.Contains(body, []byte("include_usage")) {
		return false
	}
	c.early = nil
	return true
}

// tookWithout is told that a request was taken that had been refused with the option.
func (u *upstream) tookWithout(log *slog.Logger) {
	if !u.noUsage.Swap(true) {
		log.Warn("the upstream refuses stream_options: streams there are no longer asked for their usage", "upstream", u.Name)
	}
}

// asSent takes the request back to how the client sent it. Until then one copy of its
// body is in memory: it may wait for long.
func (c *call) asSent() {
	if !c.unpacked {
		c.own = c.asked.withoutUsage(c.body)
	}
	c.body, c.own, c.unpacked, c.inject = c.own, nil, false, false
	c.length = int64(len(c.body))
	c.req.RequestBytes = c.length
}

// read returns the next bytes of a reply.
func (c *call) read(reply *client.Passed, limitNS int64) ([]byte, client.Arrived, error) {
	if len(c.early) == 0 {
		return reply.Read(limitNS)
	}
	e := c.early[0]
	c.early = c.early[1:]
	return e.data, e.at, e.err
}
