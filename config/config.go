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
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
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
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// Document is a file that was read: it knows where everything stood.
type Document struct {
	name  string
	at    map[string]token.Position
	errs  []*Error
	nodes int
}

// maxNodes bounds what aliases may unfold to.
const maxNodes = 1_000_000

// Decode reads data into the struct that into points to. The document is
// returned even when something was wrong with it, so that checks of what could
// be read can add their own errors; see Document.Err.
func Decode(name string, data []byte, into any) *Document {
	d := &Document{name: name, at: map[string]token.Position{}}
	tokens := lexer.Tokenize(string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))) // an editor's byte order mark
	if e := tooMuch(name, tokens); e != nil {
		d.errs = append(d.errs, e)
		return d
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err)
		return d
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil {
			continue
		}
		if body != nil {
			d.fail(doc.Body, "a second document begins here; the file should hold one")
			break
		}
		body = doc.Body
	}
	if body == nil {
		d.errs = append(d.errs, &Error{File: name, Message: "the file is empty"})
		return d
	}
	dec := decoder{Document: d, anchors: map[string]ast.Node{}}
	dec.value(body, reflect.ValueOf(into).Elem(), "")
	return d
}

// The parser's time grows with the square of both.
const (
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
	var known yaml.Error
	if errors.As(err, &known) {
		e.Message = known.GetMessage()
		if t := known.GetToken(); t != nil && t.Position != nil {
			e.Line, e.Column = t.Position.Line, t.Position.Column
		}
	}
	d.errs = append(d.errs, e)
}

