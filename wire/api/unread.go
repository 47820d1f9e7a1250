package api

import (
	"bytes"
	"slices"
	"sort"
	"strings"

	"tokenmeter/record/timeline"
	"tokenmeter/wire/jsonscan"
)

// This file keeps the names of what a reply held and nobody read: text where generated
// text may stand, counts of tokens, reasons why an answer ended. Vendors' names are
// endless; what is not known by its name is in no figure, and the record says so.

// unread is what of a reply nobody read.
type unread struct {
	event   []leftover // of the event in hand
	strange bool       // which is of a type that the API does not have
	names   []unreadName
}

// leftover is a member of an event that no reader knows, as "foo" of a delta.
type leftover struct {
	of          string // timeline.TextName or one of its like
	place, name []byte
	says        jsonscan.Text
}

// unreadName is a name of a reply's, with what tells whether it is generated text:
// that has a blank, an escape or a letter beyond ASCII, as no name of something has, or
// changes from event to event.
type unreadName struct {
	of          string
	place, name string
	last        []byte // the head of the text
	bytes       int64  // of those that were another than before
	changes     int    // how often another text came than before
	wordy       bool
	watched     bool // it stood where generated text may stand
	strange     bool // or in an event of an unknown type
}

// mostUnread is how many names are kept, of an event and of a reply.
const mostUnread = 8

// longestName is how many bytes of a name are kept: more than a record shows.
const longestName = 64

// Where generated text may stand, by more than one API.
var (
	inChoices  = []byte("choices")
	inDelta    = []byte("delta")
	inContent  = []byte("content")
	inMessage  = []byte("message")
	inParts    = []byte("parts")
	inItem     = []byte("item")
	inCalls    = []byte("tool_calls")
	inFunction = []byte("function")
	inUsage    = []byte("usage")
)

// left takes a member that is not known, of an object in which generated text may
// stand. Its texts are noted, unless the name says that they only describe.
func (s *scan) left(place, name []byte) {
	switch s.Peek() {
	case '"', '{', '[':
	default:
		return
	}
	if s.unread == nil || len(s.unread.event) == mostUnread || describes(name) {
		return
	}
	s.find(place, s.own(name))
}

// own is a member's name that outlasts the next one, whose memory may be the same.
func (s *scan) own(name []byte) []byte {
	if len(s.Key) > 0 && len(name) > 0 && &name[0] == &s.Key[0] {
		return bytes.Clone(name)
	}
	return name
}

// find notes the texts of a value.
func (s *scan) find(place, name []byte) {
	switch s.Peek() {
	case '"':
		if t, _ := s.Text(); !t.Empty() && len(name) > 0 {
			s.unread.leave(leftover{timeline.TextName, place, name, t})
		}
	case '[':
		for range s.Elements {
			s.find(place, name)
		}
	case '{':
		for inner := range s.Members {
			s.left(name, inner)
		}
	default:
		s.Skip()
	}
}

// leftCount takes a member of a usage that is not known, and may count tokens.
func (s *scan) leftCount(place, name []byte) {
	if s.unread == nil || !bytes.Contains(name, []byte("oken")) || oneOf(name, uncounted, false, false) {
		return
	}
	if n, ok := s.number(); ok && n > 0 {
		s.unread.leave(leftover{of: timeline.CountName, place: place, name: s.own(name)})
	}
}

// uncounted are words in names of numbers that are not missing where counts do not add
// up: speeds, limits, and parts of a count that always lie within it.
const uncounted = "per time limit max billed text_tokens accepted miss"

// knowsNot reports whether an event has a type that none of the API's has.
func (a *API) knowsNot(kind jsonscan.Text) bool {
	return !kind.Empty() && a.Events != "" && !oneOf(kind.Raw, a.Events, true, false)
}

// leave is not inlined: the copies made the lean binary larger.
//
//go:noinline
func (u *unread) leave(l leftover) {
	if len(u.event) < mostUnread {
		u.event = append(u.event, l)
	}
}

