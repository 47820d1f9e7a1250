package api

import (
	"bytes"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
)

// file is a part of a form that has a file's name.
type file struct {
	field, name, mime string
	data              []byte
}

// boundary stands between the parts of a form. No file of sound or picture has it.
const boundary = "tokenmeter-b81f4f1b6a0d4a6e9f5f0c6a2d7e3c94"

// upload is a request in multipart/form-data: what is uploaded, behind the fields. A
// field that is nil is left out.
func upload(path string, fields map[string]any, files []file) (Call, error) {
	var b bytes.Buffer
	size := 1024
	for _, f := range files {
		size += len(f.data) + 512
	}
	b.Grow(size)
	w := multipart.NewWriter(&b)
	err := w.SetBoundary(boundary)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if value := fields[name]; value != nil && err == nil {
			err = w.WriteField(name, fmt.Sprint(value))
		}
	}
	if err != nil {
		return Call{}, err
	}
	for _, f := range files {
		part, err := w.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {fmt.Sprintf(`form-data; name=%q; filename=%q`, f.field, f.name)}, "Content-Type": {f.mime}})
		if err != nil {
			return Call{}, err
		}
		_, _ = part.Write(f.data) // to memory
	}
	_ = w.Close()
	return Call{Path: path, Body: b.Bytes(), Header: http.Header{"Content-Type": {w.FormDataContentType()}}}, nil
}