func (d *Document) fail(n ast.Node, format string, args ...any) {
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
// that the file does not have is told at the nearest one around it.
func (d *Document) Addf(path, format string, args ...any) {
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

// Has reports whether the file has something at a path.
func (d *Document) Has(path string) bool { _, ok := d.at[path]; return ok }

func parent(path string) string {
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// Err is everything that is wrong, in order of place, one line each; nil when
// nothing is.
func (d *Document) Err() error {
	slices.SortStableFunc(d.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(d.errs))
	for i, e := range d.errs {
		errs[i] = e
	}
	return errors.Join(errs...)
}

type decoder struct {
	*Document
	anchors map[string]ast.Node
	depth   int
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	anyType      = reflect.TypeFor[any]()
)

// value reads node n into v.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	n = d.resolve(n)
	if n == nil {
		return
	}
	if at := begin(n); at != nil && path != "" {
		if _, known := d.at[path]; !known {
			d.at[path] = *at
		}
	}
	if d.nodes++; d.nodes > maxNodes || d.depth > 100 {
		if d.nodes == maxNodes+1 || d.depth == 101 {
			d.fail(n, "the file unfolds to too much")
		}
		return
	}
	d.depth++
	defer func() { d.depth-- }()
	if v.Type() == anyType {
		if x := d.plain(n); x != nil {
			v.Set(reflect.ValueOf(x))
		}
		return
	}
	if _, null := n.(*ast.NullNode); null {
		return // as if it were not there
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Addr().Type().Implements(textType):
		if text, ok := d.text(n); ok {
			if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
				d.fail(n, "%v", err)
			}
		}
	case v.Type() == durationType:
		d.duration(n, v)
	case v.Kind() == reflect.Struct:
		d.object(n, v, path)
	case v.Kind() == reflect.Slice:
		d.list(n, v, path)
	case v.Kind() == reflect.Map:
		d.dictionary(n, v, path)
	default:
		d.scalar(n, v)
	}
}

// resolve follows anchors, aliases and tags.
func (d *decoder) resolve(n ast.Node) ast.Node {
	for range 100 {
		switch x := n.(type) {
		case *ast.AnchorNode:
			d.anchors[x.Name.GetToken().Value] = x.Value
			n = x.Value
		case *ast.AliasNode:
			target, ok := d.anchors[x.Value.GetToken().Value]
			if !ok {
				d.fail(x, "nothing is named &%s before", x.Value.GetToken().Value)
				return nil
			}
			n = target
		case *ast.TagNode:
			n = x.Value
		default:
			return n
		}
		if n == nil {
			return nil
		}
	}
	d.fail(n, "names that mean each other")
	return nil
}

// entries lists the keys of a mapping, those of merged ones (<<) last.
func (d *decoder) entries(n ast.Node) (all []*ast.MappingValueNode, ok bool) {
	var values []*ast.MappingValueNode
	switch x := n.(type) {
	case *ast.MappingNode:
		values = x.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{x}
	default:
		return nil, false
	}
	var merged []*ast.MappingValueNode
	for _, e := range values {
		if _, merge := e.Key.(*ast.MergeKeyNode); !merge {
			all = append(all, e)
			continue
		}
		sources := []ast.Node{e.Value}
		if list, isList := d.resolve(e.Value).(*ast.SequenceNode); isList {
			sources = list.Values
		}
		for _, s := range sources {
			if d.nodes++; d.nodes > maxNodes || d.depth > 100 {
				return all, true
			}
			d.depth++
			more, ok := d.entries(d.resolve(s))
			d.depth--
			if !ok {
				d.fail(e, "<< wants a mapping, or a list of them")
			}
			merged = append(merged, more...)
		}
	}
	for _, e := range merged {
		if !slices.ContainsFunc(all, func(o *ast.MappingValueNode) bool { return keyOf(o) == keyOf(e) }) {
			all = append(all, e)
		}
	}
	return all, true
}

func keyOf(e *ast.MappingValueNode) string { return e.Key.GetToken().Value }

func (d *decoder) object(n ast.Node, v reflect.Value, path string) {
	entries, ok := d.entries(n)
	if !ok {
		d.fail(n, "want fields (name: value), not %s", kind(n))
		return
	}
	fields := fieldsOf(v.Type())
	seen := map[string]int{}
	for _, e := range entries {
		key := keyOf(e)
		line := e.Key.GetToken().Position.Line
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		switch before, twice := seen[key]; {
		case twice:
			d.fail(e.Key, "%q was given in line %d already", key, before)
		case i < 0:
			d.fail(e.Key, "unknown field %q%s", key, hint(key, fields))
		default:
			inner := join(path, key)
			d.at[inner] = *e.Key.GetToken().Position
			d.value(e.Value, v.FieldByIndex(fields[i].index), inner)
			d.enum(e.Value, fields[i], v)
		}
		seen[key] = line
	}
	for _, f := range fields {
		if _, given := seen[f.name]; f.required && !given {
			d.fail(n, "%q is missing", f.name)
		}
	}
}

func (d *decoder) enum(n ast.Node, f field, v reflect.Value) {
	got := v.FieldByIndex(f.index)
	if f.enum == nil || got.Kind() != reflect.String || slices.Contains(f.enum, got.String()) || got.String() == "" {
		return
	}
	d.fail(n, "%s is %q; want %s", f.name, got.String(), strings.Join(f.enum, ", "))
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// hint names the field that was probably meant.
func hint(key string, fields []field) string {
	best, least := "", 1+len(key)/3
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
		if n := distance(key, f.name); n <= least {
			best, least = f.name, n-1
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return "; known are " + strings.Join(names, ", ")
}

// distance is how many letters differ (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			before, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, before+cost)
		}
	}
	return row[len(b)]
}

func (d *decoder) list(n ast.Node, v reflect.Value, path string) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.fail(n, "want a list ([a, b] or lines that begin with -), not %s", kind(n))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(s.Values), len(s.Values)))
	for i, item := range s.Values {
		d.value(item, v.Index(i), fmt.Sprintf("%s[%d]", path, i))
	}
}

func (d *decoder) dictionary(n ast.Node, v reflect.Value, path string) {
	entries, ok := d.entries(n)
	if !ok {
		d.fail(n, "want fields (name: value), not %s", kind(n))
		return
	}
	v.Set(reflect.MakeMap(v.Type()))
	for _, e := range entries {
		key := reflect.ValueOf(keyOf(e)).Convert(v.Type().Key())
		if v.MapIndex(key).IsValid() {
			d.fail(e.Key, "%q was given already", keyOf(e))
			continue
		}
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(e.Value, item, join(path, keyOf(e)))
		v.SetMapIndex(key, item)
	}
}

