package translate

import (
	"slices"
	"strings"
)

// isSetting reports whether a word in front of a command sets a variable of its environment.
func isSetting(word string) bool {
	return !strings.HasPrefix(word, "-") && strings.Contains(word, "=")
}

// ofTools are how variables begin that one of the tools reads.
var ofTools = []string{"GUIDELLM_", "AIPERF_", "SGLANG_", "VLLM_", "OPENAI_", "INFERENCE_PERF_", "GENAI_BENCH_"}

// environment does what the variables in front of a command ask for, or names them, and
// returns the flags that some stand for. Values are not repeated: they may be keys.
// Source: guidellm's settings.py and BenchmarkScenario in schemas/benchmark/entrypoints.py,
// 0.8.1; llmperf's README.
func (c *call) environment(t *tool, args []string) (flags []string) {
	ofFlag := map[string]string{}
	var order []string
	for _, word := range args {
		name, value, _ := strings.Cut(word, "=")
		spec, isSpec := strings.CutPrefix(name, "GUIDELLM__SPEC__")
		flag, key, deeper := strings.Cut(strings.ToLower(spec), "__")
		switch {
		case word == "env":
			continue
		case !isSetting(word):
			for _, flag := range order {
				flags = append(flags, "--"+strings.ReplaceAll(flag, "_", "-"), ofFlag[flag])
			}
			return flags
		case t == llmPerf && name == "OPENAI_API_BASE":
			address(c, value)
		case strings.HasSuffix(name, "_API_KEY"):
			c.note("%s: name the variable with --api-key-env", name)
		case t == guideLLM && name == "GUIDELLM__MAX_CONCURRENCY":
			c.given["most of the environment"] = value
		case t == guideLLM && isSpec && (deeper || strings.Contains(value, "=")):
			if flag == "constraints" {
				flag = "constraint"
			}
			if deeper {
				value = strings.ReplaceAll(key, "__", ".") + "=" + value
			}
			if !slices.Contains(order, flag) {
				order = append(order, flag)
			} else {
				value = ofFlag[flag] + "," + value
			}
			ofFlag[flag] = value
		default:
			if slices.ContainsFunc(ofTools, func(begins string) bool { return strings.HasPrefix(name, begins) }) {
				c.note("%s in front of the command: not read here; what it sets is missing", name)
			}
		}
	}
	return flags
}
