package main

import (
	"fmt"
	"io"
	"sort"
	"strings"

	"tokenmeter/base/cmdline"
)

type completionCmd struct {
	Shell string `arg:"" help:"bash, zsh or fish."`

	sharedFlags `embed:""`
}

// Help is shown below the flags.
func (completionCmd) Help() string {
	return `bash: source <(tokenmeter completion bash)

zsh: tokenmeter completion zsh > "${fpath[1]}/_tokenmeter", or, behind compinit, source <(tokenmeter completion zsh)

fish: tokenmeter completion fish > ~/.config/fish/completions/tokenmeter.fish`
}

// Run prints the script.
func (c *completionCmd) Run(a *app) error {
	write, ok := map[string]func(io.Writer, []completed) error{
		"bash": completeBash, "zsh": completeZsh, "fish": completeFish,
	}[c.Shell]
	if !ok {
		return fmt.Errorf("%q: choose bash, zsh or fish", c.Shell)
	}
	return write(a.stdout, completions(newParser().Commands()))
}

// completed is a command as a shell needs to know it.
type completed struct {
	name, help string
	flags      []completedFlag
	paths      bool     // its arguments are files or folders
	words      []string // what its argument may be
}

type completedFlag struct {
	name, help string
	takesValue bool
}

// completions walks the grammar, so that a new flag completes by itself.
func completions(commands []*cmdline.Command) []completed {
	var all []completed
	for _, node := range commands {
		c := completed{name: node.Name, help: node.Help}
		for _, f := range node.Visible() {
			c.flags = append(c.flags, completedFlag{f.Name, oneLine(f.Help), !f.IsBool()})
		}
		sort.Slice(c.flags, func(i, j int) bool {
			a, b := &c.flags[i], &c.flags[j]
			return strings.Compare(a.name, b.name) < 0
		})
		switch node.Name {
		case "report", "export", "analyze":
			c.paths = true
		case "completion":
			c.words = []string{"bash", "zsh", "fish"}
		case "explain":
			c.words = topicNames()
		}
		all = append(all, c)
	}
	return all
}

func oneLine(s string) string {
	first, _, _ := strings.Cut(s, ". ")
	return strings.TrimSuffix(strings.Join(strings.Fields(first), " "), ".")
}

func completeBash(w io.Writer, all []completed) error {
	var b strings.Builder
	b.WriteString("# bash completion for tokenmeter\n_tokenmeter() {\n  local cur=${COMP_WORDS[COMP_CWORD]} words=\n  COMPREPLY=()\n  if [ \"$COMP_CWORD\" -eq 1 ]; then\n")
	fmt.Fprintf(&b, "    COMPREPLY=($(compgen -W %s -- \"$cur\"))\n    return\n  fi\n  case ${COMP_WORDS[1]} in\n", quoted(names(all)))
	for _, c := range all {
		var flags []string
		for _, f := range c.flags {
			flags = append(flags, "--"+f.name)
		}
		fmt.Fprintf(&b, "    %s)\n      if [[ $cur == -* ]]; then words=%s; else words=%s; fi ;;\n",
			c.name, quoted(strings.Join(flags, " ")), quoted(strings.Join(c.words, " ")))
	}
	b.WriteString("  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _tokenmeter tokenmeter\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeZsh(w io.Writer, all []completed) error {
	var b strings.Builder
	b.WriteString("#compdef tokenmeter\n_tokenmeter() {\n  if (( CURRENT == 2 )); then\n    local -a commands=(\n")
	for _, c := range all {
		fmt.Fprintf(&b, "      %s\n", quoted(c.name+":"+c.help))
	}
	b.WriteString("    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "    %s)\n      _arguments -S", c.name)
		for _, f := range c.flags {
			help := strings.NewReplacer("[", "(", "]", ")", ":", " -").Replace(f.help)
			value := ""
			if f.takesValue {
				value = ":value:_files"
			}
			fmt.Fprintf(&b, " \\\n        %s", quoted("*--"+f.name+"["+help+"]"+value))
		}
		switch {
		case len(c.words) > 0:
			fmt.Fprintf(&b, " \\\n        %s", quoted("*:name:("+strings.Join(c.words, " ")+")"))
		case c.paths:
			fmt.Fprintf(&b, " \\\n        %s", quoted("*:path:_files"))
		}
		b.WriteString(" ;;\n")
	}
	// A file of fpath is run as the function, to complete at once; one that is sourced is not,
	// and says what it is for.
	b.WriteString("  esac\n}\nif [[ $funcstack[1] == _tokenmeter ]]; then\n  _tokenmeter \"$@\"\nelif (( $+functions[compdef] )); then\n  compdef _tokenmeter tokenmeter\nfi\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func completeFish(w io.Writer, all []completed) error {
	var b strings.Builder
	b.WriteString("# fish completion for tokenmeter\ncomplete -c tokenmeter -f\n")
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c tokenmeter -n __fish_use_subcommand -a %s -d %s\n", c.name, fishQuoted(c.help))
	}
	for _, c := range all {
		when := fishQuoted("__fish_seen_subcommand_from " + c.name)
		for _, f := range c.flags {
			value := ""
			if f.takesValue {
				value = " -r -F"
			}
			fmt.Fprintf(&b, "complete -c tokenmeter -n %s -l %s%s -d %s\n", when, f.name, value, fishQuoted(f.help))
		}
		if len(c.words) > 0 {
			fmt.Fprintf(&b, "complete -c tokenmeter -n %s -a %s\n", when, fishQuoted(strings.Join(c.words, " ")))
		}
		if c.paths {
			fmt.Fprintf(&b, "complete -c tokenmeter -n %s -F\n", when)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func names(all []completed) string {
	var list []string
	for _, c := range all {
		list = append(list, c.name)
	}
	return strings.Join(list, " ")
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func fishQuoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
