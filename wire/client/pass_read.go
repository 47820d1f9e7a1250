package client

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"

	"tokenmeter/record/timeline"
)

// headLimit is until when the head is waited for.
func (r *Passed) headLimit(p *Passing, writeErr error) int64 {
	patience := p.HeadLimit
	switch {
	case patience == 0:
		return r.until
	case errors.Is(writeErr, os.ErrDeadlineExceeded):
		patience = drainTime // an answer may have come before the request was taken
	}
	return min(r.until, r.SentNS+int64(patience))
}

// head reads until the final head has come.
func (r *Passed) head(p *Passing, limitNS int64, writeErr error) *failure {
	var asked *senderError
	if errors.As(writeErr, &asked) {
		if f := r.cancelled(); f != nil {
			return f
		}
		return &failure{class: timeline.CancelledUser, msg: "the request's body did not come whole: " + asked.Error()}
	}
	for {
		data, err := r.read(limitNS)
		if err != nil {
			return r.headless(err, limitNS, p, writeErr)
		}
		for !r.rd.headDone() {
			if r.rd.fresh() {
				r.HeadNS = r.at.AtNS
			}
			before := r.rd.informational
			if data, err = r.rd.feedHead(data); err != nil {
				return &failure{class: timeline.Parse, msg: err.Error()}
			}
			if r.rd.informational > before && p.Informational != nil {
				p.Informational(r.rd.interim, r.rd.interimHeader)
			}
			if len(data) == 0 {
				break
			}
		}
		if r.rd.headDone() {
			r.c.hear()
			r.Status, r.Header = r.rd.status, r.rd.header
			r.body = data
			if r.whole { // it may come before we see that the request is out
				r.SentNS = min(r.SentNS, r.HeadNS)
			}
			return nil
		}
	}
}

// headless words why no head came.
func (r *Passed) headless(err error, limitNS int64, p *Passing, writeErr error) *failure {
	if f := r.cancelled(); f != nil {
		return f
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded) && limitNS == r.until:
		return &failure{class: timeline.TimeoutTotal, msg: "no response within the time limit of the request"}
	case errors.Is(writeErr, os.ErrDeadlineExceeded):
		return &failure{class: timeline.TimeoutTTFT, msg: "the server took nothing of the request for " + p.HeadLimit.String()}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &failure{class: timeline.TimeoutTTFT, msg: "no response began within " + p.HeadLimit.String()}
	}
	return &failure{class: timeline.ConnReset, msg: r.c.lossWords(err, writeErr, r.HeadNS != 0)}
}

// read takes one read off the connection. Its bytes are valid until the next.
func (r *Passed) read(limitNS int64) ([]byte, error) {
	putBuffer(r.buf)
	r.buf = nil
	for {
		r.cn.arm(r.c.clk, limitNS)
		buf, n, err := r.cn.readOne()
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) && r.ctx.Err() == nil && r.c.clk.NS() < limitNS {
				r.cn.armed = 0 // it was an older, earlier limit
				continue
			}
			return nil, err
		}
		r.buf = buf
		src := &r.cn.src.stamper
		r.at = Arrived{AtNS: max(src.arrivedNS, r.lastNS), ReadNS: src.readNS, Kernel: src.kernel}
		r.lastNS = r.at.AtNS
		return buf[:n], nil
	}
}

// Kernel reports whether every arrival so far had the kernel's stamp.
func (r *Passed) Kernel() bool { return r.cn != nil && r.cn.src.allSeen }

// Waits reports whether bytes of the body have come that were not read yet.
func (r *Passed) Waits() bool { return len(r.body) > 0 }

// LastNS is when the last bytes came, on the client's clock.
func (r *Passed) LastNS() int64 { return r.lastNS }

// Read returns body bytes as they came off the connection: those of one read,
// after transfer decoding, valid until the next call. At limitNS, on the
// client's clock, it gives up (0: never). The error is io.EOF after a complete
// response, else an [*EndError].
func (r *Passed) Read(limitNS int64) ([]byte, Arrived, error) {
	limitNS = cmp.Or(limitNS, farFuture)
	limit := min(limitNS, r.until)
	for {
		raw := r.body
		r.body = nil
		if raw == nil {
			if r.over || r.rd.done() {
				r.over = true
				return nil, r.at, io.EOF
			}
			var err error
			if raw, err = r.read(limit); err != nil {
				return nil, r.at, r.ended(err, limit)
			}
		}
		data, rest, err := r.rd.feed(raw)
		if err != nil {
			r.over = true
			return data, r.at, &EndError{End: timeline.Cut, Invalid: true, Err: err}
		}
		r.rest = r.rest || len(rest) > 0
		if len(data) > 0 {
			return data, r.at, nil
		}
	}
}

// ended says how the response ended.
func (r *Passed) ended(err error, limitNS int64) error {
	r.over = true
	switch {
	case r.ctx.Err() != nil:
		f := cancelled(r.ctx, "")
		return &EndError{End: timeline.End(f.class), Err: f}
	case errors.Is(err, os.ErrDeadlineExceeded) && limitNS == r.until:
		return &EndError{End: timeline.EndTimeoutTotal}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &EndError{End: timeline.EndTimeoutIdle}
	case errors.Is(err, io.EOF) && r.rd.state == inUntilClose:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &EndError{End: timeline.Cut}
	}
	return &EndError{End: timeline.Reset, Err: bare(err)}
}

// Trailer is what followed the body; nil without one.
func (r *Passed) Trailer() http.Header { return r.rd.trailer }
