//go:build lean

package export

var others []Exporter
