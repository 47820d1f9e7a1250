package control

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tokenmeter/base/secret"
)

// envSecrets knows what is a secret by its variable's name, or in a URL: a command may
// print its environment, with keys of others than this server.
func envSecrets(env []string) *secret.Redactor {
	var secrets []string
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		if secretVariable(name) && !plain(name, value) {
			secrets = append(secrets, secret.Values(value)...)
		}
		secrets = append(secrets, secret.URLSecrets(value)...)
		if strings.HasSuffix(name, "_HEADERS") { // OTEL_EXPORTER_OTLP_HEADERS
			for pair := range strings.SplitSeq(value, ",") {
				_, value, _ := strings.Cut(pair, "=")
				secrets = append(secrets, value)
			}
		}
	}
	return secret.New(secrets...)
}

// secretVariable reports whether a variable holds a secret by its name. What speaks of
// tokenizers holds names of models, and TOKENIZER_API_KEY a secret all the same.
func secretVariable(name string) bool {
	if name == "PWD" || name == "OLDPWD" {
		return false
	}
	said := slices.DeleteFunc(words(name), func(word string) bool { return strings.Contains(word, "TOKENIZ") })
	return secret.SensitiveHeader(strings.Join(said, "_")) || strings.Contains(name, "WEBHOOK")
}

// plain reports whether a value is none to hide, though its variable's name sounds like
// it: where a file is that is there, or a number. A key may begin like a path, and be
// all digits where the name ends in what it is.
func plain(name, value string) bool {
	if filepath.IsAbs(value) {
		_, err := os.Lstat(value)
		return err == nil
	}
	_, err := strconv.ParseFloat(value, 64)
	said := words(name)
	return err == nil && !secret.SensitiveHeader(said[len(said)-1])
}

// words are those of a variable's name, in capitals.
func words(name string) []string { return strings.Split(strings.ToUpper(name), "_") }
