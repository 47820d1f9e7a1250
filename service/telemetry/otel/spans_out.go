package otel

import (
	"context"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	pb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// spansOut counts failures.
type spansOut struct {
	sdktrace.SpanExporter
	e *Exporter
}

func (o *spansOut) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	o.e.failure("spans", o.SpanExporter.ExportSpans(ctx, spans))
	return nil
}

// spanSender is the client of OpenTelemetry's exporter of spans.
type spanSender struct{ *sender }

func (spanSender) Start(context.Context) error { return nil }

func (spanSender) Stop(context.Context) error { return nil }

func (s spanSender) UploadTraces(ctx context.Context, spans []*pb.ResourceSpans) error {
	if len(spans) == 0 {
		return nil
	}
	return s.post(ctx, &pb.TracesData{ResourceSpans: spans}) // the request of OTLP has the same fields
}
