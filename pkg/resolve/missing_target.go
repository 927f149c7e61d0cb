package resolve

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
)

// MissingTarget returns what the policy's i-th reference names and the input does not have: an
// object, or a section of one. It is false for a reference that leads somewhere, that is refused
// for another reason, or whose target may be among what could not be read.
func (k *Kind) MissingTarget(p *policy.Policy, i int) (model.Ref, bool) {
	t := p.Refs[i]
	if k.Scope != nil || p.Refused || t.Selection != nil || k.HasTarget(p, i) || !k.SeesNamespace(p.Ref().Namespace) ||
		len(k.Gaps().OfRef(t)) > 0 {
		return model.Ref{}, false
	}
	ref := t.Ref
	if attach.IsClusterScoped(ref.GroupKind()) {
		ref.Namespace = ""
	}
	if found := k.res.Graph.Lookup(ref); len(found) > 0 {
		return ref, t.RuleNameOnly && k.res.IsUnnamedRule(found[0], ref.Section)
	}
	return ref, ref.Section != "" || k.res.Snapshot.Get(ref) == nil
}
