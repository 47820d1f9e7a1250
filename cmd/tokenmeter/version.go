package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCmd struct {
	sharedFlags `embed:""`
}

// Run prints one line.
func (versionCmd) Run(a *app) error {
	_, err := fmt.Fprintf(a.stdout, "tokenmeter %s (%s, %s/%s)\n", fullVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// fullVersion is the release, or for other builds the commit.
func fullVersion() string {
	if version != "dev" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	commit, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(len(s.Value), 12)]
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit == "" {
		return version
	}
	return version + "-" + commit + dirty
}
