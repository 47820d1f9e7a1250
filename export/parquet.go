package export

import (
	"io"

	"tokenmeter/run"
)

func writeParquet(w io.Writer, f *run.Folder) error { return f.WriteTable(w) }
