package capture

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// headers are HTTP headers; a value may be a string or a list.
type headers http.Header

// MarshalJSON writes a single value as a string.
func (h headers) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(h))
	for name, values := range h {
		if len(values) == 1 {
			m[strings.ToLower(name)] = values[0]
		} else {
			m[strings.ToLower(name)] = values
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON accepts strings and lists.
func (h *headers) UnmarshalJSON(data []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	out := make(http.Header, len(m))
	for name, raw := range m {
		var one string
		if json.Unmarshal(raw, &one) == nil {
			out.Add(name, one)
			continue
		}
		var list []string
		if err := json.Unmarshal(raw, &list); err != nil {
			return fmt.Errorf("header %q is neither a string nor a list of strings", name)
		}
		for _, v := range list {
			out.Add(name, v)
		}
	}
	*h = headers(out)
	return nil
}
