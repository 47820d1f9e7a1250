package otel

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	pb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// metricsOut sends what the SDK has gathered, and counts failures. Metrics have no
// exemplars: they would name traces, and requests are recorded without one.
type metricsOut struct {
	sender *sender
	e      *Exporter
}

func (*metricsOut) Temporality(k sdkmetric.InstrumentKind) metricdata.Temporality {
	return sdkmetric.DefaultTemporalitySelector(k)
}

func (*metricsOut) Aggregation(k sdkmetric.InstrumentKind) sdkmetric.Aggregation {
	return sdkmetric.DefaultAggregationSelector(k)
}

func (*metricsOut) ForceFlush(context.Context) error { return nil }

func (*metricsOut) Shutdown(context.Context) error { return nil }

func (o *metricsOut) Export(ctx context.Context, data *metricdata.ResourceMetrics) error {
	message, err := messageOf(data)
	if err == nil {
		err = o.sender.post(ctx, message)
	}
	o.e.failure("metrics", err)
	return nil
}

// messageOf is the request of OTLP, which has the same fields as MetricsData.
func messageOf(data *metricdata.ResourceMetrics) (*pb.MetricsData, error) {
	one := &pb.ResourceMetrics{Resource: &resourcepb.Resource{Attributes: attributesOf(*data.Resource.Set())}, SchemaUrl: data.Resource.SchemaURL()}
	for _, s := range data.ScopeMetrics {
		scope := &pb.ScopeMetrics{SchemaUrl: s.Scope.SchemaURL,
			Scope: &commonpb.InstrumentationScope{Name: s.Scope.Name, Version: s.Scope.Version, Attributes: attributesOf(s.Scope.Attributes)}}
		for _, m := range s.Metrics {
			out := &pb.Metric{Name: m.Name, Description: m.Description, Unit: m.Unit}
			if err := fill(out, m.Data); err != nil {
				return nil, err
			}
			scope.Metrics = append(scope.Metrics, out)
		}
		one.ScopeMetrics = append(one.ScopeMetrics, scope)
	}
	return &pb.MetricsData{ResourceMetrics: []*pb.ResourceMetrics{one}}, nil
}

// fill writes the points of a metric.
func fill(out *pb.Metric, data metricdata.Aggregation) error {
	switch data := data.(type) {
	case metricdata.Gauge[float64]:
		out.Data = &pb.Metric_Gauge{Gauge: &pb.Gauge{DataPoints: numbers(data.DataPoints)}}
	case metricdata.Sum[float64]:
		out.Data = sumOf(data)
	case metricdata.Sum[int64]:
		out.Data = sumOf(data)
	case metricdata.Histogram[float64]:
		out.Data = histogramOf(data)
	case metricdata.Histogram[int64]:
		out.Data = histogramOf(data)
	case metricdata.ExponentialHistogram[float64]:
		out.Data = exponentialOf(data)
	case metricdata.ExponentialHistogram[int64]:
		out.Data = exponentialOf(data)
	default:
		return fmt.Errorf("%s: no instrument here makes a %T", out.Name, data)
	}
	return nil
}

// number is what instruments count in.
type number interface{ int64 | float64 }

func sumOf[N number](data metricdata.Sum[N]) *pb.Metric_Sum {
	return &pb.Metric_Sum{Sum: &pb.Sum{DataPoints: numbers(data.DataPoints), IsMonotonic: data.IsMonotonic, AggregationTemporality: temporality(data.Temporality)}}
}

func numbers[N number](points []metricdata.DataPoint[N]) (out []*pb.NumberDataPoint) {
	for _, p := range points {
		point := &pb.NumberDataPoint{Attributes: attributesOf(p.Attributes), StartTimeUnixNano: nano(p.StartTime), TimeUnixNano: nano(p.Time)}
		switch v := any(p.Value).(type) {
		case int64:
			point.Value = &pb.NumberDataPoint_AsInt{AsInt: v}
		case float64:
			point.Value = &pb.NumberDataPoint_AsDouble{AsDouble: v}
		}
		out = append(out, point)
	}
	return out
}

func histogramOf[N number](data metricdata.Histogram[N]) *pb.Metric_Histogram {
	h := &pb.Histogram{AggregationTemporality: temporality(data.Temporality)}
	for _, p := range data.DataPoints {
		total := float64(p.Sum)
		h.DataPoints = append(h.DataPoints, &pb.HistogramDataPoint{Attributes: attributesOf(p.Attributes), StartTimeUnixNano: nano(p.StartTime), TimeUnixNano: nano(p.Time),
			Count: p.Count, Sum: &total, Min: extreme(p.Min), Max: extreme(p.Max), BucketCounts: p.BucketCounts, ExplicitBounds: p.Bounds})
	}
	return &pb.Metric_Histogram{Histogram: h}
}

func exponentialOf[N number](data metricdata.ExponentialHistogram[N]) *pb.Metric_ExponentialHistogram {
	h := &pb.ExponentialHistogram{AggregationTemporality: temporality(data.Temporality)}
	for _, p := range data.DataPoints {
		total := float64(p.Sum)
		h.DataPoints = append(h.DataPoints, &pb.ExponentialHistogramDataPoint{Attributes: attributesOf(p.Attributes), StartTimeUnixNano: nano(p.StartTime), TimeUnixNano: nano(p.Time),
			Count: p.Count, Sum: &total, Min: extreme(p.Min), Max: extreme(p.Max), Scale: p.Scale, ZeroCount: p.ZeroCount, ZeroThreshold: p.ZeroThreshold,
			Positive: buckets(p.PositiveBucket), Negative: buckets(p.NegativeBucket)})
	}
	return &pb.Metric_ExponentialHistogram{ExponentialHistogram: h}
}

func buckets(b metricdata.ExponentialBucket) *pb.ExponentialHistogramDataPoint_Buckets {
	return &pb.ExponentialHistogramDataPoint_Buckets{Offset: b.Offset, BucketCounts: b.Counts}
}

// extreme is absent where nothing was recorded.
func extreme[N number](e metricdata.Extrema[N]) *float64 {
	v, ok := e.Value()
	if !ok {
		return nil
	}
	x := float64(v)
	return &x
}

func temporality(t metricdata.Temporality) pb.AggregationTemporality {
	if t == metricdata.DeltaTemporality {
		return pb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	}
	return pb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
}

// nano is 0 for no time, as OTLP has it.
func nano(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixNano(), 0))
}

// attributesOf writes attributes. Those of lists become text: none here is one.
func attributesOf(set attribute.Set) (out []*commonpb.KeyValue) {
	for _, a := range set.ToSlice() {
		v := &commonpb.AnyValue{}
		switch a.Value.Type() {
		case attribute.BOOL:
			v.Value = &commonpb.AnyValue_BoolValue{BoolValue: a.Value.AsBool()}
		case attribute.INT64:
			v.Value = &commonpb.AnyValue_IntValue{IntValue: a.Value.AsInt64()}
		case attribute.FLOAT64:
			v.Value = &commonpb.AnyValue_DoubleValue{DoubleValue: a.Value.AsFloat64()}
		default:
			v.Value = &commonpb.AnyValue_StringValue{StringValue: a.Value.String()}
		}
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: v})
	}
	return out
}