// leftOver takes what nobody read of an event. One without a token is looked through as
// a whole where no token came before, and where its type is none of the API's.
func (s *Stream) leftOver(data []byte, bore bool) {
	u := &s.unread
	watched := len(u.event)
	if !bore && (s.tokens == 0 || u.strange) && !s.api.Product().Wordless() {
		var c scan
		c.unread = u
		c.Reset(data)
		c.find(nil, nil)
	}
	for i := range u.event {
		u.note(&u.event[i], i < watched)
	}
	u.event, u.strange = u.event[:0], false
}

func (u *unread) note(l *leftover, watched bool) {
	l.place, l.name = l.place[:min(len(l.place), longestName)], l.name[:min(len(l.name), longestName)]
	at := 0
	for at < len(u.names) && !u.names[at].is(l) {
		at++
	}
	if at == mostUnread {
		return
	}
	if at == len(u.names) {
		u.names = append(u.names, unreadName{of: l.of, place: string(l.place), name: string(l.name), changes: -1})
	}
	n := &u.names[at]
	n.watched, n.strange = n.watched || watched, n.strange || u.strange
	says := l.says.Raw
	n.wordy = n.wordy || bytes.IndexByte(says, ' ') >= 0 || jsonscan.PlainRun(says) < len(says)
	if head := says[:min(len(says), 32)]; n.changes < 0 || !bytes.Equal(head, n.last) {
		n.last = append(n.last[:0], head...)
		n.changes++
		n.bytes += l.says.Size()
	}
}

func (n *unreadName) is(l *leftover) bool {
	return n.name == string(l.name) && n.place == string(l.place) && n.of == l.of
}

// tells reports whether it is the reason why the answer ended, which was read under its own name.
func (n *unreadName) tells(finish string) bool {
	return n.of == timeline.TextName && n.changes == 0 && finish != "" && string(n.last) == finish[:min(len(finish), 32)]
}

// tier is how likely a text is a part of the answer, in a reply without a known one: it
// stood where text may stand, or it is like text, or it is there.
func (n *unreadName) tier() int {
	switch {
	case n.watched:
		return 2
	case n.wordy || n.changes > 0:
		return 1
	}
	return 0
}

// repeats reports whether so many bytes are those of the answer, or of its reasoning: some
// gateways send a vendor's own members beside what they made of them. A few bytes may be
// as many by chance.
func (s *Stream) repeats(n int64) bool {
	var answer, thought int64
	for ev := range s.tl.Events.Generation() {
		if ev.Kind == timeline.Reasoning {
			thought += ev.Bytes
		} else {
			answer += ev.Bytes
		}
	}
	return n >= 16 && (n == answer || n == thought || n == answer+thought)
}

// leastChanges is how often a text has to change to be taken for a stream of text.
const leastChanges = 2

// tellUnread writes the names of what was not read, as far as it matters. Of a reply that
// did not come to its end, what is missing may have been still to come.
func (s *Stream) tellUnread(ended bool) {
	if s.failed || s.paused() {
		return
	}
	s.unread.names = slices.DeleteFunc(s.unread.names, func(n unreadName) bool { return n.tells(s.tl.FinishReason) })
	var names timeline.Unread
	usage := &s.tl.Usage
	adds := s.api.Product().Wordless() || usage.Input.OK() && usage.Output.OK() && (!usage.Total.OK() || usage.Input.Or(0)+usage.Output.Or(0) == usage.Total.Or(0))
	best := 0
	for i := range s.unread.names {
		if n := &s.unread.names[i]; n.of == timeline.TextName {
			best = max(best, n.tier())
		}
	}
	// Text first: there is room for a few names, and it matters most.
	sort.SliceStable(s.unread.names, func(i, j int) bool {
		return s.unread.names[i].of == timeline.TextName && s.unread.names[j].of != timeline.TextName
	})
	for _, n := range s.unread.names {
		streams := n.changes >= leastChanges
		switch n.of {
		case timeline.CountName:
			if adds || !ended {
				continue
			}
		case timeline.TextName:
			likely := !s.repeats(n.bytes) && (n.watched && (n.wordy || streams) || n.strange && (streams || ended && s.tl.FinishReason == ""))
			if s.tokens == 0 && ended {
				likely = n.tier() == best
			}
			if !likely {
				continue
			}
			s.tl.Flags |= timeline.UnreadText
		}
		place, name := n.place, n.name
		if s.opts.Hide != nil { // each by itself: the beginning of a secret is known at an end
			place, name = s.opts.Hide(place), s.opts.Hide(name)
		}
		names.Add(n.of, strings.TrimPrefix(place+"."+name, "."))
	}
	s.tl.Unread = names
}

