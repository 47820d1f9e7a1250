//go:build !linux

package sim

// pin does nothing where threads cannot be held to a core; cores is 0.
func pin() (cores int, apart func(), unpin func()) { return 0, func() {}, func() {} }
