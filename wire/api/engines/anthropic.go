package engines

import "tokenmeter/wire/api"

// anthropicServer is Anthropic's own service, or what speaks just as it does.
var anthropicServer = &engine{
	name: "anthropic", title: "Anthropic",
	owners: []trait{{path: "/v1/models", sign: api.Sign{"data/type=model", "has_more"}}},
	speaks: []string{api.Anthropic.Name},
}
