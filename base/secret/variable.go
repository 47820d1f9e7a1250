package secret

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tokenmeter/base/pattern"
)

// errNoVariable does not show what was given.
var errNoVariable = errors.New("this is no name of an environment variable (letters, digits and _) and is not shown: where it is the key itself, put that into a variable and give the variable's name")

// errUnset does neither, as names of small letters may be keys.
var errUnset = errors.New("no environment variable is set that is called so; the name is not shown: where it is the key itself, put that into a variable and give the variable's name")

// Variable reports an error, in words without name, where name can't be that of an
// environment variable, or is more likely a key that was given in the place of the
// name.
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

// conventional are names as nearly all variables of keys have: words in capitals, digits
// only behind them. No key looks so.
var conventional = pattern.Lazy(`^_*[A-Z]{1,16}[0-9]{0,8}(_+([A-Z]{1,16}[0-9]{0,8}|[0-9]{1,8}))*$`)

// FromVariable returns what an environment variable holds, without spaces around it. It
// is an error where that is nothing; the error shows the name of a variable that is set,
// or that looks like such names, and else nothing: it may be the key itself.
func FromVariable(name string, env func(string) (string, bool)) (string, error) {
	if err := Variable(name); err != nil {
		return "", err
	}
	value, set := env(name)
	switch value = strings.TrimSpace(value); {
	case set && value != "":
		return value, nil
	case set:
		return "", fmt.Errorf("the environment variable %s is empty", name)
	case conventional().MatchString(name):
		return "", fmt.Errorf("the environment variable %s is not set", name)
	}
	return "", errUnset
}

// FileError is err, which the reading of a file for a key ended with, without the name
// where there is neither such a file nor the folder that it names: it may be the key itself.
func FileError(path string, err error) error {
	if _, gone := os.Lstat(path); gone == nil {
		return err
	}
	folder := filepath.Dir(path)
	if _, gone := os.Stat(folder); gone == nil && folder != "." {
		return errors.New(New().Error(err))
	}
	return errors.New("there is no file that is called so, and the name is not shown: where it is the key itself, put that into a file and give the file's name")
}
