package telemetrytest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Address is one for a program that will listen there. The system gives no port
// below 32768 to those who ask for any, so that none is given away until then.
func Address(t testing.TB) string {
	t.Helper()
	for range 100 {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+rand.IntN(12_000)))
		if err == nil {
			defer ln.Close()
			return ln.Addr().String()
		}
	}
	t.Fatal("no port is free")
	return ""
}
