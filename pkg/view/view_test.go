package view

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// httpRoute names a route of namespace bakery, or a rule of it.
func httpRoute(name, section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "bakery", Name: name, Section: section}
}

// gateway names the Gateway infra/external, or a listener of it.
func gateway(section string) model.Ref {
	return model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "infra", Name: "external", Section: section}
}

// authPolicy names an AuthPolicy.
func authPolicy(namespace, name string) *model.Ref {
	return &model.Ref{Group: "example.com", Kind: "AuthPolicy", Namespace: namespace, Name: name}
}

// from returns a block of an AuthPolicy at a target.
func from(namespace, name string, target model.Ref, level, block string) Source {
	return Source{Policy: authPolicy(namespace, name), Target: &target, Level: level, Block: block, Strategy: "merge"}
}

// loses returns a setting that a source wanted and lost.
func loses(s Source, reason string) Loss {
	return Loss{Source: s, Reason: reason, Why: explain.ShortReason(merge.Reason(reason), ""), Message: "because"}
}
