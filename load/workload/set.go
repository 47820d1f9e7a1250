package workload

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Set replaces a field of the specification: "prefix.tokens=512",
// "when.burstiness=0.5", "mix.chat.share=3" or "mix.0.share=3" where it is one of a
// list.
func (s *Spec) Set(text string) error {
	path, value, ok := strings.Cut(text, "=")
	path = strings.TrimSpace(path)
	if !ok || path == "" {
		return fmt.Errorf("%q: write FIELD=VALUE, like prefix.tokens=512", text)
	}
	if err := set(reflect.ValueOf(s).Elem(), strings.Split(path, "."), strings.TrimSpace(value)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func set(v reflect.Value, path []string, value string) error {
	switch {
	case v.Kind() == reflect.Pointer:
		// What others hold stays as it is.
		fresh := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			fresh.Elem().Set(v.Elem())
		}
		v.Set(fresh)
		return set(fresh.Elem(), path, value)
	case len(path) == 0:
		return scalar(v, value)
	case v.Kind() == reflect.Struct:
		field, ok := fieldOf(v, path[0])
		if !ok {
			return fmt.Errorf("a workload has no field %q there; see docs/workloads.md", path[0])
		}
		return set(field, path[1:], value)
	case v.Kind() == reflect.Slice:
		return setIn(v, path, value)
	case v.Kind() == reflect.Map && v.Type().Key().Kind() == reflect.String && len(path) == 1:
		return setKey(v, path[0], value)
	}
	return fmt.Errorf("%q leads nowhere", path[0])
}

// fieldOf finds a field by its name in YAML.
func fieldOf(v reflect.Value, name string) (reflect.Value, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			if inner, ok := fieldOf(v.Field(i), name); ok {
				return inner, true
			}
		}
		if tag, _, _ := strings.Cut(f.Tag.Get("yaml"), ","); tag != "" && tag == name {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

// setIn sets something in an element of a list, by its name or its place.
func setIn(v reflect.Value, path []string, value string) error {
	at, err := strconv.Atoi(path[0])
	if err != nil {
		at = -1
		for i := range v.Len() {
			if v.Type().Elem().Kind() != reflect.Struct {
				break
			}
			if name, ok := fieldOf(v.Index(i), "name"); ok && name.Kind() == reflect.String && name.String() == path[0] {
				at = i
			}
		}
	}
	if at < 0 || at >= v.Len() {
		return fmt.Errorf("there is no %q in the list", path[0])
	}
	fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(fresh, v)
	v.Set(fresh)
	return set(v.Index(at), path[1:], value)
}

func setKey(v reflect.Value, key, value string) error {
	fresh := reflect.MakeMap(v.Type())
	for _, k := range v.MapKeys() {
		fresh.SetMapIndex(k, v.MapIndex(k))
	}
	var x any = value
	if n, err := strconv.ParseInt(value, 10, 64); err == nil {
		x = n
	} else if f, err := strconv.ParseFloat(value, 64); err == nil {
		x = f
	} else if slices.Contains([]string{"true", "false"}, value) {
		x = value == "true"
	}
	if v.Type().Elem().Kind() == reflect.String {
		x = value
	}
	fresh.SetMapIndex(reflect.ValueOf(key), reflect.ValueOf(x))
	v.Set(fresh)
	return nil
}

func scalar(v reflect.Value, value string) error {
	if v.CanAddr() {
		if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return u.UnmarshalText([]byte(value))
		}
	}
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(value)
		if err != nil || d < 0 {
			return fmt.Errorf("%q: give a time, like 2s", value)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(value)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("%q: give a whole number from 0", value)
		}
		v.SetInt(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || !(x >= 0 && x < 1e12) {
			return fmt.Errorf("%q: give a number from 0", value)
		}
		v.SetFloat(x)
	case reflect.Bool:
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%q: give true or false", value)
		}
		v.SetBool(b)
	default:
		return fmt.Errorf("this is no single value: name what is in it")
	}
	return nil
}
