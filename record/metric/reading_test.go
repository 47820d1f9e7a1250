package metric

import (
	"testing"

	"tokenmeter/record/timeline"
)

// Counted by hand.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int64 // 0: absent
	}{
		{"", 0},
		{" \n\t", 0},
		{"The quick brown fox jumps over the lazy dog.", 9},
		{"It's a state-of-the-art 8-bit float: 3.14159, isn't it?", 8},
		{"# Title\n\n- one\n- two\n\n| a | b |\n|---|---|\n", 5},
		{"für  Straßen\u00a0und\u2003Brücken", 4},
		{"— … !", 0},
		{"42", 1},
		{"Скорость чтения — двести слов в минуту", 6},
		{"서울의 봄은 따뜻하다", 3},
		{"नमस्ते दुनिया", 2},
		{"مرحبا بالعالم كله", 3},
		{"今日は天気がいいですね。", 0},
		{"你好,世界", 0},
		{"สวัสดีชาวโลก", 0},
		{"ကမ္ဘာလောက", 0},
		{"The Japanese word for a cherry tree in bloom is 桜, as every visitor to Kyoto learns.", 17},
		{"Tokyo is 東京都新宿区西新宿", 0},
	} {
		if got := words(c.text); got.Or(0) != c.n || got.OK() != (c.n > 0) {
			t.Errorf("%q: %v words, by hand %d", c.text, got, c.n)
		}
	}
}

// answer is what a request was answered with, an event each 100 ms from 1 s on.
type saidEvent struct {
	kind   timeline.Kind
	choice int
}

func said(text string, events ...saidEvent) *timeline.Timeline {
	tl := &timeline.Timeline{Request: 1, API: "openai-chat", Phase: timeline.Measure, Outcome: timeline.OK, Evidence: timeline.Arrivals, Streamed: true, Asked: true, Text: text}
	for i, e := range events {
		tl.Events.Append(timeline.Event{AtUS: 1_000_000 + int64(i)*100_000, Kind: e.kind, Choice: e.choice, Bytes: 4, Read: int64(i)})
	}
	tl.CloseUS = timeline.Some(int64(9_000_000))
	return tl
}

func TestWordsPerS(t *testing.T) {
	text, think, call := saidEvent{kind: timeline.Text}, saidEvent{kind: timeline.Reasoning}, saidEvent{kind: timeline.Tool}
	other := saidEvent{timeline.Text, 1}
	whole := said("one two three", text, text)
	whole.Streamed = false
	for name, c := range map[string]struct {
		tl   *timeline.Timeline
		n    int64
		rate float64 // 0: absent
	}{
		"two after the first in 0.4 s":     {said("one two three", text, text, text, text, text), 3, 5},
		"reasoning and calls are not read": {said("one two three", think, think, think, text, text, text, call, call, call), 3, 10},
		"one word has no pace":             {said("one", text, text), 1, 0},
		"one event has no pace":            {said("one two three", text), 3, 0},
		"one event of text":                {said("one two three", think, text, call), 3, 0},
		"several choices":                  {said("one two three", text, other, text, other), 3, 0},
		"no stream":                        {whole, 3, 0},
		"not kept":                         {said("", text, text, text), 0, 0},
		"no spaces":                        {said("你好世界,你好", text, text, text), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := Of(c.tl)
			if r.OutputWords.Or(0) != c.n || r.OutputWords.OK() != (c.n > 0) {
				t.Errorf("%v words", r.OutputWords)
			}
			if r.WordsPerS.Or(0) != c.rate || r.WordsPerS.OK() != (c.rate > 0) {
				t.Errorf("%v words/s", r.WordsPerS)
			}
			a := NewCollector(CollectorOpts{})
			a.Add(c.tl)
			s := a.Summary()
			if got := s.Metrics["words_per_s"]; got.Mean.Or(0) != c.rate || (got.N == 1) != (c.rate > 0) {
				t.Errorf("the run has %d of %v words/s", got.N, got.Mean)
			}
		})
	}
}

// The events that were not kept are not known to be of the text.
func TestWordsPerSOfACappedAnswer(t *testing.T) {
	text := saidEvent{kind: timeline.Text}
	r := Of(capped(said("one two three", text, text, text, text), 2))
	if r.OutputWords.Or(0) != 3 || r.WordsPerS.OK() || !r.TPOTMS.OK() {
		t.Errorf("%v words, %v words/s, TPOT %v", r.OutputWords, r.WordsPerS, r.TPOTMS)
	}
}
