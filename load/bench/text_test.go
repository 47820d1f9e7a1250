package bench

import (
	"errors"
	"strings"

	"tokenmeter/record/metric"
)

func hasText(s, part string) bool { return strings.Contains(s, part) }

type warning = metric.Warning

func asError[E error](err error, target *E) bool { return errors.As(err, target) }
