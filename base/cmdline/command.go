// Package cmdline is a command line told by structs: a field is a flag, an argument or
// a command, and its tags say the rest. It parses words into the fields, writes the
// help and what shells complete. It stands in the place of kong, whose tags it reads: no
// method is called by its name here, so that the linker may drop those that nobody calls
// (docs/design.md).
//
// Tags of a field:
//
//	cmd          the field is a struct, and a command of its own
//	arg          an argument; without it the field is a flag
//	name         its name, where that is not the field's in lower case with dashes
//	help         its text; $$ is a dollar, ${name} a variable
//	default      the value where none is given, ${default} in its help
//	placeholder  what stands for the value in the help
//	aliases      other names of a flag, with commas
//	short        one letter
//	group        the key of the group that the help shows the flag in
//	enum         the values that a flag of a text takes, with commas
//	xor          of the flags of the same word only one may be given
//	sep          none: commas do not part the values of a list
//	negatable    a bool has a flag with no- too
//	required     the flag must be given
//	optional     the argument need not be given
//	passthrough  the argument takes everything that follows, flags too
//
// Fields of embedded structs count as fields of the outer one.
package cmdline

import (
	"cmp"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
)

// Command is a program, or a command of one.
type Command struct {
	Name     string // empty: the program
	Help     string // one sentence
	Detail   string // what stands below it: what the method Help of the struct returns
	Flags    []*Flag
	Args     []*Flag
	Parent   *Command // nil: the program
	Target   any      // pointer to the struct
	commands []*Command
	program  *Program
	known    bool // the struct was read
}

// Program is the whole command line.
type Program struct {
	Command
	Program string                   // its name
	Vars    map[string]func() string // of the tags help and default; asked by the commands that are typed
	Groups  []Group
	asIs    bool // the fields have their values: no default is set
}

// Group is a part of the flags with a title of its own in the help.
type Group struct{ Key, Title string }

// Flag is a flag or an argument.
type Flag struct {
	Name, Help, Placeholder, Default, Short, Group string
	Aliases                                        []string
	Enum                                           []string
	Required, Hidden, Negatable                    bool
	Given                                          bool // it was on the command line

	positional, optional, passthrough, help bool
	xor                                     string
	whole                                   bool // a list's value is not parted at commas
	empty                                   bool // it was given without anything
	value                                   reflect.Value
}

// New reads the grammar of p from a pointer to a struct.
func New(p Program, grammar any) *Program {
	p.Target = grammar
	p.Flags = []*Flag{{Name: "help", Short: "h", Help: "Show context-sensitive help.", help: true, value: reflect.ValueOf(new(bool)).Elem()}}
	p.Command.program = &p
	p.Command.read()
	return &p
}

// Field is the flag, or the argument, of a name in the struct that grammar points to, whose
// values stay; nil: it has none.
func Field(grammar any, name string) *Flag {
	p := New(Program{asIs: true}, grammar)
	for _, f := range append(p.Flags, p.Args...) {
		if slices.Contains(f.names(), "--"+name) {
			return f
		}
	}
	return nil
}

// Commands are those below it, in the order of their fields.
func (c *Command) Commands() []*Command {
	for _, below := range c.commands {
		below.read()
	}
	return c.commands
}

// read adds what the fields of the struct say. Commands below are not read before
// somebody asks: one is typed, and all together have hundreds of flags.
func (c *Command) read() {
	if c.known {
		return
	}
	c.known = true
	if d, ok := c.Target.(interface{ Help() string }); ok {
		c.Detail = d.Help()
	}
	v := reflect.ValueOf(c.Target).Elem()
	for _, f := range reflect.VisibleFields(v.Type()) {
		if f.Anonymous || !f.IsExported() {
			continue
		}
		name := cmp.Or(f.Tag.Get("name"), dashed(f.Name))
		value := v.FieldByIndex(f.Index)
		if _, is := f.Tag.Lookup("cmd"); is {
			c.commands = append(c.commands, &Command{Name: name, Help: c.program.filled(f.Tag.Get("help"), ""), Parent: c,
				Target: value.Addr().Interface(), program: c.program})
			continue
		}
		flag := c.program.flag(name, f.Tag, value)
		if flag.positional {
			c.Args = append(c.Args, flag)
		} else {
			c.Flags = append(c.Flags, flag)
		}
	}
}

func (p *Program) flag(name string, tag reflect.StructTag, value reflect.Value) *Flag {
	has := func(key string) bool { _, is := tag.Lookup(key); return is }
	f := &Flag{Name: name, Placeholder: tag.Get("placeholder"), Short: tag.Get("short"), Group: tag.Get("group"),
		Aliases: list(tag.Get("aliases")), Enum: list(tag.Get("enum")), Negatable: has("negatable"), xor: tag.Get("xor"), whole: tag.Get("sep") == "none",
		positional: has("arg"), optional: has("optional"), passthrough: has("passthrough"), value: value}
	f.Required = has("required") || f.positional && !f.optional
	f.Default = p.filled(tag.Get("default"), "")
	f.Help = p.filled(tag.Get("help"), f.Default)
	if len(f.Enum) > 0 && (f.positional || value.Kind() != reflect.String) {
		panic(fmt.Sprintf("%s: only a flag of a text can have an enum", f))
	}
	if f.Default != "" && !p.asIs {
		if err := f.Set(f.Default); err != nil {
			panic(fmt.Sprintf("the default of %s: %v", f, err)) // the grammar itself is wrong
		}
	}
	return f
}

func list(words string) []string {
	return strings.FieldsFunc(words, func(r rune) bool { return r == ',' })
}

// filled puts the variables into a text.
func (p *Program) filled(text, byDefault string) string {
	return os.Expand(text, func(name string) string {
		value, known := p.Vars[name]
		switch {
		case known:
			return value()
		case name == "default":
			return byDefault
		case name == "$":
			return name
		}
		return "$" + name
	})
}

// dashed is the name of a field in lower case, with a dash between its words.
func dashed(name string) string {
	var b strings.Builder
	class := func(i int) int {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z':
			return 1
		case '0' <= c && c <= '9':
			return 2
		}
		return 3
	}
	for i := range len(name) {
		if i > 0 {
			before, here := class(i-1), class(i)
			starts := here == 3 && i+1 < len(name) && class(i+1) == 1 // the last capital of several begins the next word
			if before != here && !(before == 3 && here == 1) || before == 3 && starts {
				b.WriteByte('-')
			}
		}
		b.WriteByte(name[i])
	}
	return strings.ToLower(b.String())
}

// Path is the command as it is typed, without the program.
func (c *Command) Path() string {
	if c.Parent == nil {
		return ""
	}
	return strings.TrimSpace(c.Parent.Path() + " " + c.Name)
}

// Leaves are the commands below that have none of their own.
func (c *Command) Leaves() (all []*Command) {
	for _, below := range c.Commands() {
		if len(below.commands) == 0 {
			all = append(all, below)
		}
		all = append(all, below.Leaves()...)
	}
	return all
}

// Visible are the flags that the command takes and the help shows: those of the program
// first, each in the order of its fields.
func (c *Command) Visible() (all []*Flag) {
	for _, f := range c.all() {
		if !f.Hidden {
			all = append(all, f)
		}
	}
	return all
}

func (c *Command) all() []*Flag {
	if c.Parent == nil {
		return c.Flags
	}
	return append(c.Parent.all()[:len(c.Parent.all()):len(c.Parent.all())], c.Flags...)
}
