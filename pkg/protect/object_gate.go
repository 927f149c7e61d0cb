package protect

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// GatesOf lists the gates that the rules of the kind make of another object of it, as if that stood
// where these settings stand.
func (in Input) GatesOf(o *model.Object, funcs Functions) []Gate {
	part := *in.Settings
	part.Rule, part.owner, part.doc = nil, o.Ref, o.Body.At(part.Kind.Content.At...).Value()
	in.Settings, in.Rule, in.Path = &part, nil, nil
	return in.buildDescribedGates(funcs)
}
