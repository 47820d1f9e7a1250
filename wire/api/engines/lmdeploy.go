package engines

// lmdeployEngine is LMDeploy.
var lmdeployEngine = &engine{
	name: "lmdeploy", title: "LMDeploy",
	owners: []trait{owner("lmdeploy")},
	speaks: []string{"openai-chat", "openai-completions"},
}
