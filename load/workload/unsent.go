package workload

import (
	"slices"
	"strings"

	"tokenmeter/load/workload/records"
)

// unsentNames are columns under which public data sets and other tools have parts of a
// request that are not read: a text beside the instruction, pictures, tools. What else
// a record has (categories, reference answers) was never meant to be sent.
var unsentNames = []string{
	"context", "input", "documents", "history", "tools", "functions", "response_format",
	"NumImages", "image", "images", "image_files", "image_url", "video", "videos", "video_files", "audio", "audios", "audio_files",
}

// unsent are those of a file's columns that hold something and are not sent.
type unsent struct {
	names []string // that the first record has
	held  []string // by which some record had something
}

func unsentOf(first records.Row, columns map[string]string, format string) (u unsent) {
	names := unsentNames
	if format == "sharegpt" { // whose system turns are not sent either
		names = append([]string{"system", "system_prompt"}, names...)
	}
	for _, name := range first.Names() {
		read := false
		for _, mapped := range columns {
			read = read || mapped == name
		}
		if !read && slices.Contains(names, name) {
			u.names = append(u.names, name)
		}
	}
	return u
}

// look notes what a record has under such names.
func (u *unsent) look(row records.Row) {
	for _, name := range u.names {
		v, _ := row.Get(name)
		held := holds(v)
		if name == "NumImages" { // a count, in Azure's traces of pictures
			n, err := length(v)
			held = err == nil && n.Or(0) > 0
		}
		if held && !slices.Contains(u.held, name) {
			u.held = append(u.held, name)
		}
	}
}

// holds reports whether a value is a text, a list or an object that is not empty. A
// number under the name of a text is a length.
func holds(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}
