// Package tokens counts tokens: how many a text has for a named tokenizer.
//
// A server's own count comes first, and a local one is an estimate: what was
// generated token by token may encode to fewer when it is joined (100 single
// spaces become two tokens), and a chat template adds tokens that no text shows.
// Local counts serve to make prompts of a length, to cross-check what a server
// says, and to compare servers by one yardstick.
//
// Special tokens are off unless asked for: nothing is added to a text (the empty
// text has no tokens), and "<|endoftext|>" inside a text is ordinary characters.
package tokens

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// Counter counts the tokens of a text. It may be used from many goroutines.
type Counter interface {
	// Count is the number of tokens. An error names a regular expression of the
	// tokenizer's file that takes too many steps on the text; tokenizers inside
	// the program have none.
	Count(text string) (int, error)
}

// Encoder is a tokenizer. It may be used from many goroutines.
type Encoder interface {
	Counter
	// Name is the name it was asked for by.
	Name() string
	// Size is one more than the highest id.
	Size() int
	// Append appends the ids of a text to ids. There are Count(text) of them. Its
	// error is Count's; ids are then as they were.
	Append(ids []uint32, text string) ([]uint32, error)
	// AppendText appends the text of some ids. An id that is none of the
	// tokenizer's is an error; an id that has no text of its own adds nothing.
	AppendText(text []byte, ids []uint32) ([]byte, error)
}

// Default is the tokenizer that is meant where none is named.
const Default = "o200k_base"

// Options change how a tokenizer reads a text. The zero value is what counts of
// prompts and answers need.
type Options struct {
	// Specials makes the names of special tokens inside a text count as one
	// token each, as a server does that is given a rendered template.
	Specials bool
}

// ByName finds a tokenizer: one of Names, or the path of a Hugging Face
// tokenizer.json or of the folder that holds one. The empty name is Default.
func ByName(name string) (Encoder, error) { return Open(name, Options{}) }

// Open is ByName with options.
func Open(name string, opt Options) (Encoder, error) {
	name = cmp.Or(name, Default)
	if b, ok := builtins[name]; ok {
		return b.open(name, opt), nil
	}
	path, err := tokenizerFile(name)
	if err != nil {
		return nil, err
	}
	return openFile(name, path, opt)
}

// Names lists the tokenizers that are inside the program.
func Names() []string { return slices.Sorted(maps.Keys(builtins)) }

// tokenizerFile is the path of the file that a name means.
func tokenizerFile(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		path := name + string(os.PathSeparator) + "tokenizer.json"
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("tokenizer %s: the folder has no tokenizer.json", name)
		}
		return path, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("tokenizer %q is neither a file nor one of %s; name a tokenizer.json, which the model's page offers",
			name, strings.Join(Names(), ", "))
	}
	if err != nil {
		return "", fmt.Errorf("tokenizer %s: %w", name, err)
	}
	return name, nil
}
