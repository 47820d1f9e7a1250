package metric

import (
	"strings"
	"unicode"

	"tokenmeter/record/timeline"
)

// unspaced are the scripts that put no space between words: what stands between two
// spaces there is a sentence. (Korean has spaces.)
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan}

// words counts the words of a text: what white space parts and holds a letter or a
// digit, so that the signs of a list or a table are none. It is empty without a word,
// and where more than a tenth of the letters are of scripts without spaces.
func words(text string) timeline.Opt[int64] {
	var n, letters, without int64
	for word := range strings.FieldsSeq(text) {
		is := false
		for _, r := range word {
			if r < unicode.MaxASCII && 'a' <= r|0x20 && r|0x20 <= 'z' || unicode.IsLetter(r) {
				is = true
				letters++
				if r >= 0x0e00 && unicode.IsOneOf(unspaced, r) { // Thai is the first of them
					without++
				}
			} else if unicode.IsDigit(r) {
				is = true
			}
		}
		if is {
			n++
		}
	}
	return timeline.Maybe(n, n > 0 && 10*without <= letters)
}

// read fills in how many words the kept answer has, and how fast they came: those after
// the first over the time from the first to the last event of the answer's text, so that
// neither reasoning before it nor calls after it count. That pace needs what TPOT needs,
// and an answer of one choice whose arrivals were all kept.
func (r *Record) read(tl *timeline.Timeline, v *Values, s *seen) {
	r.OutputWords = words(tl.Text)
	n := r.OutputWords.Or(0)
	if n < 2 || !v.TPOTMS.OK() || s.severalChoices || restOf(tl) != nil {
		return
	}
	first, last := int64(-1), int64(-1)
	for ev := range tl.Events.Generation() {
		if ev.Kind == timeline.Text || ev.Kind == timeline.Refusal {
			if first < 0 {
				first = ev.AtUS
			}
			last = ev.AtUS
		}
	}
	r.WordsPerS = timeline.Maybe(float64(n-1)*1e6/float64(last-first), last > first)
}