// unknownFinish notes a reason why an answer ended that is none of those known.
func (s *Stream) unknownFinish(reason string) {
	switch reason {
	case "stop", "length", "tool_calls", "end_turn", "":
		return
	}
	if reason[0] >= '0' && reason[0] <= '9' || strings.Contains(knownFinishes, " "+strings.ToLower(reason)+" ") {
		return
	}
	s.unread.note(&leftover{of: timeline.FinishName, name: []byte(reason)}, true)
}

// knownFinishes are the reasons, in small letters, that these APIs, servers and providers
// name in their documents.
const knownFinishes = " stop length tool_calls function_call content_filter end_turn max_tokens stop_sequence tool_use pause_turn refusal" +
	" model_context_window_exceeded compaction" + // Anthropic
	" model_length error abort timeout cancelled time_limit request_too_large insufficient_system_resource sensitive eos eos_token limit word" +
	" stop_token token_limit max_output not_finished normal load unload repetition" + // servers and providers
	" guardrail_intervened content_filtered malformed_model_output malformed_tool_use" + // Bedrock
	" complete tool_call error_toxic error_limit user_cancel" + // Cohere
	" safety recitation language other blocklist prohibited_content spii malformed_function_call finish_reason_unspecified" +
	" image_safety image_prohibited_content image_other no_image image_recitation unexpected_tool_call too_many_tool_calls" +
	" missing_thought_signature malformed_response model_armor blocked_reason_unspecified jailbreak" + // Google
	" completed incomplete failed in_progress queued max_output_tokens max_prompt_tokens turn_detected client_cancelled requires_action budget_exceeded "

// describes reports whether a member says something about an answer and is none, by its
// name, its end, or a word in it.
func describes(name []byte) bool {
	if oneOf(name, describing, true, true) || oneOf(name, describingEnds, false, true) || oneOf(name, describingWords, false, false) {
		return true
	}
	for _, end := range describesReasoning {
		if bytes.HasSuffix(name, []byte(end)) {
			return true
		}
	}
	return false
}

const (
	describing = "type id object model role name index provider created updated agent timestamp date language lang" +
		" event kind detail title url uri path p tool tools description icon favicon error errors phase recipient author channel caller context" +
		" prompt input instructions parsed parsed_arguments stop stop_details document documents container routed_experts matched_stop executed_tools raw_output version host region" +
		" tier speed category severity label usage timings metrics"
	describingEnds = "_ids Id ID _at _by Type Format Time _reason Reason Version _version _name Name _url Url Uri _code Code _tier Tier"
	// Some without their first letter, which may be large.
	describingWords = "ignature itation nnotation ngerprint bfuscat rounding ogprob ncrypted etadata ilter earch ource eference afety oderation mime _params trace"
)

// oneOf reports whether one of several words is in a name, where asked for at its beginning,
// at its end, or all of it.
func oneOf(name []byte, words string, begins, ends bool) bool {
	for words != "" {
		var word string
		word, words, _ = strings.Cut(words, " ")
		is := false
		switch {
		case begins && ends:
			is = string(name) == word
		case begins:
			is = bytes.HasPrefix(name, []byte(word))
		case ends:
			is = bytes.HasSuffix(name, []byte(word))
		default:
			is = bytes.Contains(name, []byte(word))
		}
		if is {
			return true
		}
	}
	return false
}
