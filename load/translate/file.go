package translate

import (
	"fmt"
	"slices"
	"strings"

	"tokenmeter/base/config"
	"tokenmeter/base/limitio"
	"tokenmeter/base/secret"
)

// mostFile is how long a configuration may be.
const mostFile = 1 << 20

// namedFile is the file that one of some flags names, and the command line without it.
func namedFile(args []string, flags ...string) (path string, rest []string, err error) {
	for i := 0; i < len(args); i++ {
		name, value, inOne := strings.Cut(args[i], "=")
		if !slices.Contains(flags, name) {
			rest = append(rest, args[i])
			continue
		}
		if !inOne && i+1 < len(args) {
			i++
			value = args[i]
		}
		if path = value; path == "" {
			return "", nil, fmt.Errorf("%s: name a file", name)
		}
	}
	return path, rest, nil
}

// readConfiguration reads a file of JSON or YAML that is one object, as wanted says.
func readConfiguration(path, wanted string) (map[string]any, error) {
	data, err := limitio.File(path, mostFile)
	if err != nil {
		return nil, err
	}
	docs, err := config.Documents(path, data)
	if err != nil {
		return nil, err
	}
	if len(docs) == 1 {
		if object, ok := docs[0].(map[string]any); ok {
			return object, nil
		}
	}
	return nil, fmt.Errorf("%s: %s", path, wanted)
}

// behindFile puts what a file says in front of what the command line does, which goes before
// it: objects are merged, all else is replaced.
func behindFile(file, line []string, isObject func(arg string) bool) []string {
	file = slices.DeleteFunc(file, func(arg string) bool {
		return !isObject(arg) && slices.ContainsFunc(line, func(given string) bool { return flagName(given) == flagName(arg) })
	})
	return append(secret.RedactArgs(file), line...)
}
