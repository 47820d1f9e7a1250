package workload

import (
	_ "embed"
	"slices"
	"sync"

	"tokenmeter/base/config"
)

//go:embed scenarios.yaml
var scenariosYAML []byte

// Scenario is a situation that servers are bought for: what comes, and what
// people there expect.
type Scenario struct {
	Name     string `yaml:"name" required:"true" doc:"how it is called"`
	About    string `yaml:"about" required:"true" doc:"who asks what"`
	Workload Spec   `yaml:"workload" required:"true" doc:"what is sent, and when"`
	// Objectives are what people there expect, unless others are given.
	Objectives []string `yaml:"objectives" doc:"promises to hold a run to"`
	// Readers are speeds at which answers are read there, in tokens a second.
	Readers []float64 `yaml:"readers" doc:"tokens a second that people, or programs, read at"`
}

type scenarioFile struct {
	Scenarios []Scenario `yaml:"scenarios" required:"true"`
}

// Scenarios are those inside the program.
var Scenarios = sync.OnceValue(func() []Scenario {
	var f scenarioFile
	if err := config.Decode("scenarios.yaml", scenariosYAML, &f).Err(); err != nil {
		panic(err) // embedded; a test reads it
	}
	return f.Scenarios
})

// FindScenario returns the scenario of a name.
func FindScenario(name string) (Scenario, bool) {
	all := Scenarios()
	i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name })
	if i < 0 {
		return Scenario{}, false
	}
	return all[i], true
}

// ScenarioNames lists them.
func ScenarioNames() (names []string) {
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}
