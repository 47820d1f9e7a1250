// Package jsonscan reads JSON front to back, without allocating and without
// building values: the caller walks down the paths it knows and skips the rest.
// It accepts what encoding/json accepts, and gives the same values.
package jsonscan
