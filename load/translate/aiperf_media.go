package translate

import (
	"cmp"
	"fmt"
	"strings"
)

// ranks reports whether queries are asked for the order of their documents.
func (c *call) ranks() bool { return strings.HasSuffix(c.arg("api"), "rerank") }

// aiperfRanked is a query with its passages, which have lengths of their own.
// Source: _build_rankings in config/flags/_converter_dataset.py, endpoints/*_rankings.py and
// plugin/plugins.yaml, 0.13.0.
func (c *call) aiperfRanked() {
	if c.arg("api") == "rerank" && c.tail == "" {
		c.tail = "/v2/rerank" // Cohere's, where ours is /v1/rerank
	}
	if c.has("input-file") {
		return
	}
	lengths(c, "batch", c.or("1", "rankings-passages-mean"), c.or("", "rankings-passages-stddev"))
	lengths(c, "input-tokens", c.or("550", "rankings-passages-prompt-token-mean"), c.or("", "rankings-passages-prompt-token-stddev"))
	query, deviation := c.or("550", "rankings-query-prompt-token-mean"), c.or("0", "rankings-query-prompt-token-stddev")
	if plain(deviation) != "0" {
		query = "normal:" + query + "," + deviation
	}
	c.note("--rankings-query-prompt-token-mean %s: a workload file has `query: %s`; of flags it has 16 tokens here", query, query)
}

// aiperfMedia are pictures, videos and sound, of which there are some once both their sides,
// or their length, are given.
// Source: config/flags/_converter_dataset.py and config/dataset/defaults, 0.13.0.
func (c *call) aiperfMedia() {
	if w, h := c.numbers("image-width-mean", "image-height-mean"); w*h > 0 {
		c.used("image-width-mean", "image-height-mean")
		n := c.or("1", "image-batch-size", "batch-size-image")
		size := fmt.Sprintf("%gx%g", w, h)
		if n != "1" {
			size = n + "x" + size
		}
		c.set("images", size)
		for _, name := range []string{"image-width-stddev", "image-height-stddev"} {
			if x := plain(c.or("0", name)); x != "0" {
				c.note("--%s %s: no equal here; all pictures have their mean's size", name, x)
			}
		}
		if format := c.or("png", "image-format"); format != "png" {
			c.note("--image-format %s: pictures that are made are PNG here; --images takes a folder of others", format)
		}
	}
	if w, h := c.numbers("video-width", "video-height"); w*h > 0 {
		c.used("video-width", "video-height")
		c.set("video", fmt.Sprintf("%sx%gx%g", plain(c.or("5", "video-duration")), w, h))
		if n := c.or("1", "video-batch-size", "batch-size-video"); n != "1" {
			c.note("--video-batch-size %s: one video goes with each prompt here", n)
		}
		c.note("--video-format %s, --video-fps %s, --video-codec %s, --video-synth-type %s: videos that are made are AVI of noise with a picture a second here; --video takes a folder of others",
			c.or("webm", "video-format"), c.or("4", "video-fps"), c.or("libvpx-vp9", "video-codec"), c.or("moving_shapes", "video-synth-type"))
	}
	c.aiperfSound()
}

// aiperfSound: of it only what is to be written down is sent here.
func (c *call) aiperfSound() {
	long := plain(c.or("0", "audio-length-mean"))
	switch {
	case long == "0":
	case c.arg("api") == "transcription":
		c.unset("input-tokens") // the sound is all that is sent
		lengths(c, "audio", long, c.or("", "audio-length-stddev"))
		c.note("--audio-format %s, --audio-sample-rates %s, --audio-num-channels %s: sound that is made is WAV here; --audio takes a folder of others",
			c.or("wav", "audio-format"), cmp.Or(c.or("16", "audio-sample-rates"), "16"), c.or("1", "audio-num-channels"))
	default:
		c.note("--audio-length-mean %s: no equal here; --audio goes with --api transcription alone", long)
	}
}
