package secret

import (
	"errors"
	"strings"
)

// errNoVariable does not show what was given.
var errNoVariable = errors.New("this is no name of an environment variable (letters, digits and _) and is not shown: where it is the key itself, put that into a variable and give the variable's name")

// Variable reports an error, in words without name, where name can't be that of an
// environment variable, or is more likely a key that was given in the place of the
// name. Call it before a name is put into any message.
func Variable(name string) error {
	for i := range len(name) {
		if c := lower(name[i]); c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return errNoVariable
		}
	}
	// People part long names by underscores; keys are long and have digits all over.
	random := len(name) >= 20 && !strings.Contains(name, "_") && strings.ContainsAny(name, "0123456789")
	if name == "" || random || maskLooks(name) != name {
		return errNoVariable
	}
	return nil
}
