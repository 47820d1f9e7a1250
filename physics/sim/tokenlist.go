package sim

import "strconv"

// appendTokenList adds what tells a client exactly how many tokens a chunk has,
// if it asked: log probabilities, and the ids of the tokens.
func (r *reply) appendTokenList(b []byte, from, to int) []byte {
	if r.logprobs && r.chat {
		b = append(b, `,"logprobs":{"content":[`...)
		for i := from; i < to; i++ {
			b = commaBut(b, i-from)
			b = append(b, `{"token":`...)
			b = r.appendText(b, i, i+1)
			b = append(b, `,"logprob":-0.25,"bytes":null,"top_logprobs":[]}`...)
		}
		b = append(b, `]}`...)
	} else if r.logprobs {
		b = append(b, `,"logprobs":{"tokens":[`...)
		for i := from; i < to; i++ {
			b = r.appendText(commaBut(b, i-from), i, i+1)
		}
		b = append(b, `],"token_logprobs":[`...)
		for i := from; i < to; i++ {
			b = append(commaBut(b, i-from), "-0.25"...)
		}
		b = append(b, `],"top_logprobs":null,"text_offset":[]}`...)
	}
	if r.tokenIDs {
		b = append(b, `,"token_ids":[`...)
		for i := from; i < to; i++ {
			b = strconv.AppendUint(commaBut(b, i-from), uint64(identity(word(r.s.cfg.Vocabulary, r.start, i))%32000), 10)
		}
		b = append(b, ']')
	}
	return b
}
