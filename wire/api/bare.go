package api

import (
	"bytes"
	"strings"

	"tokenmeter/record/timeline"
)

// isBare reports whether a body of a content type is what was asked for itself, in no
// framing: sound, a transcript that was wanted as text or subtitles, or the numbers of
// vectors, as vLLM sends them for encoding_format bytes.
func (a *API) isBare(contentType string) bool {
	kind := mediaType(contentType)
	switch a.Product() {
	case timeline.Speech:
		switch kind {
		case "", "application/octet-stream", "binary/octet-stream", "application/ogg":
			return true
		}
		return strings.HasPrefix(kind, "audio/")
	case timeline.Vectors:
		return kind == "application/octet-stream"
	case timeline.Transcript:
		return kind == "text/plain" || kind == "text/vtt" || kind == "text/srt" || kind == "application/x-subrip"
	}
	return false
}

// rawDecoder reads such a body.
type rawDecoder interface {
	// Raw takes the bytes of a read.
	Raw(data []byte, s *Stream)
}

// raw hands on the bytes of a body without framing. Sound comes as it is made, a text
// as a whole. A JSON text without a content type is an answer of another kind.
func (s *Stream) raw(data []byte) bool {
	if s.decoder == nil {
		if data[0] == '{' && s.header.Get("Content-Type") == "" {
			s.form = whole
			return false
		}
		s.decoder, s.tl.Streamed = s.api.Decoder(), s.api.Product() == timeline.Speech
	}
	s.decoder.(rawDecoder).Raw(data, s)
	return true
}

// worded reports whether what was read begins with sixteen bytes of words, as no numbers
// and no sound do.
func worded(data []byte) bool {
	return len(data) >= 16 && !bytes.ContainsFunc(data[:16], func(r rune) bool {
		return r > '~' || r < ' ' && r != '\n' && r != '\r' && r != '\t'
	})
}
