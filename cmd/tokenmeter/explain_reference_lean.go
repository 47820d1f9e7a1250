//go:build lean

package main

import "tokenmeter/record/metric"

// referenceTopics is empty in a lean build.
func referenceTopics() []metric.Topic { return nil }
