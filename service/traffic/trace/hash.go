package trace

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"strings"

	"tokenmeter/wire/tokens"
)

// Hasher hashes prompts. Not safe for concurrent use.
type Hasher struct {
	tokens tokens.Encoder
	mac    hash.Hash
}

// NewHasher hashes by a key, and counts by a tokenizer. That of the model is not
// needed: what two prompts share ends at the same place in both.
func NewHasher(key []byte, enc tokens.Encoder) *Hasher {
	// Not by the very key by which ids of sessions are hidden.
	own := hmac.New(sha256.New, key)
	own.Write([]byte("trace of prompts"))
	return &Hasher{tokens: enc, mac: hmac.New(sha256.New, own.Sum(nil))}
}

// parts are the members of a body that prompts stand in, in the order in which
// servers put them together.
var parts = []string{"model", "instructions", "system", "systemInstruction", "system_instruction", "tools", "prompt", "inputs", "input", "messages", "contents"}

// Prompt returns the hashes of the whole blocks of a request's prompt, and how many
// tokens it has by our count; nothing for a body that is not understood. A block's
// hash is of it and of all before it, and of the model: caches of others know nothing
// of it.
func (h *Hasher) Prompt(body []byte) (hashes []uint64, count int64) {
	if bytes.Count(body, []byte(","))+bytes.Count(body, []byte("[")) > mostValues {
		return nil, 0
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil, 0
	}
	var ids []uint32
	for _, name := range parts[1:] {
		var v any
		if json.Unmarshal(members[name], &v) == nil { // there is one
			ids = h.said(ids, v)
		}
	}
	// 53 bits of a hash are a whole number in every program that reads JSON.
	chain := h.sum(members[parts[0]])
	for from := 0; from+Block <= len(ids); from += Block {
		block := chain
		for _, id := range ids[from : from+Block] {
			block = binary.LittleEndian.AppendUint32(block, id)
		}
		chain = h.sum(block)
		hashes = append(hashes, binary.LittleEndian.Uint64(chain)>>11)
	}
	return hashes, int64(len(ids))
}

func (h *Hasher) sum(data []byte) []byte {
	h.mac.Reset()
	h.mac.Write(data)
	return h.mac.Sum(nil)
}

// mostValues is how many values a body may have, or commas in its texts: read, each takes
// some hundred bytes, and 32 MiB have room for eleven million.
const mostValues = 1 << 20

// mostData is from which length on a text without a space is data, like a picture.
const mostData = 4096

// unsaid are members of messages and their parts that are no text of a prompt; marks of
// where a cache may end even move from turn to turn.
var unsaid = []string{"role", "type", "id", "cache_control"}

// said appends the tokens of the texts in a value, whatever its form, each by itself, so
// that a further one changes none. Data in texts counts by a hash of it: its tokens are
// not those of letters.
func (h *Hasher) said(ids []uint32, v any) []uint32 {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !slices.Contains(unsaid, key) {
				ids = h.said(ids, v[key])
			}
		}
	case []any:
		for _, one := range v {
			ids = h.said(ids, one)
		}
	case string:
		if len(v) > mostData && !strings.ContainsAny(v[:mostData], " \n") {
			sum := sha256.Sum256([]byte(v))
			v = hex.EncodeToString(sum[:])
		}
		if more, err := h.tokens.Append(ids, v); err == nil {
			return more
		}
	}
	return ids
}