// text is a scalar as it was written: 512 and "512" are one.
func (d *decoder) text(n ast.Node) (string, bool) {
	switch x := n.(type) {
	case *ast.StringNode:
		return x.Value, true
	case *ast.LiteralNode:
		return x.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, true
	}
	d.fail(n, "want a text, not %s", kind(n))
	return "", false
}

func (d *decoder) duration(n ast.Node, v reflect.Value) {
	text, ok := d.text(n)
	if !ok {
		return
	}
	x, err := time.ParseDuration(text)
	switch _, isNumber := strconv.ParseFloat(text, 64); {
	case err == nil:
		v.SetInt(int64(x))
	case isNumber == nil:
		d.fail(n, "a time needs a unit, like %ss", text)
	default:
		d.fail(n, "%q is no time; write 500ms, 30s or 2m", text)
	}
}

func (d *decoder) scalar(n ast.Node, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if text, ok := d.text(n); ok {
			v.SetString(text)
		}
	case reflect.Bool:
		if b, ok := n.(*ast.BoolNode); ok {
			v.SetBool(b.Value)
			return
		}
		d.fail(n, "want true or false, not %s", kind(n))
	case reflect.Int, reflect.Int64, reflect.Int32:
		x, err := strconv.ParseInt(strings.ReplaceAll(n.GetToken().Value, "_", ""), 10, v.Type().Bits())
		if _, ok := n.(*ast.IntegerNode); !ok || err != nil {
			d.fail(n, "want a whole number, not %s", kind(n))
			return
		}
		v.SetInt(x)
	case reflect.Uint64:
		x, err := strconv.ParseUint(strings.ReplaceAll(n.GetToken().Value, "_", ""), 10, 64)
		if _, ok := n.(*ast.IntegerNode); !ok || err != nil {
			d.fail(n, "want a whole number from 0, not %s", kind(n))
			return
		}
		v.SetUint(x)
	case reflect.Float64:
		x, err := strconv.ParseFloat(strings.ReplaceAll(n.GetToken().Value, "_", ""), 64)
		if !isNumber(n) || err != nil {
			d.fail(n, "want a number, not %s", kind(n))
			return
		}
		v.SetFloat(x)
	default:
		panic("config: no field can have the type " + v.Type().String())
	}
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	return false
}

// plain reads anything as maps, lists and scalars.
func (d *decoder) plain(n ast.Node) any {
	n = d.resolve(n)
	if n == nil {
		return nil
	}
	if d.nodes++; d.nodes > maxNodes || d.depth > 100 {
		if d.nodes == maxNodes+1 || d.depth == 101 {
			d.fail(n, "the file unfolds to too much")
		}
		return nil
	}
	d.depth++
	defer func() { d.depth-- }()
	switch x := n.(type) {
	case *ast.SequenceNode:
		list := make([]any, len(x.Values))
		for i, item := range x.Values {
			list[i] = d.plain(item)
		}
		return list
	case *ast.MappingNode, *ast.MappingValueNode:
		entries, _ := d.entries(n)
		object := map[string]any{}
		for _, e := range entries {
			if _, twice := object[keyOf(e)]; twice {
				d.fail(e.Key, "%q was given already", keyOf(e))
			}
			object[keyOf(e)] = d.plain(e.Value)
		}
		return object
	case *ast.BoolNode:
		return x.Value
	case *ast.IntegerNode:
		if i, err := strconv.ParseInt(strings.ReplaceAll(x.GetToken().Value, "_", ""), 10, 64); err == nil {
			return i
		}
		d.fail(n, "the number %s can't be used", x.GetToken().Value)
	case *ast.FloatNode:
		return x.Value
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := d.text(n)
		return text
	case *ast.NullNode:
	default:
		d.fail(n, "%s can't be used here", kind(n))
	}
	return nil
}

// kind says what a node is, for people.
func kind(n ast.Node) string {
	switch x := n.(type) {
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of fields"
	case *ast.BoolNode:
		return "the value " + x.GetToken().Value
	case *ast.IntegerNode, *ast.FloatNode:
		return "the number " + n.GetToken().Value
	case *ast.StringNode:
		return strconv.Quote(x.Value)
	case *ast.LiteralNode:
		return "a text"
	case *ast.NullNode:
		return "nothing"
	case *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	}
	return "this"
}
