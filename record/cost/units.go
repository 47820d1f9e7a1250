package cost

import "tokenmeter/record/timeline"

// Units are prices in USD of what vendors bill by other things than tokens. An empty
// one is none.
type Units struct {
	Image       timeline.Opt[float64] `json:"image,omitzero"`              // a picture that was made
	AudioMinute timeline.Opt[float64] `json:"audio_minute,omitzero"`       // a minute of sound that was made, or written down
	Characters  timeline.Opt[float64] `json:"million_characters,omitzero"` // a million characters that were spoken
}

// any reports whether there is one.
func (u Units) any() bool { return u.Image.OK() || u.AudioMinute.OK() || u.Characters.OK() }

// What a request may lack to be billed so.
const (
	lacksImages     = "the number of pictures"
	lacksSound      = "the length of the sound"
	lacksCharacters = "the number of characters"
)

// of is what a request cost by these prices, or what is missing to know it; applies is
// false where none of them is of what it was answered with. What a failed request is
// billed is not known.
func (u Units) of(tl *timeline.Timeline) (usd float64, applies bool, lacks string) {
	product := timeline.ProductOf(tl.API)
	for _, part := range []struct {
		of    bool
		price timeline.Opt[float64]
		n     timeline.Opt[int64]
		unit  float64
		lacks string
	}{
		{product == timeline.Pictures, u.Image, tl.Images, 1, lacksImages},
		{product == timeline.Speech || product == timeline.Transcript, u.AudioMinute, tl.AudioUS, 60e6, lacksSound},
		{product == timeline.Speech, u.Characters, tl.Chars, 1e6, lacksCharacters},
	} {
		price, priced := part.price.Get()
		if !part.of || !priced {
			continue
		}
		applies = true
		n, known := part.n.Get()
		if (!known || tl.Outcome != timeline.OK) && lacks == "" {
			lacks = part.lacks
		}
		usd += price * float64(n) / part.unit
	}
	return usd, applies, lacks
}
