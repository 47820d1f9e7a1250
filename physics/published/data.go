package published

import (
	"embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
)

//go:embed data
var files embed.FS

// read is the lines of one embedded table. A fault in it is a fault of the program.
func read(name string, columns int) [][]string {
	text, err := files.ReadFile("data/" + name + ".csv")
	if err != nil {
		panic(err)
	}
	in := csv.NewReader(strings.NewReader(string(text)))
	in.Comment, in.FieldsPerRecord = '#', columns
	rows, err := in.ReadAll()
	if err != nil {
		panic(fmt.Sprintf("published: %s: %v", name, err))
	}
	return rows
}

func number(text string) float64 {
	if text == "" {
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("published: %v", err))
	}
	return v
}

// Source is where a figure was published.
type Source struct {
	ID, Title string
	Address   string // empty where there is none
}

// Sources lists all that figures are from.
func Sources() (all []Source) {
	for _, row := range read("sources", 3) {
		all = append(all, Source{row[0], row[1], row[2]})
	}
	return all
}
