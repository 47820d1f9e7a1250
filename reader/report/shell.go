package report

import (
	"crypto/sha256"
	"encoding/base64"
	"io"

	"tokenmeter/base/printable"
	"tokenmeter/reader/report/chart"
)

// writePage writes one self-contained page: the content between a head and an
// end that all pages share. script may be empty.
func writePage(w io.Writer, title, style, script string, content func(*markup)) error {
	var body markup
	content(&body)
	if _, err := io.WriteString(w, pageHead(title, style, script)); err != nil {
		return err
	}
	if _, err := io.WriteString(printable.LinesWriter(w), body.String()); err != nil {
		return err
	}
	if script != "" {
		script = "<script>" + script + "</script>\n"
	}
	_, err := io.WriteString(w, script+"</body>\n</html>\n")
	return err
}

// pageHead is the part before the content. Its policy allows this style and
// this script and nothing else.
func pageHead(title, style, script string) string {
	scripts := ""
	if script != "" {
		scripts = "script-src '" + hash(script) + "'; "
	}
	return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` + scripts +
		`style-src '` + hash(style) + `'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="tokenmeter">
<title>` + chart.Escape(title) + `</title>
<style>` + style + `</style>
</head>
`
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
