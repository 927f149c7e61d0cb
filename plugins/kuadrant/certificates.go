package kuadrant

import (
	"cmp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// addToGraph registers which Secrets the operator has made for TLSPolicies: those of the listeners
// that end TLS for a hostname, of the targeted Gateway.
func addToGraph(b *build.Builder) {
	b.AddMaker(func(in *model.Snapshot, made func(object, by model.Ref)) {
		for _, p := range in.OfKind(model.GroupKind{Group: "kuadrant.io", Kind: "TLSPolicy"}) {
			target := p.Body.At("spec", "targetRef")
			gateway := in.Get(model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway",
				Namespace: p.Ref.Namespace, Name: target.Text("name")})
			if gateway == nil || target.Text("kind") != "Gateway" {
				continue
			}
			section := target.Text("sectionName")
			for _, l := range gateway.Body.At("spec", "listeners").Items {
				mode := l.At("tls", "mode").Text()
				if section != "" && section != l.Text("name") || l.Text("hostname") == "" || mode != "" &&
					mode != "Terminate" {
					continue
				}
				for _, r := range l.At("tls", "certificateRefs").Items {
					if cmp.Or(r.Text("kind"), "Secret") == "Secret" && r.Text("group") == "" &&
						cmp.Or(r.Text("namespace"), p.Ref.Namespace) == p.Ref.Namespace {
						made(model.Ref{Kind: "Secret", Namespace: p.Ref.Namespace, Name: r.Text("name")}, p.Ref)
					}
				}
			}
		}
	})
}
