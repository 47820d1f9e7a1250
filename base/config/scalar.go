package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
)

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
	if !d.enter(n) {
		return nil
	}
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
	case *ast.InfinityNode, *ast.NanNode:
		if !d.measured {
			d.fail(n, "%s can't be used here", kind(n))
		}
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
