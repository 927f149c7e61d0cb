package resolve

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// selected finds the objects that a label selector picks.
func (k *attacher) selected(p *policy.Policy, t policy.TargetRef, warn func(model.Code, string, string, ...any)) []topology.NodeID {
	var out []topology.NodeID
	var forbidden []string
	for _, o := range k.candidates(t) {
		inside := o.Ref.Namespace == t.Ref.Namespace
		if clusterScoped(o.Ref.GroupKind()) {
			inside = k.Cluster || k.Namespaces == policy.AnyNamespace || o.Ref.Name == p.Ref().Namespace || o.Ref.Kind != "Namespace"
		}
		if !t.Selects.Picks(o) || !t.Selects.Looks(inside, k.res.Snapshot.Get(model.Ref{Kind: namespaceKind.Kind, Name: o.Ref.Namespace})) {
			continue
		}
		if !inside && !t.Selects.Everywhere && !k.res.Graph.Granted(k.GroupKind, p.Ref().Namespace, o.Ref) {
			forbidden = append(forbidden, o.Ref.FullName())
			continue
		}
		one := t
		one.Ref = o.Ref.In(t.Ref.Section)
		found := slices.Concat(k.res.Graph.Lookup(one.Ref), k.inSets(one))
		if t.Port != 0 {
			found = k.byPort(t, found)
		}
		if len(found) > 0 && !(t.Named && k.res.unnamed(found[0], t.Ref.Section)) {
			out = append(out, found...)
		}
	}
	kind := strings.ToLower(t.Ref.Kind)
	if len(forbidden) > 0 {
		warn(model.RefNotPermitted, "a ReferenceGrant in the namespace of the target must allow it", "no ReferenceGrant lets %s select %s: not attached there", p.Ref(), kind+" "+strings.Join(forbidden, ", "))
	}
	if len(out) > 0 {
		return out
	}
	if gaps := k.Gaps().Ref(t); len(gaps) > 0 {
		warn(model.NotEvaluated, "ask for the permission to list them", "which objects the selector picks is not known: %s may not be read", strings.Join(k.res.Unread(gaps), ", "))
	} else if !t.Silent {
		warn(model.TargetNotFound, "", "no %s in namespace %s has the labels that the selector asks for", kind, t.Ref.Namespace)
	}
	return out
}

// labelIndex names an index: the objects of a kind by the value of a label, in the order of the input, and of each namespace apart if
// namespaced. Without a key, all objects have the value "".
type labelIndex struct {
	kind       model.GroupKind
	key        string
	namespaced bool
}

// labelled is where objects stand in an index: a value of the label, in a namespace if these are apart.
type labelled struct{ namespace, value string }

// candidates are the objects of which a selector may pick some: of the namespace that it looks into, and with a label that it asks for.
func (k *attacher) candidates(t policy.TargetRef) []*model.Object {
	index := labelIndex{kind: t.Ref.GroupKind(), namespaced: !t.Selects.Wide() && !clusterScoped(t.Ref.GroupKind())}
	at := labelled{}
	index.key, at.value = t.Selects.Label()
	if index.namespaced {
		at.namespace = t.Ref.Namespace
	} else if index.key == "" {
		return k.res.Snapshot.Of(index.kind)
	}
	return Shared(k.res, index, func() map[labelled][]*model.Object { return index.read(k.res.Snapshot) })[at]
}

func (x labelIndex) read(in *model.Snapshot) map[labelled][]*model.Object {
	out := map[labelled][]*model.Object{}
	for _, o := range in.Of(x.kind) {
		var at labelled
		if x.namespaced {
			at.namespace = o.Ref.Namespace
		}
		if x.key != "" {
			value, has := o.Labels[x.key]
			if !has {
				continue
			}
			at.value = value
		}
		out[at] = append(out[at], o)
	}
	return out
}
