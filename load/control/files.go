package control

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tokenmeter/record/run"
)

// ProfileDir is the folder in that of a run whose files are part of the profile: what a
// command after the point fetches from the server goes there.
const ProfileDir = "profile"

// profiles are what names of profiles end in: PyTorch's traces (vLLM, SGLang), and what
// Nsight Systems and Nsight Compute write.
var profiles = []string{".trace.json", ".trace.json.gz", ".nsys-rep", ".qdrep", ".ncu-rep"}

const (
	mostFiles = 100    // that are named
	mostSeen  = 20_000 // that are looked at: a folder of traces has few, a wrong one may be a disk
	// roughly is how much older than the moment a file may look that was written after
	// it: some file systems count in two seconds.
	roughly = 2 * time.Second
)

// find lists the profiles that were written since, in the run's folder and where the
// user says that they are, if that is on this machine. A file that the user names counts
// whatever it is called.
func (c *Control) find(since time.Time) (found []run.ProfileFile) {
	places := []string{filepath.Join(c.point.Dir, ProfileDir)}
	if place := c.plan.ProfileFiles; place != "" {
		if real, err := filepath.EvalSymlinks(place); err == nil {
			place = real
		}
		places = append(places, place)
	}
	since, seen := since.Add(-roughly), 0
	for _, place := range places {
		_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if seen++; seen > mostSeen || len(found) == mostFiles {
				return fs.SkipAll
			}
			if err != nil || !d.Type().IsRegular() || path != place && !slices.ContainsFunc(profiles, func(end string) bool { return strings.HasSuffix(path, end) }) {
				return nil
			}
			info, err := os.Stat(path)
			if err != nil || info.ModTime().Before(since) {
				return nil
			}
			f := run.ProfileFile{Path: path, Bytes: info.Size()}
			if within, err := filepath.Rel(c.point.Dir, path); err == nil && filepath.IsLocal(within) {
				f.Path = filepath.ToSlash(within)
			} else if whole, err := filepath.Abs(path); err == nil {
				f.Path = whole
			}
			if !slices.Contains(found, f) {
				found = append(found, f)
			}
			return nil
		})
	}
	return found
}
