//go:build !unix

package sim

func isReset(err error) bool { return err != nil }
