package config

import (
	"strings"
	"testing"
)

// A file that is no configuration is refused at once, however it is made.
func TestHostileFiles(t *testing.T) {
	for name, c := range map[string]struct{ data, says string }{
		"deep lists":  {strings.Repeat("[", 100_000), "x.yaml:1:101: lists and fields are nested more than 100 deep"},
		"deep fields": {strings.Repeat("{a: ", 20_000), "nested more than 100 deep"},
		"deep rows":   {strings.Repeat("- ", 20_000) + "a", "nested more than 100 deep"},
		"long":        {"a: " + strings.Repeat("b", 1<<20), "more than 1 MiB"},
		"many names":  {strings.Repeat("a: 1\n", 50_000), "more than 20000 names and values"},
	} {
		t.Run(name, func(t *testing.T) {
			var into struct {
				Name string `yaml:"name"`
			}
			err := Decode("x.yaml", []byte(c.data), &into).Err()
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Count(err.Error(), "\n") > 0 {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestByteOrderMark(t *testing.T) {
	var into struct {
		Name string `yaml:"name"`
	}
	if err := Decode("x.yaml", []byte("\xef\xbb\xbfname: a\r\n"), &into).Err(); err != nil || into.Name != "a" {
		t.Fatalf("%v, %+v", err, into)
	}
}
