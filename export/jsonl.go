package export

import (
	"bufio"
	"encoding/json"
	"io"

	"tokenmeter/run"
)

// writeJSONL writes a line a record, in the order of the contract. The text of
// a reply is left as it is: & and < are no code here.
func writeJSONL(w io.Writer, f *run.Folder) error {
	buf := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	for rec, err := range f.Records() {
		if err != nil {
			return err
		}
		if err := enc.Encode(&rec); err != nil {
			return err
		}
	}
	return buf.Flush()
}
