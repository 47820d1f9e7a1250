package bench

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// probeOf tells where an engine says its version.
type probeOf struct {
	engine  string
	path    string   // a GET that answers JSON
	version []string // the key that holds it, from the outside in
}

// engines lists how engines make themselves known: by the owner in the model
// list, or by the Server header.
var engines = map[string]probeOf{
	"vllm":      {"vLLM", "/version", []string{"version"}},
	"sglang":    {"SGLang", "/get_server_info", []string{"version"}},
	"llamacpp":  {"llama.cpp", "/props", []string{"build_info"}},
	"library":   {"Ollama", "/api/version", []string{"version"}},
	"ollama":    {"Ollama", "/api/version", []string{"version"}},
	"llama.cpp": {"llama.cpp", "/props", []string{"build_info"}},
}

// engine names the server and its version when that costs at most one more GET;
// else it gives the Server header, or nothing.
func engine(ctx context.Context, get getter, models reply, ids []string) string {
	header := models.header.Get("Server")
	p, known := engines[owner(models)]
	if !known {
		p, known = engines[strings.ToLower(header)]
	}
	if !known {
		return header
	}
	one, stop := context.WithTimeout(ctx, getTimeout)
	defer stop()
	a, err := get(one, p.path)
	if err != nil || a.status != http.StatusOK {
		return p.engine
	}
	if v := dig(a.body, p.version); v != "" {
		return p.engine + " " + v
	}
	return p.engine
}

// owner is whom the first listed model belongs to.
func owner(a reply) string {
	var list struct {
		Data []struct {
			OwnedBy string `json:"owned_by"`
		}
	}
	if json.Unmarshal(a.body, &list) != nil || len(list.Data) == 0 {
		return ""
	}
	return strings.ToLower(list.Data[0].OwnedBy)
}

// dig follows keys into a JSON object and returns the text there.
func dig(data []byte, keys []string) string {
	for _, k := range keys {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) != nil {
			return ""
		}
		data = object[k]
	}
	var text string
	if json.Unmarshal(data, &text) != nil {
		return ""
	}
	return shorten(text, 80)
}
