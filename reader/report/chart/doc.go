// Package chart draws the charts of the pages as SVG that needs no script, each
// with its words and the table of its values. A chart is one file, which draws on
// the plot of svg.go.
package chart
