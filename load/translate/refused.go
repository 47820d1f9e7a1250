package translate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"tokenmeter/wire/api"
)

// ofFlags takes fields of the body that a flag of ours writes out of it: bench refuses
// them there. A tool lets them replace what its own flags say, so they do here.
func (c *call) ofFlags() {
	var kept []string
	for _, m := range members("{" + strings.Join(c.body, ", ") + "}") {
		switch m.name {
		case "max_tokens", "max_completion_tokens", "max_output_tokens", "n_predict":
			c.set("output-tokens", m.value)
		case "ignore_eos":
			if c.off("ignore-eos"); m.value == "true" {
				c.on("ignore-eos")
			}
		case "stream":
			if c.off("no-stream"); m.value == "false" {
				c.on("no-stream")
			}
		case "model":
			c.set("model", strings.Trim(m.value, `"`))
		case "messages", "prompt", "input", "inputs":
			c.note("%s in the body of each request: no equal here; --prompts or --workload says what is sent", m.name)
		default:
			kept = append(kept, m.text)
		}
	}
	if c.body = kept; len(kept) > 0 {
		fields := "{" + strings.Join(kept, ", ") + "}"
		if c.arg("api") == "tgi" && !strings.Contains(fields, `"parameters"`) {
			fields = `{"parameters": ` + fields + `}` // where TGI reads them
		}
		c.set("parameters", fields)
	}
}

// ofAPI takes back what the API has no place for.
func (c *call) ofAPI() {
	a, err := api.ByName(c.arg("api"))
	if err != nil {
		return // none was named: the server's own is found, of OpenAI's form mostly
	}
	if a.Product().Lengthless() {
		c.unset("output-tokens")
		c.off("ignore-eos")
		c.off("no-stream")
		if c.has("streaming") {
			c.note("--streaming: %s answers at once", a.Name)
		}
	}
	if a.Name == "transcription" && c.arg("audio")+c.arg("workload") == "" {
		c.unset("input-tokens")
		c.note("name the recordings with --audio, or seconds to make")
	}
	if i := slices.Index(c.args, "--ignore-eos"); i >= 0 && !a.IgnoresEOS() {
		c.off("ignore-eos")
		c.note("answers may end before their length: %s has no field against it", a.Name)
	}
	if n := c.arg("batch"); n != "" && n != "1" && !a.Product().Lengthless() {
		c.unset("batch")
		c.note("%s texts in a request: %s takes one here", n, a.Name)
	}
	if c.arg("batch") != "" && c.arg("workload")+c.arg("prompts") != "" {
		c.unset("batch")
		c.note("a batch of a file's texts: a workload file has `batch` (docs/workloads.md)")
	}
}

// defaults are what ours does without being told: the flag is not written out, which bench
// refuses where it has no meaning.
var defaults = [][2]string{{"repeat", "1"}, {"batch", "1"}, {"speedup", "1"}, {"wait-ready", "0s"}, {"grace", "30s"}}

// ofDefaults takes back what means nothing: what ours does unsaid, and what belongs to a
// flag that isn't there.
func (c *call) ofDefaults() {
	for _, d := range defaults {
		if plain(c.arg(d[0])) == d[1] {
			c.unset(d[0])
		}
	}
	if x := c.arg("speedup"); x != "" && c.arg("workload")+c.arg("prompts") == "" && !c.sweeps {
		c.unset("speedup")
		c.note("%s times as fast: no file's times are played", x)
	}
	if dir := c.arg("profile-files"); dir != "" && !slices.Contains(c.args, "--server-profile") {
		c.unset("profile-files")
		c.note("%s for the server's profile: none is taken", dir)
	}
	if limit := c.arg("control-limit"); limit != "" && !slices.Contains(c.args, "--reset-cache") && !slices.Contains(c.args, "--server-profile") {
		c.unset("control-limit")
		c.note("a limit of %s on what is done to the server beside a run: nothing is done to it", limit)
	}
}

func (c *call) off(flag string) {
	c.args = slices.DeleteFunc(c.args, func(arg string) bool { return arg == "--"+flag })
}

// member is one of an object: its name, its value as JSON, and both as they stood.
type member struct{ name, value, text string }

// members are those of an object in their order; of what is no object, that as it is, for
// bench to say what is wrong.
func members(object string) (out []member) {
	d := json.NewDecoder(strings.NewReader(object))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		from := d.InputOffset()
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return []member{{text: strings.TrimSuffix(strings.TrimPrefix(object, "{"), "}")}}
		}
		text, _ := name.(string)
		out = append(out, member{text, string(bytes.TrimSpace(value)), strings.Trim(object[from:d.InputOffset()], ", \n\t")})
	}
	return out
}
