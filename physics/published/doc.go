// Package published holds what the field has published of the speed of language
// models, each figure with its source and checked against what the hardware can
// do; and claims about serving, each with a trial that shows what is true.
package published
