package viewtest

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// HTTPRoute names a route of namespace bakery, or a rule of it.
func HTTPRoute(name, section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "bakery", Name: name,
		Section: section}
}

// Gateway names the Gateway infra/external, or a listener of it.
func Gateway(section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "infra", Name: "external",
		Section: section}
}

// AuthPolicy names an AuthPolicy.
func AuthPolicy(namespace, name string) *model.Ref {
	return &model.Ref{Group: "example.com", Kind: "AuthPolicy", Namespace: namespace, Name: name}
}

// SourceOf returns a block of an AuthPolicy at a target.
func SourceOf(namespace, name string, target model.Ref, level, block string) view.Source {
	return view.Source{Policy: AuthPolicy(namespace, name), Target: &target, Level: level, Block: block,
		Strategy: "merge"}
}

// LossOf returns a setting that a source wanted and lost.
func LossOf(s view.Source, reason string) view.Loss {
	return view.Loss{Source: s, Reason: reason, Why: explain.ShortReason(merge.Reason(reason), ""), Message: "because"}
}
