package bench

import (
	"cmp"
	"tokenmeter/load/workload"
	"tokenmeter/wire/api"
	"tokenmeter/wire/client"
)

// DryRun returns the first request of a plan as a curl command, with secrets
// shown as ***. Nothing is sent; a model that would be asked from the server is
// shown as MODEL.
func DryRun(plan Plan) (string, error) {
	plan.settle()
	if err := plan.check(); err != nil {
		return "", err
	}
	work, err := plan.work()
	if err != nil {
		return "", err
	}
	cl, err := client.New(plan.Client)
	if err != nil {
		return "", &UsageError{err}
	}
	defer cl.Close()
	first := int64(0)
	if plan.Trace != nil {
		if first, _, _, err = plan.trace().Preview(0); err != nil {
			return "", &UsageError{err}
		}
	}
	item := work.Item(first)
	req := api.Request{
		Model: cmp.Or(item.Model, plan.Model), Messages: item.Conversation(0, nil), MaxTokens: item.MaxTokens,
		Stream: !plan.NoStream, IgnoreEOS: plan.IgnoreEOS && item.MaxTokens.OK(), Extra: plan.extra(&item.Step),
	}
	plan.Session.identify(&req, "RUN", &item, 0)
	req.Model = cmp.Or(req.Model, "MODEL")
	return cl.DryRun(&req)
}

// WorkOf returns what a plan will send, without sending it.
func WorkOf(plan Plan) (workload.Workload, error) {
	plan.settle()
	if err := plan.check(); err != nil {
		return nil, err
	}
	return plan.work()
}
