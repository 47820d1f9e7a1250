package export

import (
	"io"

	"tokenmeter/record/run"
)

func writeParquet(w io.Writer, f *run.Folder) error { return f.WriteTable(w) }
