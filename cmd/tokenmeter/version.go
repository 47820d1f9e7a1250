package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

type versionCmd struct {
	sharedFlags `embed:""`
}

// Run prints one line.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "tokenmeter %s (%s, %s/%s)\n", fullVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// fullVersion is the release; of a build from a checkout what Go stamped into
// it: the tag, or a pseudo-version with the commit and "+dirty" where the
// checkout had changes; "dev" where nothing is known.
func fullVersion() string {
	if version != "dev" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return version
}
