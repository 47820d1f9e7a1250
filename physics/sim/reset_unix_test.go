//go:build unix

package sim

import (
	"errors"
	"syscall"
)

func isReset(err error) bool { return errors.Is(err, syscall.ECONNRESET) }
