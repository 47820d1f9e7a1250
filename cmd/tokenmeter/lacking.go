package main

import (
	"fmt"
	"slices"
	"strings"
)

// leanLacks are the commands and flags that the build tag lean leaves out.
var leanLacks = []string{"serve", "proxy", "probe", "trend", "slo", "translate", "rerun", "history", "merge", "--server-metrics", "--telemetry", "--telemetry-key-env", "--hardware",
	"--before-point", "--after-point", "--reset-cache", "--server-profile", "--profile-at", "--profile-for", "--profile-files", "--control-limit"}

// lacking is the error of a command line that asks a lean build for what only a whole one
// has; nil in every other case.
func lacking(args []string) error {
	if !lean {
		return nil
	}
	for i, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		if slices.Contains(leanLacks, name) && (i == 0) != strings.HasPrefix(name, "--") {
			return fmt.Errorf("this build has no %s (tag lean); build without the tag: go build ./cmd/tokenmeter", name)
		}
	}
	return nil
}
