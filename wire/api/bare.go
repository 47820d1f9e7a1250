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
	// Raw takes the bytes of a read, the first with those that came before it was known what they are.
	Raw(data []byte, s *Stream)
}

// raw hands on the bytes of a body without framing. Sound comes as it is made, a text
// as a whole. Words in the place of numbers or sound are a page, or a reply in JSON: of such
// a body it sets the form, and returns what has come of it.
func (s *Stream) raw(data []byte, ended bool) (framed []byte) {
	if s.decoder == nil {
		if len(s.opening) > 0 {
			data = append(s.opening, data...)
		}
		words, sure := wordy(data, ended)
		switch {
		case s.wantsWords():
		case !sure:
			s.opening = append(s.opening[:0], data...)
			return nil
		case words:
			s.opening = nil
			if s.form = foreign; bytes.IndexByte([]byte("{["), bytes.TrimSpace(data)[0]) >= 0 {
				s.form = whole
			}
			return data
		}
		s.opening = nil
		s.decoder, s.tl.Streamed = s.api.Decoder(), s.api.Product() == timeline.Speech
	}
	if len(data) > 0 {
		s.decoder.(rawDecoder).Raw(data, s)
	}
	return nil
}

// wantsWords reports whether a body without framing is one of words, or is said to be none:
// by a type of sounds, or by vLLM's header that tells of the vectors in it. nginx sends its
// pages as bytes of any kind, unless it is told another.
func (s *Stream) wantsWords() bool {
	return s.api.Product() == timeline.Transcript || s.header.Get("metadata") != "" || strings.HasPrefix(mediaType(s.header.Get("Content-Type")), "audio/")
}

// wordy reports whether a body begins with sixteen bytes of words, or has no others, as no
// numbers and no sound do; sure is false while there are too few of them.
func wordy(body []byte, ended bool) (is, sure bool) {
	first := bytes.TrimLeft(body[:min(len(body), maxOpening)], " \t\r\n")
	first = first[:min(len(first), 16)]
	is = len(first) > 0 && !bytes.ContainsFunc(first, func(r rune) bool {
		return r > '~' || r < ' ' && r != '\n' && r != '\r' && r != '\t'
	})
	return is, ended || len(first) > 0 && !is || len(first) == 16 || len(body) >= maxOpening
}
