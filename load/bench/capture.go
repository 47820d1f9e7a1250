package bench

import (
	"net/http"
	"os"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/capture"
	"tokenmeter/wire/client"
)

// capture returns where the raw reads of a request go, or nil.
func (r *runner) capture(tl *timeline.Timeline, request []byte) client.Recorder {
	w := r.writer.Load()
	if w == nil || tl.Request < 0 {
		return nil
	}
	f, err := w.Capture(tl.Request)
	if err != nil {
		r.log.notice("capture_failed", timeline.Opt[float64]{}, "A capture could not be written: %v.", err)
		return nil
	}
	cw := capture.NewWriter(f, tl, request)
	cw.Redact, cw.Room = r.log.red, r.room
	return &captured{Writer: cw, file: f, log: r.log}
}

// captured is a capture's file.
type captured struct {
	*capture.Writer
	file *os.File
	log  *logger
}

// End implements client.Recorder.
func (c *captured) End(atUS int64, end timeline.End, trailer http.Header, cause error) {
	err := c.Writer.End(atUS, end, trailer, cause)
	if closeErr := c.file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		c.log.notice("capture_failed", timeline.Opt[float64]{}, "A capture could not be written: %v.", err)
	}
}
