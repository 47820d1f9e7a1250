package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"tokenmeter/record/timeline"
)

// payloadVersion leads every payload. A field that is added goes to the end
// and needs no new version: a payload that ends early leaves it empty, and
// what follows the known fields is skipped.
const payloadVersion = 1

var errPayload = errors.New("damaged record")

// coder walks the fields of a timeline in one fixed order. The same walk
// writes and reads, so that the two can't drift apart.
type coder struct {
	buf     []byte // writing: what has been written; reading: what is left
	reading bool
	err     error
}

// encodeTimeline appends the payload of t to buf.
func encodeTimeline(buf []byte, t *timeline.Timeline) []byte {
	c := coder{buf: append(buf, payloadVersion)}
	c.timeline(t)
	return c.buf
}

// decodeTimeline reads a payload.
func decodeTimeline(payload []byte) (*timeline.Timeline, error) {
	if len(payload) == 0 {
		return nil, errPayload
	}
	if payload[0] != payloadVersion {
		return nil, fmt.Errorf("record of version %d, this program reads version %d: use a newer tokenmeter",
			payload[0], payloadVersion)
	}
	c := coder{buf: payload[1:], reading: true}
	t := new(timeline.Timeline)
	c.timeline(t)
	return t, c.err
}

// decodeRequest reads only the request's ordinal, the first field.
func decodeRequest(payload []byte) int64 {
	if len(payload) == 0 {
		return 0
	}
	c := coder{buf: payload[1:], reading: true}
	var n int64
	c.int(&n)
	return n
}

func (c *coder) timeline(t *timeline.Timeline) {
	c.int(&t.Request)
	c.string(&t.ID)
	text(c, &t.Phase)
	c.smallInt(&t.Worker)
	c.string(&t.Session)
	c.optInt(&t.Turn)
	c.string(&t.Task)
	c.optInt(&t.Step)
	c.string(&t.Parent)
	c.string(&t.API)
	c.string(&t.Model)
	text(c, &t.Evidence)
	text(c, &t.Clock)
	c.int(&t.DueUS)
	c.int(&t.StartUS)
	c.optInt(&t.DNSUS)
	c.optInt(&t.ConnectUS)
	c.optInt(&t.TLSUS)
	c.optBool(&t.Reused)
	c.string(&t.Remote)
	c.smallInt(&t.Attempts)
	c.smallInt(&t.ConnRetries)
	c.optInt(&t.RetryAfterUS)
	c.smallInt(&t.Redirects)
	c.optInt(&t.SentUS)
	c.optInt(&t.HeadUS)
	c.optInt(&t.CloseUS)
	c.smallInt(&t.HTTPStatus)
	c.string(&t.FinishReason)
	c.bool(&t.Streamed)
	c.bool(&t.Asked)
	c.optInt(&t.Usage.Input)
	c.optInt(&t.Usage.Cached)
	c.optInt(&t.Usage.CacheWrite)
	c.optInt(&t.Usage.Output)
	c.optInt(&t.Usage.Reasoning)
	c.optInt(&t.Usage.Total)
	c.optInt(&t.Counted)
	c.optInt(&t.Tokenized)
	c.optInt(&t.Requested)
	c.flags(&t.Flags)
	c.optInt(&t.ClockStepUS)
	text(c, &t.Outcome)
	c.failure(&t.Error)
	c.string(&t.Text)
	c.server(&t.Server)
	c.optBool(&t.CheckPassed)
	c.optFloat(&t.CostUSD)
	c.events(&t.Events)
	c.string(&t.Class)
	c.optInt(&t.Norm)
	c.string(&t.NormBy)
	c.optInt(&t.Usage.Rejected)
	c.string(&t.Agent)
	c.optInt(&t.Reusable)
	c.string(&t.ServiceTier)
	c.optInt(&t.Inputs)
	c.optInt(&t.Chars)
	c.optInt(&t.AudioUS)
	c.optInt(&t.AudioRate)
	c.optInt(&t.Images)
	c.string(&t.ImageSize)
	c.optInt(&t.Usage.CacheWrite1h)
	c.optInt(&t.Videos)
	c.optInt(&t.MediaBytes)
	c.optInt(&t.Usage.Media)
	c.string(&t.AnsweredBy)
	c.optInt(&t.InputImages)
	text(c, &t.Unread)
	c.optInt(&t.TokenizedInput)
	c.string(&t.ServedModel)
	if c.reading {
		t.SortImages()
	}
}

