package envoygateway

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// translationFault says why a policy, merged with a parent if there is one, cannot be translated,
// as far as the input tells: "" if it is not known to be so. What a field refers to is looked for
// in the namespace of the policy that it comes from.
func (s *scopeTree) translationFault(p, parent *policy.Policy) string {
	if p.Fault != "" {
		return p.Fault
	}
	if parent != nil && parent.Fault != "" {
		return parent.Fault
	}
	for _, v := range []struct {
		kind, field, list string
		at                []string
	}{
		{"BackendTrafficPolicy", "responseOverride", "ResponseOverride", []string{"response", "body", "valueRef"}},
		{"EnvoyExtensionPolicy", "lua", "Lua", []string{"valueRef"}},
	} {
		if s.kind.GroupKind.Kind != v.kind {
			continue
		}
		from := p
		if p.Object.Body.At("spec", v.field).IsNull() && parent != nil {
			from = parent // lists come from one side
		}
		for _, entry := range from.Object.Body.At("spec", v.field).Items {
			ref := entry.At(v.at...)
			if ref.IsNull() || ref.Text("kind") != "ConfigMap" {
				continue
			}
			to := model.Ref{Kind: "ConfigMap", Namespace: from.Ref().Namespace, Name: ref.Text("name")}
			if flaw, _ := s.res.Graph.CheckAuthority(to); flaw == reference.MissingCertificate {
				if v.kind == "EnvoyExtensionPolicy" {
					return fmt.Sprintf("%s: can't find the referenced configmap %s in namespace %s", v.list,
						to.Name, to.Namespace)
				}
				return fmt.Sprintf("%s: can't find the referenced configmap %s", v.list, to.FullName())
			}
		}
	}
	return ""
}
