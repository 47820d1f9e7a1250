// Package service is the wing of what stays up: the measuring proxy, service
// levels with error budgets, telemetry, and the daemon that wires them.
package service
