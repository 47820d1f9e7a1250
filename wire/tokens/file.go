package tokens

import (
	"errors"
	"fmt"

	"tokenmeter/base/limitio"
	"tokenmeter/wire/tokens/hf"
)

// fileEncoder is a tokenizer from a file.
type fileEncoder struct {
	*hf.Tokenizer
	name string
}

func (e *fileEncoder) Name() string { return e.name }

func (e *fileEncoder) Count(text string) (int, error) {
	n, err := e.Tokenizer.Count(text)
	if err != nil {
		err = fmt.Errorf("tokenizer %s: %w", e.name, err)
	}
	return n, err
}

func (e *fileEncoder) Append(ids []uint32, text string) ([]uint32, error) {
	ids, err := e.Tokenizer.Append(ids, text)
	if err != nil {
		err = fmt.Errorf("tokenizer %s: %w", e.name, err)
	}
	return ids, err
}

func (e *fileEncoder) AppendText(text []byte, ids []uint32) ([]byte, error) {
	text, err := e.Tokenizer.AppendText(text, ids)
	if err != nil {
		var unknown *hf.UnknownIDError
		if errors.As(err, &unknown) {
			return text, &UnknownIDError{e.name, unknown.ID}
		}
		return text, fmt.Errorf("tokenizer %s: %w", e.name, err)
	}
	return text, nil
}

// maxFile is the size of a tokenizer.json that is still believed to be one; the
// largest known have 35 MB.
const maxFile = 128 << 20

func openFile(name, path string, opt Options) (Encoder, error) {
	raw, err := limitio.File(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	t, err := hf.Parse(raw, hf.Options{Specials: opt.Specials})
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	n, err := t.Count("")
	if err != nil {
		return nil, fmt.Errorf("tokenizer %s: %w", name, err)
	}
	if n != 0 {
		return nil, fmt.Errorf("tokenizer %s: the empty text has %d tokens", name, n)
	}
	return &fileEncoder{t, name}, nil
}
