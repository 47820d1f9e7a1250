package proxy

import (
	"strings"
	"testing"
)

// What stands behind Docker's backends is a model's name only where nothing else can be.
func TestWordsOfPaths(t *testing.T) {
	for before, names := range besideModels {
		if pathWords[before]&anyModel == 0 {
			t.Errorf("%s is a word behind which a model stands", before)
		}
		for word := range strings.FieldsSeq(names) {
			if namesAnyModel(before, word) {
				t.Errorf("%s/%s names a model", before, word)
			}
		}
	}
	for _, path := range [][2]string{{"deployments", "vllm"}, {"engines", "gpt-4"}, {"upstream", "models"}} {
		if !namesAnyModel(path[0], path[1]) {
			t.Errorf("%s/%s names no model", path[0], path[1])
		}
	}
	for _, word := range []string{"models", "files", "conversations", "image-synthesis"} {
		if !keepsThings("/v1/" + word) {
			t.Errorf("/v1/%s keeps nothing", word)
		}
	}
}
