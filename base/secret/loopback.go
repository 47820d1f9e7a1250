package secret

import (
	"net/netip"
	"strings"
)

// Loopback reports whether a host, without its port, is this machine by the name
// localhost or by an address of the loopback, so that what is sent to it leaves the
// machine on no wire. Other names, even those that end in .localhost, may be resolved
// to anything.
func Loopback(host string) bool {
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
