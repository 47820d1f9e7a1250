package bench

import (
	"errors"
	"strings"
)

func hasText(s, part string) bool { return strings.Contains(s, part) }

func asError[E error](err error, target *E) bool { return errors.As(err, target) }
