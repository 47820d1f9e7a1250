package capture_test

import (
	"strings"
	"testing"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/capture"
)

const okHead = `{"capture":"tokenmeter/v1","status":200,"headers":{"content-type":"text/event-stream"},"request":null}`

func TestErrorsNameFileAndLine(t *testing.T) {
	cases := []struct{ in, want string }{
		{"", "f:1: the capture is empty"},
		{"nonsense", "f:1: the first line is no capture head"},
		{`{"a":1}`, `f:1: the first line must say "capture":"tokenmeter/v1"`},
		{`{"capture":"tokenmeter/v1","api":"foo"}`, `f:1: unknown API "foo"`},
		{`{"capture":"tokenmeter/v1","clock":"sun"}`, `f:1: clock "sun" is unknown`},
		{`{"capture":"tokenmeter/v1","headers":{"a":1}}`, `header "a"`},
		{okHead + "\n{\"data\":\"x\"}", "f:2: t_ms is missing"},
		{okHead + "\n\n{\"t_ms\":1}", "f:3: a read has data or b64"},
		{strings.Replace(okHead, "200", "-1", 1), "f:1: status -1 is none"},
		{strings.Replace(okHead, "200", "99999999", 1), "f:1: status 99999999 is none"},
		{strings.Replace(okHead, "{", `{"sent_ms":-5,`, 1), "f:1: sent_ms is negative"},
		{strings.Replace(okHead, "{", `{"attempts":-5,`, 1), "can't be negative"},
		{okHead + "\n{\"t_ms\":5,\"data\":\"x\"}\n{\"t_ms\":4.5,\"data\":\"x\"}", "f:3: t_ms runs backwards: 4.5 after 5"},
		{okHead + "\n{\"t_ms\":5,\"end\":\"bang\"}", `f:2: end "bang" is unknown`},
		{okHead + "\n{\"t_ms\":5,\"end\":\"eof\"}\n{\"t_ms\":6,\"data\":\"x\"}", "f:3: there is a line after the end"},
		{okHead + "\n{\"t_ms\":5,\"end\":\"eof\",\"data\":\"x\"}", "f:2: the last line carries no data"},
		{okHead + "\n{\"t_ms\":5,\"lag_ms\":-1,\"data\":\"x\"}", "f:2: lag_ms is negative"},
		{okHead + "\n{\"t_ms\":1e300,\"data\":\"x\"}", "f:2: "},
		{okHead + "\n{\"t_ms\":", "f:2: no JSON: "},
		{okHead + "\n{\"t_ms\":\"5\"}", "f:2: t_ms: string does not belong there"},
		{okHead + "\n[]", "f:2: the line: array does not belong there"},
		{okHead + "\n" + strings.Repeat(" ", 64<<20+1), "f:2: more than 64 MiB"},
	}
	for _, c := range cases {
		_, err := capture.Analyze(strings.NewReader(c.in), capture.Options{Name: "f"})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

func TestHeadDefaults(t *testing.T) {
	in := "\xef\xbb\xbf" + okHead + `
{"t_ms":214,"data":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n"}
{"t_ms":215.0009,"data":"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"}`
	tl, err := capture.Analyze(strings.NewReader(in), capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if tl.HeadUS != timeline.Some(int64(214_000)) || tl.CloseUS != timeline.Some(int64(215_001)) || tl.API != "openai-chat" {
		t.Errorf("head %v, close %v, api %s", tl.HeadUS, tl.CloseUS, tl.API)
	}
	if tl.Outcome != timeline.OK || !tl.Flags.Has(timeline.DirtyClose) || !tl.Asked {
		t.Errorf("outcome %s, flags %v: a capture without an end is cut", tl.Outcome, tl.Flags.Names())
	}
}

func TestPicturesOfOlderCaptures(t *testing.T) {
	in := strings.Replace(okHead, `"status":200`, `"status":200,"api":"openai-chat","images":2,"input_media_bytes":4480`, 1) + `
{"t_ms":214,"data":"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n"}`
	tl, err := capture.Analyze(strings.NewReader(in), capture.Options{})
	if err != nil || tl.Images.OK() || tl.InputImages != timeline.Some(int64(2)) {
		t.Errorf("images %v, input images %v, %v", tl.Images, tl.InputImages, err)
	}
}

func TestEnds(t *testing.T) {
	for end, want := range map[string]timeline.Outcome{
		"eof": timeline.StreamTruncated, "cut": timeline.StreamTruncated, "reset": timeline.ConnReset,
		"timeout": timeline.TimeoutTotal, "timeout_total": timeline.TimeoutTotal,
		"timeout_ttft": timeline.TimeoutTTFT, "timeout_idle": timeline.TimeoutIdle,
		"cancelled": timeline.CancelledUser, "cancelled_user": timeline.CancelledUser,
		"cancelled_run_end": timeline.CancelledRunEnd,
	} {
		tl, err := capture.Analyze(strings.NewReader(okHead+`{"t_ms":5,"end":"`+end+`"}`), capture.Options{})
		if err == nil {
			t.Fatalf("two lines in one were read: %v", tl)
		}
		tl, err = capture.Analyze(strings.NewReader(okHead+"\n"+`{"t_ms":5,"end":"`+end+`"}`), capture.Options{})
		if err != nil || tl.Outcome != want || tl.Error == nil || tl.Error.Message == "" {
			t.Errorf("%s: %v, %v", end, tl, err)
		}
	}
}
