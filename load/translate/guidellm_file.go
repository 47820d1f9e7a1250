package translate

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// guideScenarioFile reads the scenario that the command line names, where it is a file: its keys
// are the tool's flags, under args or, since 0.7, under spec, with benchmarks that each set some of
// them anew. What stands on the command line goes before it. The error says what can't be read.
// Source: benchmark/schemas/generative/entrypoints.py of 0.5, schemas/benchmark/entrypoints.py of 0.8.
func guideScenarioFile(_ *tool, c *call, args []string) ([]string, error) {
	path, rest, err := namedFile(args, "-c", "--scenario", "--config")
	if path == "" || err != nil {
		return args, err
	}
	if _, err := os.Stat(path); err != nil {
		return args, nil // one of the tool's own
	}
	doc, err := readConfiguration(path, "a scenario of GuideLLM is one object")
	if err != nil {
		return nil, err
	}
	var file []string
	said := doc
	for _, under := range []string{"args", "spec"} {
		if inner, ok := doc[under].(map[string]any); ok {
			said = inner
		}
	}
	objects := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		flag := flagName(key)
		if one := strings.TrimSuffix(flag, "s"); one != flag {
			if _, known := c.known[one]; known { // constraints are flags of one each
				flag = one
			}
		}
		list, isList := said[key].([]any)
		if !isList || flag == "rate" {
			list = []any{said[key]}
		}
		for _, v := range list {
			if v == nil {
				continue
			}
			if object, ok := v.(map[string]any); ok {
				v = strings.Join(guidePairs("", object), ",")
				objects[flag] = true
			} else if numbers, ok := v.([]any); ok {
				v = guideList(numbers)
			}
			file = append(file, "--"+flag+"="+valueText(v))
		}
	}
	if each, ok := doc["benchmarks"].([]any); ok && doc["spec"] != nil {
		file = append(file, c.guideEach(each)...)
	}
	return behindFile(file, rest, func(arg string) bool { return objects[flagName(arg)] }), nil
}

// guidePairs are an object's keys with dots between them, as the tool's flags take them.
func guidePairs(before string, object map[string]any) (pairs []string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch v := object[key].(type) {
		case nil:
		case map[string]any:
			pairs = append(pairs, guidePairs(before+key+".", v)...)
		case []any:
			for i, x := range v {
				pairs = append(pairs, fmt.Sprintf("%s%s[%d]=%s", before, key, i, valueText(x)))
			}
		default:
			pairs = append(pairs, before+key+"="+valueText(v))
		}
	}
	return pairs
}

func guideList(list []any) string {
	var texts []string
	for _, x := range list {
		texts = append(texts, valueText(x))
	}
	return strings.Join(texts, ",")
}

// guideEach is what the benchmarks of a scenario set, where all set one thing; a run for each.
func (c *call) guideEach(benchmarks []any) []string {
	var key string
	var values []any
	for _, b := range benchmarks {
		set, _ := b.(map[string]any)
		for name, v := range set {
			if len(set) > 1 || key != "" && name != key {
				c.note("benchmarks of the scenario: each sets something else; write a command for each")
				return nil
			}
			key, values = name, append(values, v)
		}
	}
	if key == "" {
		return nil
	}
	return []string{"--override", key + " " + guideList(values)}
}
