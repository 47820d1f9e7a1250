// Package config reads YAML files strictly: an unknown field, a repeated one or
// a value of the wrong kind is an error with its line and column, and all
// errors are told at once. The same struct gives the JSON Schema of the file.
//
// Fields carry tags: yaml (the name; "-" is no field), doc (what it means),
// required:"true", and enum:"a|b". Embedded structs are part of the outer one.
package config

import (
	"bytes"
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Error is one mistake in a file.
type Error struct {
	File         string
	Line, Column int // from 1; 0: of the file as a whole
	Message      string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0 && strings.HasPrefix(e.Message, e.File+":"): // of a file without places of its own, which says where
		return e.Message
	case e.Line == 0:
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Document is a file that was read: it knows where everything stood.
type Document struct {
	name   string
	at     map[string]token.Position
	failed map[string]bool // paths whose value could not be read
	errs   []*Error
	nodes  int
}

// maxNodes bounds what aliases may unfold to.
const maxNodes = 1_000_000

// NoFile is the document of a configuration that was not read from a file: what
// checks add has no place in it.
func NoFile(name string) *Document {
	return &Document{name: name, at: map[string]token.Position{}, failed: map[string]bool{}}
}

// Decode reads data into the struct that into points to. The document is
// returned even when something was wrong with it, so that checks of what could
// be read can add their own errors; see Document.Err.
func Decode(name string, data []byte, into any) *Document {
	d := NoFile(name)
	d.failed[""] = true // until there is something to check
	docs := d.parse(data)
	if len(d.errs) > 0 {
		return d
	}
	var body ast.Node
	for _, doc := range docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			d.place(doc.Body, "a second document begins here; the file should hold one")
			break
		}
		body = doc.Body
	}
	if body == nil {
		d.errs = append(d.errs, &Error{File: name, Message: "the file is empty"})
		return d
	}
	delete(d.failed, "")
	if at := begin(body); at != nil {
		d.at[""] = *at
	}
	dec := decoder{Document: d, anchors: map[string]ast.Node{}}
	dec.value(body, reflect.ValueOf(into).Elem(), "")
	return d
}

// Documents reads the documents of a file that is another program's: maps, lists,
// texts and numbers, whatever they are called.
func Documents(name string, data []byte) ([]any, error) { return documents(name, data, false) }

// Results are Documents of what another program measured: .inf and .nan, as Python writes
// a bound that there is not and the mean of nothing, are null.
func Results(name string, data []byte) ([]any, error) { return documents(name, data, true) }

func documents(name string, data []byte, measured bool) ([]any, error) {
	d := NoFile(name)
	var all []any
	for _, doc := range d.parse(data) {
		if doc.Body == nil {
			continue
		}
		var v any
		dec := decoder{Document: d, anchors: map[string]ast.Node{}, measured: measured}
		dec.value(doc.Body, reflect.ValueOf(&v).Elem(), "")
		all = append(all, v)
	}
	return all, d.Err()
}

// parse returns the documents of a file, or adds why there are none.
func (d *Document) parse(data []byte) []*ast.DocumentNode {
	if len(data) > maxBytes {
		d.errs = append(d.errs, &Error{File: d.name, Message: "the file has more than 1 MiB; move lists of data into files of their own"})
		return nil
	}
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) // an editor's byte order mark
	if e := tooMuch(d.name, tokens); e != nil {
		d.errs = append(d.errs, e)
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return nil
	}
	return file.Docs
}

// The lexer takes up to 300 times the memory of the file, and the parser's time grows
// with the square of the others.
const (
	maxBytes  = 1 << 20
	maxTokens = 20_000
	maxDepth  = 100
)

// tooMuch says what makes a file too large or too deep to be a configuration.
func tooMuch(name string, tokens token.Tokens) *Error {
	at := func(t *token.Token, message string) *Error {
		e := &Error{File: name, Message: message}
		if t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
		return e
	}
	flow, row, line := 0, 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
		case token.SequenceEntryType: // "- - - a" nests in one line
			if t.Position != nil && t.Position.Line != line {
				row, line = 0, t.Position.Line
			}
			row++
		}
		switch {
		case i >= maxTokens:
			return at(t, fmt.Sprintf("there are more than %d names and values up to here; move lists of data into files of their own", maxTokens))
		case flow > maxDepth || row > maxDepth:
			return at(t, fmt.Sprintf("lists and fields are nested more than %d deep", maxDepth))
		}
	}
	return nil
}

// syntax turns an error of the parser into one of ours.
func (d *Document) syntax(err error) {
	e := &Error{File: d.name, Message: err.Error()}
	var known interface { // yaml.Error, without the package
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &known) {
		e.Message = known.GetMessage()
		if t := known.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	d.errs = append(d.errs, e)
}

// place adds an error where a node begins.
func (d *Document) place(n ast.Node, format string, args ...any) {
	e := &Error{File: d.name, Message: fmt.Sprintf(format, args...)}
	if at := begin(n); at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	d.errs = append(d.errs, e)
}

// begin is where a node begins: a mapping's own token is the colon in it.
func begin(n ast.Node) *token.Position {
	switch x := n.(type) {
	case *ast.MappingNode:
		if !x.IsFlowStyle && len(x.Values) > 0 {
			return begin(x.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return begin(x.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// Addf adds what a check found wrong at a path such as "mix[1].input". A path
// that the file does not have is told at the nearest one around it. What could
// not be read has its error already: a check of what stands in its place adds none.
func (d *Document) Addf(path, format string, args ...any) {
	if d.Failed(path) {
		return
	}
	e := &Error{File: d.name, Message: fmt.Sprintf(format, args...)}
	for p := path; ; p = parent(p) {
		if at, ok := d.at[p]; ok {
			e.Line, e.Column = at.Line, at.Column
			break
		}
		if p == "" {
			break
		}
	}
	d.errs = append(d.errs, e)
}

// Failed reports whether what stands at a path, or around it, could not be read.
func (d *Document) Failed(path string) bool {
	for p := path; p != ""; p = parent(p) {
		if d.failed[p] {
			return true
		}
	}
	return d.failed[""]
}

// Has reports whether the file has something at a path.
func (d *Document) Has(path string) bool { _, ok := d.at[path]; return ok }

func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// Err is everything that is wrong, in order of place, one line each; nil when
// nothing is. What aliases repeat is told once.
func (d *Document) Err() error {
	slices.SortStableFunc(d.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	var errs []error
	for i, e := range d.errs {
		if !slices.ContainsFunc(d.errs[:i], func(o *Error) bool { return *o == *e }) {
			errs = append(errs, e)
		}
	}
	return errors.Join(errs...)
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	anyType      = reflect.TypeFor[any]()
)

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
