// Package pattern is for regular expressions that belong to a package: they are compiled
// when first used, since the program would else compile all of them at each start.
package pattern

import (
	"regexp"
	"sync"
)

// Lazy is the compiled expression; calling it panics where the expression is wrong.
func Lazy(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