// more reports whether there is anything left to read; writing always goes on.
func (c *coder) more() bool { return c.err == nil && (!c.reading || len(c.buf) > 0) }

func (c *coder) fail() {
	c.err, c.buf = errPayload, nil
}

func (c *coder) uint(v *uint64) {
	if !c.more() {
		return
	}
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, *v)
		return
	}
	n, size := binary.Uvarint(c.buf)
	if size <= 0 {
		c.fail()
		return
	}
	*v, c.buf = n, c.buf[size:]
}

func (c *coder) int(v *int64) {
	u := uint64(*v<<1) ^ uint64(*v>>63)
	c.uint(&u)
	*v = int64(u>>1) ^ -int64(u&1)
}

func (c *coder) smallInt(v *int) {
	n := int64(*v)
	c.int(&n)
	*v = int(n)
}

func (c *coder) byte(v *byte) {
	if !c.more() {
		return
	}
	if !c.reading {
		c.buf = append(c.buf, *v)
		return
	}
	*v, c.buf = c.buf[0], c.buf[1:]
}

func (c *coder) bool(v *bool) {
	var b byte
	if *v {
		b = 1
	}
	c.byte(&b)
	*v = b != 0
}

// string writes the length and the bytes. A length beyond what is left is
// damage, never an allocation.
func (c *coder) string(v *string) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.reading {
		c.buf = append(c.buf, *v...)
		return
	}
	if c.err != nil || n > uint64(len(c.buf)) {
		c.fail()
		return
	}
	*v, c.buf = string(c.buf[:n]), c.buf[n:]
}

func text[S ~string](c *coder, v *S) {
	s := string(*v)
	c.string(&s)
	*v = S(s)
}

// An optional value is a presence byte and, when present, the value.
func (c *coder) present(ok bool) bool {
	c.bool(&ok)
	return ok && c.err == nil
}

func (c *coder) optInt(v *timeline.Opt[int64]) {
	if c.present(v.OK()) {
		n := v.Or(0)
		c.int(&n)
		*v = timeline.Some(n)
	}
}

func (c *coder) optBool(v *timeline.Opt[bool]) {
	if c.present(v.OK()) {
		b := v.Or(false)
		c.bool(&b)
		*v = timeline.Some(b)
	}
}

func (c *coder) optFloat(v *timeline.Opt[float64]) {
	if c.present(v.OK()) {
		f := v.Or(0)
		c.float(&f)
		*v = timeline.Some(f)
	}
}

func (c *coder) float(v *float64) {
	if !c.reading {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, math.Float64bits(*v))
		return
	}
	if len(c.buf) < 8 {
		c.fail()
		return
	}
	*v, c.buf = math.Float64frombits(binary.LittleEndian.Uint64(c.buf)), c.buf[8:]
}

func (c *coder) flags(v *timeline.FlagSet) {
	n := uint64(*v)
	c.uint(&n)
	*v = timeline.FlagSet(n)
}

func (c *coder) failure(v **timeline.Error) {
	if !c.present(*v != nil) {
		return
	}
	if c.reading {
		*v = new(timeline.Error)
	}
	text(c, &(*v).Class)
	c.string(&(*v).Message)
}

func (c *coder) server(v *map[string]float64) {
	n := uint64(len(*v))
	c.uint(&n)
	if !c.reading {
		for _, name := range slices.Sorted(maps.Keys(*v)) {
			value := (*v)[name]
			c.string(&name)
			c.float(&value)
		}
		return
	}
	for ; n > 0 && c.err == nil; n-- {
		var name string
		var value float64
		c.string(&name)
		c.float(&value)
		if c.err != nil {
			return
		}
		if *v == nil {
			*v = map[string]float64{}
		}
		(*v)[name] = value
	}
}
