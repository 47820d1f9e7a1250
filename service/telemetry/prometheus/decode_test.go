package prometheus

import (
	"errors"
	"io"
	"net/http"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// decode reads a page in protobuf.
func decode(t *testing.T, r *http.Response) map[string]*dto.MetricFamily {
	t.Helper()
	all := map[string]*dto.MetricFamily{}
	d := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
	for {
		f := &dto.MetricFamily{}
		err := d.Decode(f)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all[f.GetName()] = f
	}
}
