package cmdline

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// Optional is a flag of a type of its own, whose value may be left out.
type Optional interface {
	// Take sets the flag: to what stood behind its =, or to the word that follows it.
	// It reports whether it took that word.
	Take(attached *string, next string) (took bool, err error)
}

// IsBool reports whether the flag needs no value.
func (f *Flag) IsBool() bool {
	_, ok := f.value.Addr().Interface().(Optional)
	return ok || f.value.Kind() == reflect.Bool
}

// Empty reports whether the flag is a text, or a list, and was given without anything.
func (f *Flag) Empty() bool { return f.empty }

// several reports whether the flag may be given again for one value more.
func (f *Flag) several() bool { return f.value.Kind() == reflect.Slice }

// Set writes a value, as it is typed, into the field; the first of a list replaces what is
// there.
func (f *Flag) Set(text string) error {
	f.empty = f.empty || strings.Trim(text, ",") == "" && (f.several() || f.value.Kind() == reflect.String && text == "")
	if !f.several() {
		return set(f.value, text)
	}
	if !f.Given {
		f.value.SetZero()
	}
	values := []string{text}
	if !f.positional && !f.whole {
		values = list(text)
	}
	for _, one := range values {
		item := reflect.New(f.value.Type().Elem()).Elem()
		if err := set(item, one); err != nil {
			return err
		}
		f.value.Set(reflect.Append(f.value, item))
	}
	return nil
}

func set(v reflect.Value, text string) (err error) {
	if v.Type() == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("expected duration but got %q: %w", text, err)
		}
		v.SetInt(int64(d))
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer: // nil where the flag was not given
		to := reflect.New(v.Type().Elem())
		v.Set(to)
		return set(to.Elem(), text)
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		yes, err := yesNo(text)
		v.SetBool(yes)
		return err
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(text, 0, 64)
		v.SetInt(n)
		return number(err, "an int", text)
	case reflect.Uint64:
		n, err := strconv.ParseUint(text, 0, 64)
		v.SetUint(n)
		return number(err, "an unsigned int", text)
	case reflect.Float64:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return number(err, "a float", text)
	default:
		return errors.New("no flag can be a " + v.Type().String())
	}
	return nil
}

func number(err error, what, text string) error {
	switch {
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("expected %s of 64 bits but got %q", what, text)
	case err != nil:
		return fmt.Errorf("expected %s but got %q", what, text)
	}
	return nil
}

func yesNo(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	}
	return false, fmt.Errorf("bool value must be true, 1, yes, false, 0 or no but got %q", text)
}
