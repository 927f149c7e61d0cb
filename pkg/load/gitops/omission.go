package gitops

import (
	"cmp"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/input"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// deployingKind says where objects of a kind deploy other objects to.
type deployingKind struct {
	namespace []string // the field with the namespace of what they deploy
	isOwn     bool     // without one, it is the namespace of the object
}

// deployingKinds are the kinds of which every object has others deployed.
func deployingKinds() map[string]deployingKind {
	return map[string]deployingKind{
		fluxKustomization:  {namespace: []string{"spec", "targetNamespace"}},
		helmRelease:        {namespace: []string{"spec", "targetNamespace"}, isOwn: true},
		argoApplication:    {namespace: []string{"spec", "destination", "namespace"}},
		argoApplicationSet: {namespace: []string{"spec", "template", "spec", "destination", "namespace"}},

		"helm.cattle.io/HelmChart": {namespace: []string{"spec", "targetNamespace"}, isOwn: true},
		resourceSet:                {},
	}
}

// FindOmission returns that what an object has deployed was not read; nil if it has nothing
// deployed, or if that was followed. Objects that were read from a cluster have done their work:
// what they deployed is in the cluster too.
func FindOmission(o *model.Object, followed map[input.Follower]bool) *model.Omission {
	by := input.Follower{Kind: o.Ref.Group + "/" + o.Ref.Kind, Namespace: o.Ref.Namespace, Name: o.Ref.Name}
	kind, deploys := deployingKinds()[by.Kind]
	if !deploys || followed[by] || o.Text("metadata", "uid") != "" {
		return nil
	}
	return &model.Omission{By: o.Ref.String(), Why: "is not rendered",
		Namespace: kind.targetNamespace(o.Ref.Namespace, o.Text(kind.namespace...))}
}

// targetNamespace returns where an object in a namespace deploys to, which names another or none;
// "" where that is not known.
func (k deployingKind) targetNamespace(own, named string) string {
	if k.isOwn {
		named = cmp.Or(named, own)
	}
	if model.HasVariable(named) {
		return ""
	}
	return named
}

// targetNamespace is where the objects of a source go; "" where that is not known.
func (l *gitopsSource) targetNamespace() string {
	kind := deployingKinds()[l.kind]
	return kind.targetNamespace(l.namespace, l.textAt(kind.namespace...))
}

func (l *gitopsSource) toFollower() input.Follower {
	return input.Follower{Kind: l.kind, Namespace: l.namespace, Name: l.name}
}
