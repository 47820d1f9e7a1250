package cmdline

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// Shells are those that Complete knows.
var Shells = []string{"bash", "zsh", "fish"}

// Arguments says what stands behind a command, by its path: words, or files where there are
// none. Of others nothing is known, and bash offers files.
type Arguments map[string][]string

// Complete is the script by which a shell completes the program's commands and flags, and
// those of commands below commands; empty for a shell that is not known.
func (p *Program) Complete(shell string, args Arguments) string {
	c := completion{name: p.Program, args: args}
	for _, command := range p.Commands() {
		c.first = append(c.first, command)
		if below := command.Leaves(); len(below) > 0 {
			c.groups, c.leaves = append(c.groups, command), append(c.leaves, below...)
		} else {
			c.leaves = append(c.leaves, command)
		}
	}
	switch shell {
	case "bash":
		c.bash()
	case "zsh":
		c.zsh()
	case "fish":
		c.fish()
	}
	return c.String()
}

// completion is a script that is being written.
type completion struct {
	strings.Builder
	name                  string
	first, groups, leaves []*Command // the first words, those with commands below, and what is typed in full
	args                  Arguments
}

func (c *completion) printf(format string, args ...any) { fmt.Fprintf(&c.Builder, format, args...) }

// ordered are a command's flags by their names.
func ordered(of *Command) []*Flag {
	flags := slices.Clone(of.Visible())
	sort.Slice(flags, func(i, j int) bool { return flags[i].Name < flags[j].Name })
	return flags
}

func namesOf(commands []*Command) string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// oneLine is the first sentence of a help.
func oneLine(help string) string {
	first, _, _ := strings.Cut(help, ". ")
	return strings.TrimSuffix(strings.Join(strings.Fields(first), " "), ".")
}

// quoted is a word of bash and zsh.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// pattern is what a case of theirs begins with.
func pattern(path string) string { return strings.ReplaceAll(path, " ", `\ `) }

func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}

func (c *completion) bash() {
	c.printf("# bash completion for %[1]s\n_%[1]s() {\n  local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=\n  COMPREPLY=()\n", c.name)
	c.printf("  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W %s -- \"$cur\"))\n    return\n  fi\n", quoted(namesOf(c.first)))
	c.printf("  case $command in\n")
	for _, g := range c.groups {
		c.printf("    %s)\n      if [ \"$COMP_CWORD\" -eq 2 ]; then\n        COMPREPLY=($(compgen -W %s -- \"$cur\"))\n        return\n      fi\n      command=\"$command ${COMP_WORDS[2]}\" ;;\n",
			g.Name, quoted(namesOf(g.Commands())))
	}
	c.printf("  esac\n  case $command in\n")
	for _, leaf := range c.leaves {
		var flags []string
		for _, f := range ordered(leaf) {
			flags = append(flags, "--"+f.Name)
		}
		c.printf("    %s)\n      if [[ $cur == -* ]]; then words=%s; else words=%s; fi ;;\n", pattern(leaf.Path()), quoted(strings.Join(flags, " ")), quoted(strings.Join(c.args[leaf.Path()], " ")))
	}
	c.printf("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _%[1]s %[1]s\n", c.name)
}

// zshCommands offers commands with what they do.
func (c *completion) zshCommands(indent string, commands []*Command) {
	c.printf("%slocal -a commands=(\n", indent)
	for _, command := range commands {
		c.printf("%s  %s\n", indent, quoted(command.Name+":"+command.Help))
	}
	c.printf("%s)\n%s_describe command commands\n%sreturn\n", indent, indent, indent)
}

func (c *completion) zsh() {
	c.printf("#compdef %[1]s\n_%[1]s() {\n  if (( CURRENT == 2 )); then\n", c.name)
	c.zshCommands("    ", c.first)
	c.printf("  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n")
	for _, g := range c.groups {
		c.printf("    %s)\n      if (( CURRENT == 2 )); then\n", g.Name)
		c.zshCommands("        ", g.Commands())
		c.printf("      fi\n      command=\"$command $words[2]\"\n      shift words\n      (( CURRENT-- )) ;;\n")
	}
	c.printf("  esac\n  case $command in\n")
	for _, leaf := range c.leaves {
		c.printf("    %s)\n      _arguments -S", pattern(leaf.Path()))
		for _, f := range ordered(leaf) {
			help, value := strings.NewReplacer("[", "(", "]", ")", ":", " -").Replace(oneLine(f.Help)), ""
			if !f.IsBool() {
				value = ":value:_files"
			}
			c.printf(" \\\n        %s", quoted("*--"+f.Name+"["+help+"]"+value))
		}
		if words, known := c.args[leaf.Path()]; len(words) > 0 {
			c.printf(" \\\n        %s", quoted("*:name:("+strings.Join(words, " ")+")"))
		} else if known {
			c.printf(" \\\n        %s", quoted("*:path:_files"))
		}
		c.printf(" ;;\n")
	}
	// A file of fpath is run as the function, to complete at once; one that is sourced is not,
	// and says what it is for.
	c.printf("  esac\n}\nif [[ $funcstack[1] == _%[1]s ]]; then\n  _%[1]s \"$@\"\nelif (( $+functions[compdef] )); then\n  compdef _%[1]s %[1]s\nfi\n", c.name)
}

func (c *completion) fish() {
	c.printf("# fish completion for %[1]s\ncomplete -c %[1]s -f\n", c.name)
	for _, command := range c.first {
		c.printf("complete -c %s -n __fish_use_subcommand -a %s -d %s\n", c.name, command.Name, fishQuoted(command.Help))
	}
	for _, g := range c.groups {
		when := fishQuoted(fmt.Sprintf("__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s", g.Name, namesOf(g.Commands())))
		for _, below := range g.Commands() {
			c.printf("complete -c %s -n %s -a %s -d %s\n", c.name, when, below.Name, fishQuoted(below.Help))
		}
	}
	for _, leaf := range c.leaves {
		when := fishQuoted("__fish_seen_subcommand_from " + strings.ReplaceAll(leaf.Path(), " ", "; and __fish_seen_subcommand_from "))
		for _, f := range ordered(leaf) {
			value := ""
			if !f.IsBool() {
				value = " -r -F"
			}
			c.printf("complete -c %s -n %s -l %s%s -d %s\n", c.name, when, f.Name, value, fishQuoted(oneLine(f.Help)))
		}
		if words, known := c.args[leaf.Path()]; len(words) > 0 {
			c.printf("complete -c %s -n %s -a %s\n", c.name, when, fishQuoted(strings.Join(words, " ")))
		} else if known {
			c.printf("complete -c %s -n %s -F\n", c.name, when)
		}
	}
}
