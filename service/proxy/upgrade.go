package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"tokenmeter/record/timeline"
	"tokenmeter/service/traffic"
	"tokenmeter/wire/client"
)

// upgrade joins the two connections after 101 Switching Protocols. What passes
// is counted in bytes and not read.
func (c *call) upgrade(reply *client.Passed) {
	if !sameProtocol(upgradeOf(c.in.Header), upgradeOf(reply.Header)) {
		reply.Close()
		c.noUpgrade(reply, "the upstream changed to another protocol than was asked for")
		return
	}
	c.meter.head(reply.HeadNS, reply.Status, reply.Header)
	c.meter.giveUp(traffic.Upgraded)
	up, first := reply.Take()
	defer up.Close()
	c.left.unwatch()
	nc, buf, err := c.ctl.Hijack()
	if err != nil {
		c.req.Fail(timeline.ClientResource, "the client's connection can't change its protocol: "+err.Error())
		answer(c.w, http.StatusNotImplemented, "upgrade", c.req.Error.Message)
		return
	}
	defer nc.Close()
	_ = nc.SetReadDeadline(time.Time{})
	_ = nc.SetWriteDeadline(time.Now().Add(c.p.cfg.ReaderTimeout))
	c.gate.Open()
	h := reply.Header.Clone()
	protocol := upgradeOf(h)
	dropHopByHop(h)
	h.Set("Connection", "Upgrade")
	h.Set("Upgrade", protocol)
	_, _ = buf.WriteString("HTTP/1.1 101 Switching Protocols\r\n")
	_ = h.Write(buf)
	_, _ = buf.WriteString("\r\n")
	_, _ = buf.Write(first)
	if err := buf.Flush(); err != nil {
		c.req.Fail(timeline.CancelledUser, "the client hung up")
		return
	}
	// The buffer's own reader ends the request's context when the client says no more.
	ahead := io.LimitReader(buf.Reader, int64(buf.Reader.Buffered()))
	c.join(nc, io.MultiReader(ahead, nc), up, int64(len(first)))
}

// noUpgrade refuses an answer to a request to change the protocol.
func (c *call) noUpgrade(reply *client.Passed, words string) {
	c.meter.head(reply.HeadNS, reply.Status, reply.Header)
	c.meter.giveUp(traffic.Upgraded)
	c.req.Fail(timeline.Parse, words)
	answer(c.w, http.StatusBadGateway, string(timeline.Parse), words)
}

func sameProtocol(a, b string) bool {
	return a != "" && http.CanonicalHeaderKey(a) == http.CanonicalHeaderKey(b)
}

// halfOpen is how long one direction may go on when the other has ended.
const halfOpen = 10 * time.Second

// join copies both ways until both have ended.
func (c *call) join(nc net.Conn, fromClient io.Reader, up net.Conn, already int64) {
	var down, sent atomic.Int64
	down.Add(already)
	closeBoth := func() { _ = nc.Close(); _ = up.Close() }
	defer context.AfterFunc(c.in.Context(), closeBoth)() // we are being stopped
	var both sync.WaitGroup
	var once sync.Once
	var half *time.Timer
	var deaf, stuck bool
	one := func(to net.Conn, from io.Reader, n *atomic.Int64, patience time.Duration) (late bool) {
		late = errors.Is(pump(to, from, n, patience), os.ErrDeadlineExceeded)
		closeWrite(to)
		once.Do(func() { half = time.AfterFunc(halfOpen, closeBoth) })
		return late
	}
	both.Go(func() { stuck = one(up, fromClient, &sent, c.up.HeadTimeout) })
	both.Go(func() { deaf = one(nc, up, &down, c.p.cfg.ReaderTimeout) })
	both.Wait()
	c.req.Outcome = timeline.OK
	switch {
	case c.stopped():
		c.req.Fail(timeline.CancelledRunEnd, client.ErrRunEnd.Error())
	case deaf:
		c.req.Fail(timeline.CancelledUser, "the client read nothing for too long")
	case stuck:
		c.req.Fail(timeline.TimeoutIdle, "the upstream read nothing for too long")
	}
	half.Stop()
	c.req.RequestBytes, c.req.ResponseBytes = sent.Load(), down.Load()
	c.req.CloseUS = timeline.Some(c.meter.us(c.p.clk.NS()))
}

// pump copies as it comes. The error is that of a write, which may wait for so long.
func pump(to net.Conn, from io.Reader, n *atomic.Int64, patience time.Duration) error {
	buf := make([]byte, 16<<10)
	for {
		k, err := from.Read(buf)
		if k > 0 {
			_ = to.SetWriteDeadline(time.Now().Add(patience))
			if _, err := to.Write(buf[:k]); err != nil {
				return err
			}
			n.Add(int64(k))
		}
		if err != nil {
			return nil
		}
	}
}

// closeWrite tells the other side that nothing more comes; where that can't be
// told alone, the connection is closed.
func closeWrite(c net.Conn) {
	if half, ok := c.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = c.Close()
}
