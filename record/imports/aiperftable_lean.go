//go:build lean

package imports

import "fmt"

func readServerTable(in *Input, _ func(*Reading) error) error {
	return fmt.Errorf("%s: this build can't read Parquet (tag lean); server_metrics_export.json stands beside it", in.Name)
}
