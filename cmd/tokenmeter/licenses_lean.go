//go:build lean

package main

import _ "embed"

// notices are the licences of what others wrote and this build holds, packed: a seventh
// of the text. `go run ./tools/notices` writes them.
//
//go:embed notices_lean.txt.gz
var notices string
