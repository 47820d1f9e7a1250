package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"tokenmeter/base/limitio"
	"tokenmeter/base/printable"
)

// writeManifest replaces run.json as a whole, so that a reader never sees half of it.
func writeManifest(dir string, m *Run) error {
	path := filepath.Join(dir, manifestFile)
	out := *m
	if err := out.seal(); err != nil {
		return &WriteError{Path: path, Err: err}
	}
	data, err := json.MarshalIndent(&out, "", "  ")
	if err != nil {
		return &WriteError{Path: path, Err: err}
	}
	return ReplaceFile(path, func(f *os.File) error {
		_, err := f.Write(append(printable.JSON(data), '\n'))
		return err
	})
}

// ReplaceFile writes a temporary file and renames it: path is either the old
// file or the whole new one, through a power failure too. Errors are *WriteError.
func ReplaceFile(path string, write func(*os.File) error) (err error) {
	name := path + temporary + strconv.Itoa(os.Getpid())
	f, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o644)
	if err != nil {
		return &WriteError{Path: path, Err: err}
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(name)
			err = &WriteError{Path: path, Err: err}
		}
	}()
	if err = write(f); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(name, path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// mostManifest bounds what is read of a run.json.
const mostManifest = 256 << 20

// readManifest reads run.json. A newer schema is an error that can't be worked
// around. One that is not as it was written comes back with errAltered.
func readManifest(dir string) (*Run, error) {
	f, err := limitio.Open(filepath.Join(dir, manifestFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := limitio.All(f, mostManifest)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // an editor's byte order mark
	var head struct {
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	switch head.Schema {
	case Schema:
	case "":
		return nil, fmt.Errorf("%s: %w: it was not written by tokenmeter; give the folder that bench printed as saved", manifestFile, errSchema)
	default:
		return nil, fmt.Errorf("%s: %w %q, this program reads %s; use a newer tokenmeter", manifestFile, errSchema, head.Schema, Schema)
	}
	m := new(Run)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	if !Intact(data) {
		return m, errAltered
	}
	return m, nil
}

var (
	errSchema  = errors.New("unknown schema")
	errAltered = errors.New("it is not as it was written")
)
