package cmdline

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tokenmeter/base/spelling"
)

// Line is a command line that was understood.
type Line struct {
	Command *Command
	Flags   []*Flag // those that were given, in order
	Help    bool    // the help is asked for; nothing was checked then
}

// Given reports whether a flag was on the command line.
func (l *Line) Given(name string) bool {
	return slices.ContainsFunc(l.Flags, func(f *Flag) bool { return f.Name == name })
}

// Error is a command line that was not understood.
type Error struct {
	Command *Command // as far as it was
	says    string
}

func (e *Error) Error() string { return e.says }

// Parse reads the words behind the program's name into the fields. Errors are of type
// Error.
func (p *Program) Parse(words []string) (*Line, error) {
	l := &line{words: words, Line: Line{Command: &p.Command}}
	err := l.parse()
	if err == nil && !l.Help {
		err = l.check()
	}
	if err != nil {
		return nil, &Error{l.Command, err.Error()}
	}
	return &l.Line, nil
}

// line is a command line that is being read.
type line struct {
	Line
	words []string // not yet read
	plain bool     // no word is a flag any more
	args  int      // arguments that have their words
}

func (l *line) parse() error {
	for len(l.words) > 0 {
		word := l.words[0]
		var next *Flag // the argument that is next
		if l.args < len(l.Command.Args) {
			next = l.Command.Args[l.args]
		}
		var err error
		switch {
		case l.plain || word == "-" || !strings.HasPrefix(word, "-"):
			err = l.argument(next)
		case word == "--":
			l.plain = true
			if next == nil || !next.passthrough {
				l.words = l.words[1:]
			}
		default:
			if err = l.flag(); next != nil && next.passthrough && unknown(err) {
				err = l.argument(next)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// argument takes a word that is no flag, for the argument that is next or as a command.
func (l *line) argument(next *Flag) error {
	if next == nil {
		word := l.words[0]
		var names []string
		for _, c := range l.Command.commands {
			if c.Name == word {
				c.read()
				l.Command, l.args, l.words = c, 0, l.words[1:]
				return nil
			}
			names = append(names, c.Name)
		}
		return fmt.Errorf("unexpected argument %s%s", word, meant(word, names))
	}
	l.args++
	l.plain = l.plain || next.passthrough
	for first := true; len(l.words) > 0 && (first || next.several() && (l.plain || l.words[0] == "-" || !strings.HasPrefix(l.words[0], "-"))); first = false {
		if err := next.Set(l.words[0]); err != nil {
			return fmt.Errorf("%s: %w", next, err)
		}
		next.Given = true
		l.words = l.words[1:]
	}
	return nil
}

// flag takes a flag with its value. Of several letters behind one dash the first is a
// flag, and the others are its value or more flags.
func (l *line) flag() error {
	word := l.words[0]
	name, value, has := strings.Cut(word, "=")
	letter := !strings.HasPrefix(word, "--")
	if letter {
		_, n := utf8.DecodeRuneInString(word[1:])
		name, value, has = word[:1+n], word[1+n:], false
	}
	f, negated := l.find(name)
	if f == nil {
		var names []string
		for _, f := range l.Command.all() {
			names = append(names, f.names()...)
		}
		return unknownFlag(fmt.Sprintf("unknown flag %s%s", name, meant(name, names)))
	}
	l.words = l.words[1:]
	if letter && value != "" {
		if f.IsBool() {
			l.words = slices.Insert(l.words, 0, "-"+value)
		} else {
			has = true
		}
	}
	var attached *string
	if has {
		attached = &value
	}
	if err := l.take(f, attached, negated); err != nil {
		return fmt.Errorf("--%s: %w", f.Name, err)
	}
	f.Given = true
	l.Flags = append(l.Flags, f)
	l.Help = l.Help || f.help
	return nil
}

func (l *line) take(f *Flag, attached *string, negated bool) error {
	if o, ok := f.value.Addr().Interface().(Optional); ok {
		next := ""
		if len(l.words) > 0 {
			next = l.words[0]
		}
		took, err := o.Take(attached, next)
		if took {
			l.words = l.words[1:]
		}
		return err
	}
	switch {
	case f.IsBool():
		yes := true
		if attached != nil {
			var err error
			if yes, err = yesNo(*attached); err != nil {
				return err
			}
		}
		f.value.SetBool(yes != negated)
		return nil
	case attached != nil:
		return f.Set(*attached)
	case len(l.words) == 0:
		return fmt.Errorf("there is no value behind it")
	case l.words[0] != "-" && strings.HasPrefix(l.words[0], "-") && !negative(l.words[0]):
		return fmt.Errorf("expected a value but got the flag %s; perhaps try --%s=%q?", l.words[0], f.Name, l.words[0])
	}
	word := l.words[0]
	l.words = l.words[1:]
	return f.Set(word)
}

// negative reports whether a word begins like a number below 0: that is a wrong value,
// and no flag.
func negative(word string) bool {
	return len(word) > 1 && word[0] == '-' && (word[1] == '.' || '0' <= word[1] && word[1] <= '9')
}

func (l *line) find(name string) (f *Flag, negated bool) {
	for _, f := range l.Command.all() {
		if slices.Contains(f.names(), name) {
			return f, false
		}
		if f.Negatable && name == "--"+"no-"+f.Name {
			return f, true
		}
	}
	return nil, false
}

// names are the words that the flag goes by.
func (f *Flag) names() []string {
	names := []string{"--" + f.Name}
	if f.Short != "" {
		names = append(names, "-"+f.Short)
	}
	for _, alias := range f.Aliases {
		names = append(names, "--"+alias)
	}
	return names
}

type unknownFlag string

func (e unknownFlag) Error() string { return string(e) }

func unknown(err error) bool { var e unknownFlag; return errors.As(err, &e) }

// check holds the whole line against the grammar.
func (l *line) check() error {
	all := l.Command.all()
	var missing []string
	for i, f := range all {
		if len(f.Enum) > 0 && !slices.Contains(f.Enum, f.value.String()) {
			return fmt.Errorf("--%s must be one of %s but got %q", f.Name, strings.Join(f.Enum, ", "), f.value.String())
		}
		if f.Required && !f.Given {
			missing = append(missing, f.String())
		}
		for _, other := range all[:i] {
			if f.Given && other.Given && f.xor != "" && f.xor == other.xor {
				return fmt.Errorf("--%s and --%s can't be used together", other.Name, f.Name)
			}
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("missing flags: %s", strings.Join(missing, ", "))
	}
	for _, a := range l.Command.Args {
		if a.Required && !a.Given {
			missing = append(missing, a.String())
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("expected %q", strings.Join(missing, " "))
	}
	for _, c := range l.Command.commands {
		missing = append(missing, strconv.Quote(c.Name))
	}
	if len(missing) > 5 {
		missing = append(missing[:5], "...")
	}
	if len(missing) > 0 {
		return fmt.Errorf("expected one of %s", strings.Join(missing, ", "))
	}
	return nil
}

// meant names what a word was perhaps meant to be: what begins so, or differs in at most
// two letters, but not in all that it has.
func meant(word string, known []string) string {
	bare := strings.TrimLeft(word, "-")
	if bare == "" {
		return ""
	}
	var near []string
	for _, k := range known {
		if strings.HasPrefix(k, word) || spelling.Distance(strings.TrimLeft(k, "-"), bare) <= min(2, len(bare)-1) {
			near = append(near, strconv.Quote(k))
		}
	}
	switch len(near) {
	case 0:
		return ""
	case 1:
		return ", did you mean " + near[0] + "?"
	}
	return ", did you mean one of " + strings.Join(near, ", ") + "?"
}
