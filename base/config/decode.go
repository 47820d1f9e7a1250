package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"tokenmeter/base/spelling"
)

type decoder struct {
	*Document
	anchors map[string]ast.Node
	depth   int
	path    string // of the value that is read
	// measured: what is infinite or not a number is null, no mistake.
	measured bool
}

// fail says why a value can't be read.
func (d *decoder) fail(n ast.Node, format string, args ...any) {
	d.failed[d.path] = true
	d.place(n, format, args...)
}

// value reads node n into v.
func (d *decoder) value(n ast.Node, v reflect.Value, path string) {
	around := d.path
	d.path = path
	defer func() { d.path = around }()
	n = d.resolve(n)
	if n == nil {
		return
	}
	if at := begin(n); at != nil && path != "" {
		if _, known := d.at[path]; !known {
			d.at[path] = *at
		}
	}
	if !d.enter(n) {
		return
	}
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
		whole := v
		v = reflect.New(v.Type().Elem()).Elem()
		defer func() {
			if !d.failed[path] { // else it is as if it were not there
				whole.Set(v.Addr())
			}
		}()
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

// enter goes into a node; false where the file unfolds to too much.
func (d *decoder) enter(n ast.Node) bool {
	if d.nodes++; d.nodes > maxNodes || d.depth > 100 {
		if d.nodes == maxNodes+1 || d.depth == 101 {
			d.fail(n, "the file unfolds to too much")
		}
		return false
	}
	d.depth++
	return true
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
	seen, meant := map[string]int{}, map[string]bool{}
	for _, e := range entries {
		key := keyOf(e)
		line := e.Key.GetToken().Position.Line
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		switch before, twice := seen[key]; {
		case twice:
			d.place(e.Key, "%q was given in line %d already", key, before)
		case i < 0:
			best, says := hint(key, fields)
			if best != "" {
				meant[best], d.failed[join(path, best)] = true, true
			}
			d.place(e.Key, "unknown field %q%s", key, says)
		default:
			inner := join(path, key)
			d.at[inner] = *e.Key.GetToken().Position
			d.field(e, fields[i], v.FieldByIndex(fields[i].index), inner)
		}
		seen[key] = line
	}
	for _, f := range fields {
		if _, given := seen[f.name]; f.required && !given && !meant[f.name] {
			d.failed[join(path, f.name)] = true
			d.place(n, "%q is missing", f.name)
		}
	}
}

// field reads the value of a field, and holds it against what the field wants.
func (d *decoder) field(e *ast.MappingValueNode, f field, v reflect.Value, path string) {
	d.value(e.Value, v, path)
	if d.failed[path] {
		return
	}
	around := d.path
	d.path = path
	defer func() { d.path = around }()
	switch _, null := d.resolve(e.Value).(*ast.NullNode); {
	case f.required && null:
		d.fail(e.Key, "%q has no value", f.name)
	case f.required && v.Kind() == reflect.String && v.String() == "":
		d.fail(e.Value, "%q is empty", f.name)
	case f.enum != nil && v.Kind() == reflect.String && v.String() != "" && !slices.Contains(f.enum, v.String()):
		d.fail(e.Value, "%s is %q; want %s", f.name, v.String(), strings.Join(f.enum, ", "))
	}
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
			d.place(e.Key, "%q was given already", keyOf(e))
			continue
		}
		d.at[join(path, keyOf(e))] = *e.Key.GetToken().Position
		item := reflect.New(v.Type().Elem()).Elem()
		d.value(e.Value, item, join(path, keyOf(e)))
		v.SetMapIndex(key, item)
	}
}

// hint names the field that was probably meant, if one is near, and says so.
func hint(key string, fields []field) (best, says string) {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return spelling.Nearest(key, names), spelling.Meant(key, names)
}
