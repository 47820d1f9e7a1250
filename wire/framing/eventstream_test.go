package framing

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"testing"
)

// The vectors of the AWS SDK for Go v2 (aws/protocol/eventstream/testdata/encoded).
var amazonVectors = []struct {
	name, base64 string
	want         []string
	fails        string
}{
	{"all_headers", "AAAAzAAAAK8PrmTKCmV2ZW50LXR5cGUEAACgDAxjb250ZW50LXR5cGUHABBhcHBsaWNhdGlvbi9qc29uCmJvb2wgZmFsc2UBCWJvb2wgdHJ1ZQAEYnl0ZQLPCGJ5dGUgYnVmBgAUSSdtIGEgbGl0dGxlIHRlYXBvdCEJdGltZXN0YW1wCAAAAAAAhF/tBWludDE2AwAqBWludDY0BQAAAAACh1eyBHV1aWQJAQIDBAUGBwgJCgsMDQ4PEHsnZm9vJzonYmFyJ32rpfEM", []string{"|{'foo':'bar'}"}, ""},
	{"empty_message", "AAAAEAAAAAAFwkjrfZjI/w==", []string{"|"}, ""},
	{"int32_header", "AAAALQAAABBBxCS4CmV2ZW50LXR5cGUEAACgDHsnZm9vJzonYmFyJ3029ICg", []string{"|{'foo':'bar'}"}, ""},
	{"payload_no_headers", "AAAAHQAAAAD9Uoxaeydmb28nOidiYXInfcNlOTY=", []string{"|{'foo':'bar'}"}, ""},
	{"payload_one_str_header", "AAAAPQAAACAH/YOWDGNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb257J2Zvbyc6J2Jhcid9jZwIsQ==", []string{"|{'foo':'bar'}"}, ""},
	{"corrupted_header_len", "AAAAPQAAACEH/YOWDGNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb257J2Zvbyc6J2Jhcid9jZwIsQ==", nil, "checksum"},
	{"corrupted_headers", "AAAAPQAAACAH/YOWDGNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb257YWZvbyc6J2Jhcid9jZwIsQ==", nil, "checksum"},
	{"corrupted_length", "AAAAPgAAACAH/YOWDGNvbnRlbnQtdHlwZQcAEGFwcGxpY2F0aW9uL2pzb257J2Zvbyc6J2Jhcid9jZwIsQ==", nil, "checksum"},
	{"corrupted_payload", "AAAAHQAAAAD9UoxaWydmb28nOidiYXInfcNlOTY=", nil, "checksum"},
}

func TestEventStreamVectors(t *testing.T) {
	for _, c := range amazonVectors {
		data, err := base64.StdEncoding.DecodeString(c.base64)
		if err != nil {
			t.Fatal(err)
		}
		for size := 1; size <= len(data); size++ {
			got, garbage, err := frame(NewEventStream(0), string(data), size)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if !slices.Equal(got, c.want) || garbage != 0 || err != nil {
				t.Errorf("%s in pieces of %d: %q, garbage %d, %v", c.name, size, got, garbage, err)
			}
		}
	}
}

// FuzzEventStream: no bytes crash it, and the split changes nothing.
func FuzzEventStream(f *testing.F) {
	for i, c := range amazonVectors {
		data, _ := base64.StdEncoding.DecodeString(c.base64)
		f.Add(bytes.Repeat(data, 2), uint64(i))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		want := framed(NewEventStream(0), data, nil)
		for _, cuts := range [][]int{everyByte(len(data)), cutsOf(len(data), seed)} {
			got := framed(NewEventStream(0), data, cuts)
			if !slices.Equal(got.events, want.events) || got.failed != want.failed || got.garbage != want.garbage {
				t.Fatalf("cut at %v:\n got %+v\nwant %+v", cuts, got, want)
			}
		}
	})
}
