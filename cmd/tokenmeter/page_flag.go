package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// pageFlag is --html of what makes a folder: by itself it asks for the page in
// that folder, with a file (--html=FILE, or --html FILE.html) for that file.
type pageFlag struct {
	Asked bool
	File  string // empty: in the folder
}

// Take takes the next word for the file only if it is one by its end: what
// follows --html is often the URL to measure.
func (p *pageFlag) Take(attached *string, next string) (took bool, err error) {
	switch {
	case attached == nil && isPage(next):
		p.Asked, p.File = true, next
		return true, nil
	case attached == nil:
		p.Asked, p.File = true, ""
	case *attached == "":
		return false, errors.New("there is no file behind the =; leave both out for a page in the folder of the results")
	case *attached == "true" || *attached == "false":
		p.Asked, p.File = *attached == "true", ""
	default:
		p.Asked, p.File = true, *attached
	}
	return false, nil
}

// isPage reports whether a word names a file for a page.
func isPage(word string) bool {
	end := strings.ToLower(filepath.Ext(word))
	return (end == ".html" || end == ".htm") && !strings.HasPrefix(word, "-") && !strings.Contains(word, "://")
}

// check refuses, before anything is measured, a file that could not be written
// after it. The folder of the results, out, need not exist yet.
func (p pageFlag) check(check *checker, out string, force bool) {
	if p.File == "" {
		return
	}
	if err := replaceable(p.File, force); err != nil {
		check.addf("--html %w", err)
		return
	}
	folder := filepath.Dir(p.File)
	if dir, err := os.Stat(folder); (err != nil || !dir.IsDir()) && (out == "" || folder != filepath.Clean(out)) {
		check.addf("--html %s: there is no folder %s", p.File, folder)
	}
}

// path is where the page goes that stands in the folder unless a file was named.
func (p pageFlag) path(dir, name string) string {
	if p.File != "" {
		return p.File
	}
	return filepath.Join(dir, name)
}
