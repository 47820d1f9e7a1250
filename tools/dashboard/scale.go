package dashboard

import (
	"fmt"
	"io"

	"tokenmeter/service/telemetry"
)

// scaleInFlight is the load that replicas share.
func scaleInFlight() string { return fmt.Sprintf("sum(%s)", telemetry.InFlight.Name) }

// scaleBurn is how many times as fast as allowed an objective's budget is spent.
func scaleBurn(slo string) string {
	grown := func(m *telemetry.Metric) string { return fmt.Sprintf("sum(rate(%s{slo=%q}[5m]))", m.Name, slo) }
	return fmt.Sprintf("(1 - %s / (%s > 0)) / (1 - max(%s{slo=%q}))", grown(telemetry.SLOGood), grown(telemetry.SLOValid), telemetry.SLOTarget.Name, slo)
}

// KEDA writes a ScaledObject that scales servers by what tokenmeter sees.
func KEDA(w io.Writer) error {
	_, err := fmt.Fprintf(w, `# Scales the inference servers behind tokenmeter with KEDA: a replica for every
# 32 requests in flight, and one more while an objective's budget burns.
# chat-pace is an objective of the part slo of tokenmeter.yaml. Names, limits and the address of Prometheus are yours.
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: inference
spec:
  scaleTargetRef:
    name: inference
  minReplicaCount: 1
  maxReplicaCount: 8
  pollingInterval: 15
  cooldownPeriod: 300
  triggers:
    - type: prometheus
      metricType: AverageValue
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        query: '%s'
        threshold: '32'
    - type: prometheus
      metricType: Value
      metadata:
        serverAddress: http://prometheus.monitoring:9090
        query: '%s'
        threshold: '1'
        ignoreNullValues: 'true'
`, scaleInFlight(), scaleBurn("chat-pace"))
	return err
}

// HPA writes an autoscaler that needs no KEDA, and the rule of prometheus-adapter
// that gives it the metric.
func HPA(w io.Writer) error {
	_, err := fmt.Fprintf(w, `# The same with a plain HorizontalPodAutoscaler. It reads the metric from
# prometheus-adapter, which needs this rule:
#
#   rules:
#     external:
#       - seriesQuery: '%[1]s'
#         resources: {namespaced: false}
#         metricsQuery: 'sum(<<.Series>>)'
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: inference
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: inference
  minReplicas: 1
  maxReplicas: 8
  behavior:
    scaleDown:
      stabilizationWindowSeconds: 300
  metrics:
    - type: External
      external:
        metric:
          name: %[1]s
        target:
          type: AverageValue
          averageValue: '32'
`, telemetry.InFlight.Name)
	return err
}
