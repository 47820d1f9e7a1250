package client

import (
	"net/http"

	"tokenmeter/record/timeline"
)

// sign proves who asks, where that takes more than a key. A proof tells the time and the
// path, so each attempt has its own: it takes the place of the one before.
func (x *exchange) sign() *failure {
	c, m := x.c, &x.msg
	if c.cfg.Sign == nil {
		return nil
	}
	r, err := http.NewRequest(m.method, "https://"+c.target.host+m.path, nil)
	if err != nil {
		return c.unsigned(err)
	}
	for _, f := range c.head.fields(m) {
		switch f.name {
		case "host":
			r.Host = f.value
		case "content-type":
			r.Header.Set("Content-Type", f.value)
		}
	}
	if err := c.cfg.Sign(r, m.body); err != nil {
		return c.unsigned(err)
	}
	m.extra = together(r.Header, m.extra)
	return nil
}

func (c *Client) unsigned(err error) *failure {
	return &failure{class: timeline.ClientResource, msg: "the request can't be signed: " + c.redact.Error(err)}
}
