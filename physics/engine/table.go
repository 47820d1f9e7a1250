package engine

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/accelerators.csv
var acceleratorsCSV string

//go:embed data/models.csv
var modelsCSV string

// row reads one line of an embedded table, column by column.
type row struct {
	cells []string
	err   error
}

func (r *row) text() string {
	c := r.cells[0]
	r.cells = r.cells[1:]
	return c
}

func (r *row) number() float64 {
	c := r.text()
	if c == "" {
		return 0
	}
	v, err := strconv.ParseFloat(c, 64)
	if err != nil && r.err == nil {
		r.err = err
	}
	return v
}

func (r *row) int() int { return int(r.number()) }

// readTable parses a table of the package. A fault in it is a fault of the program.
func readTable[T any](data string, columns int, parse func(*row) T) []T {
	in := csv.NewReader(strings.NewReader(data))
	in.Comment, in.FieldsPerRecord = '#', columns
	lines, err := in.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("engine: embedded table: %v", err))
	}
	var all []T
	for _, cells := range lines {
		r := row{cells: cells}
		v := parse(&r)
		if r.err != nil {
			panic(fmt.Sprintf("engine: embedded table, line of %s: %v", cells[0], r.err))
		}
		all = append(all, v)
	}
	return all
}

// Accelerators lists the devices of the table.
var Accelerators = sync.OnceValue(func() []Accelerator {
	return readTable(acceleratorsCSV, 9, func(r *row) Accelerator {
		return Accelerator{
			Name: r.text(), Memory: r.number() * 1e9, Bandwidth: r.number() * 1e12,
			BF16: r.number() * 1e12, FP8: r.number() * 1e12, INT8: r.number() * 1e12, FP4: r.number() * 1e12,
			Link: r.number() * 1e9, Source: r.text(),
		}
	})
})

// Models lists the models of the table.
var Models = sync.OnceValue(func() []Model {
	return readTable(modelsCSV, 27, func(r *row) Model {
		return Model{
			Name: r.text(), Layers: r.int(), Hidden: r.int(), Heads: r.int(), KVHeads: r.int(), HeadDim: r.int(),
			FFN: r.int(), Vocab: r.int(), Tied: r.int() == 1, QKVBias: r.int() == 1, Norms: r.int(), QKNorm: r.int() == 1,
			Experts: r.int(), ExpertsUsed: r.int(), ExpertFFN: r.int(), SharedExperts: r.int(), DenseLayers: r.int(),
			RouterBias: r.int() == 1, QLora: r.int(), KVLora: r.int(), RopeDim: r.int(), NopeDim: r.int(), VDim: r.int(),
			Window: r.int(), WindowEvery: r.int(), Context: r.int(), Source: r.text(),
		}
	})
})

// FindAccelerator returns the device of a name; the error lists those there are.
func FindAccelerator(name string) (Accelerator, error) {
	var names []string
	for _, a := range Accelerators() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Accelerator{}, fmt.Errorf("engine: unknown accelerator %q: one of %s", name, strings.Join(names, ", "))
}

// FindModel returns the model of a name; the error lists those there are.
func FindModel(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("engine: unknown model %q: one of %s", name, strings.Join(names, ", "))
}
