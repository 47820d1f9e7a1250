package main

import (
	"fmt"
	"io"

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
	script := newParser().Complete(c.Shell, cmdline.Arguments{"report": nil, "export": nil, "analyze": nil, "compare": nil, "import": nil, "merge": nil, "rerun": nil,
		"completion": cmdline.Shells, "explain": topicNames()})
	if script == "" {
		return fmt.Errorf("%q: choose bash, zsh or fish", c.Shell)
	}
	_, err := io.WriteString(a.stdout, script)
	return err
}
