package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A compressed body is routed by its model and asked for usage like any other.
func TestCompressedBodies(t *testing.T) {
	zip := func(text string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = io.WriteString(w, text)
		_ = w.Close()
		return b.String()
	}
	zst := func(text string) string {
		w, _ := zstd.NewWriter(nil)
		return string(w.EncodeAll([]byte(text), nil))
	}
	quiet := `{"model":"b","messages":[]}`
	streamed := `{"model":"b","stream":true,"messages":[]}`
	asked := `{"model":"b","stream":true,"messages":[],"stream_options":{"include_usage":true}}`
	large := `{"model":"b","x":"` + strings.Repeat(" ", 2<<20) + `"}`
	for name, tc := range map[string]struct {
		coding, body, sent, sentCoding string
		status                         int
	}{
		"gzip":            {"gzip", zip(quiet), zip(quiet), "gzip", 200},
		"zstd":            {"zstd", zst(quiet), zst(quiet), "zstd", 200},
		"gzip, streamed":  {"gzip", zip(streamed), asked, "", 200},
		"zstd, streamed":  {"zstd", zst(streamed), asked, "", 200},
		"twice":           {"gzip, zstd", zst(zip(streamed)), asked, "", 200},
		"usage asked for": {"gzip", zip(asked), zip(asked), "gzip", 200},
		"identity":        {"identity", quiet, quiet, "identity", 200},
		"a bomb":          {"gzip", zip(large), "", "", 404}, // no route is for what can't be read
		"cut":             {"gzip", zip(quiet)[:20], "", "", 404},
		"a lie":           {"gzip", quiet, "", "", 404},
		"unknown":         {"lzma", quiet, "", "", 404},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := open(t, play("1ms "+whole(200, "application/json", "{}")), func(c *Config) {
				c.Routes[0].Models, c.Routes[0].MaxBody = []string{"b"}, 1<<20
			})
			got := h.talk(post(chatPath, tc.body, "content-encoding: "+tc.coding), 0)
			h.settled()
			want(t, name, got.StatusCode, tc.status)
			if tc.status != 200 {
				return
			}
			want(t, name+": body", h.up.last().body, tc.sent)
			want(t, name+": coding", h.up.last().Header.Get("Content-Encoding"), tc.sentCoding)
			want(t, name+": label", h.sink.one(t).Labels.Model, "b")
		})
	}
}

// A body that is not compressed waits for none that is decoded.
func TestPlainBodiesWaitForNoDecoder(t *testing.T) {
	for range cap(decoding) {
		decoding <- struct{}{}
	}
	defer func() {
		for range cap(decoding) {
			<-decoding
		}
	}()
	data := []byte(hello)
	done := make(chan bool)
	go func() {
		plain, ok := (&call{in: httptest.NewRequest("POST", chatPath, nil)}).decoded(data, 1<<20)
		done <- ok && string(plain) == hello
	}()
	select {
	case ok := <-done:
		want(t, "read", ok, true)
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
}
