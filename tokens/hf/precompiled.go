package hf

import "encoding/json"

func parsePrecompiled(json.RawMessage) (normalizer, error) {
	return nil, &UnsupportedError{"normalizer", "Precompiled"}
}
