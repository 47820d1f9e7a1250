package main

import (
	"bytes"
	"os"
	"runtime/debug"
	"strings"
	"testing"
)

// Every module that this binary was linked with stands among the notices with its
// version, and each licence that asks for it is there in full.
func TestNoticesNameEveryModule(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Skip("no build information")
	}
	var out bytes.Buffer
	if err := (licensesCmd{}).Run(&app{stdout: &out}); err != nil {
		t.Fatal(err)
	}
	notices := out.String()
	file := "notices.txt"
	if lean {
		file = "notices_lean.txt"
	}
	if plain, err := os.ReadFile(file); err != nil || string(plain) != notices {
		t.Errorf("%s and what is packed of it differ: go run ./tools/notices (%v)", file, err)
	}
	testOnly := map[string]bool{"github.com/google/go-cmp": true, "github.com/rogpeppe/go-internal": true, "pgregory.net/rapid": true,
		"golang.org/x/tools": true, "golang.org/x/mod": true, "github.com/tmaxmax/go-sse": true}
	n := 0
	for _, m := range info.Deps {
		if testOnly[m.Path] {
			continue
		}
		n++
		if !strings.Contains(notices, "\n  "+m.Path+" "+m.Version+"\n") {
			t.Errorf("%s %s: go run ./tools/notices", m.Path, m.Version)
		}
	}
	for _, text := range []string{"Apache License", "Copyright 2009 The Go Authors", "Permission is hereby granted, free of charge", "Copyright (c) 2022 OpenAI"} {
		if !strings.Contains(notices, text) {
			t.Errorf("%q is missing (%d modules)", text, n)
		}
	}
}
