package sim

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/url"
	"strings"
)

// bedrock is POST /model/MODEL/converse-stream and /converse: Amazon's event
// stream, with the counts after the end of the message.
var bedrock = dialect{
	ends: []string{"/converse-stream", "/converse"}, kind: "application/vnd.amazon.eventstream",
	frame: func(b, data []byte) []byte {
		return appendAmazon(b, ":exception-type", "modelStreamErrorException", data)
	},
	read: func(path string, body []byte) (askJSON, error) {
		var j struct {
			askJSON
			System          json.RawMessage
			InferenceConfig struct{ MaxTokens *int }
		}
		err := json.Unmarshal(body, &j)
		j.begin(j.System)
		j.MaxTokens = j.InferenceConfig.MaxTokens
		j.Stream = strings.HasSuffix(path, "-stream")
		model, _, _ := strings.Cut(strings.TrimPrefix(path, "/model/"), "/")
		if name, err := url.PathUnescape(model); err == nil {
			j.Model = name
		}
		return j.askJSON, err
	},
	begin: func(r *reply, b []byte) []byte { return amazonEvent(b, "messageStart", []byte(`{"role":"assistant"}`)) },
	piece: func(r *reply, b []byte, reasoning bool, from, to int, last bool) []byte {
		data, end := []byte(`{"contentBlockIndex":0,"delta":{"text":`), "}}"
		if reasoning {
			data, end = []byte(`{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":`), "}}}"
		}
		return amazonEvent(b, "contentBlockDelta", append(r.appendText(data, from, to), end...))
	},
	end: func(r *reply, b []byte) []byte {
		b = amazonEvent(b, "messageStop", append(appendQuoted(nil, `{"stopReason":`, r.anthropicReason()), '}'))
		if r.s.cfg.Usage != UsageNone && findFault(r.faults, FaultNoDone) == nil {
			b = amazonEvent(b, "metadata", append(r.bedrockUsage([]byte("{"), r.yielded), '}'))
		}
		return b
	},
	whole: func(r *reply, b []byte) []byte {
		n := r.toldTokens()
		b = append(b, `{"output":{"message":{"role":"assistant","content":[`...)
		if r.showsReasoning() {
			b = append(r.appendReasoning(append(b, `{"reasoningContent":{"reasoningText":{"text":`...), n), "}}},"...)
		}
		b = append(r.appendAnswer(append(b, `{"text":`...), n), "}]}},"...)
		b = appendQuoted(b, `"stopReason":`, r.anthropicReason())
		if r.s.cfg.Usage != UsageNone {
			b = r.bedrockUsage(append(b, ','), n)
		}
		return append(b, '}')
	},
}

func (r *reply) bedrockUsage(b []byte, n int) []byte {
	return fmt.Appendf(b, `"usage":{"inputTokens":%d,"cacheReadInputTokens":%d,"cacheWriteInputTokens":0,"outputTokens":%d,"totalTokens":%d}`,
		r.promptTokens-r.cachedTokens, r.cachedTokens, n, r.promptTokens+n)
}

// amazonEvent adds an event as one chunk.
func amazonEvent(b []byte, name string, data []byte) []byte {
	b, at := beginChunk(b)
	return endChunk(appendAmazon(b, ":event-type", name, data), at)
}

// appendAmazon adds a message of Amazon's event stream: both lengths with their
// checksum, one header of text, the payload, the checksum of all.
func appendAmazon(b []byte, header, value string, payload []byte) []byte {
	const text = 7 // the header's type
	from := len(b)
	headers := 1 + len(header) + 3 + len(value)
	b = binary.BigEndian.AppendUint32(b, uint32(12+headers+len(payload)+4))
	b = binary.BigEndian.AppendUint32(b, uint32(headers))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
	b = append(append(append(b, byte(len(header))), header...), text)
	b = append(binary.BigEndian.AppendUint16(b, uint16(len(value))), value...)
	b = append(b, payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[from:]))
}
