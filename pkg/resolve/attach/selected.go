package attach

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// selectTargets finds the objects that a label selector picks.
func (k *attacher) selectTargets(p *policy.Policy, t policy.TargetRef, warn func(model.Code, string, string,
	...any)) []topology.NodeID {
	var out []topology.NodeID
	var forbidden []string
	for _, o := range k.selectorCandidates(t) {
		inside := o.Ref.Namespace == t.Ref.Namespace
		if IsClusterScoped(o.Ref.GroupKind()) {
			inside = k.ClusterScoped || k.Namespaces == policy.AnyNamespace || o.Ref.Name == p.Ref().Namespace ||
				o.Ref.Kind != "Namespace"
		}
		if !t.Selection.SelectsObject(o) ||
			!t.Selection.IncludesNamespace(inside, k.res.Snapshot.Get(model.Ref{Kind: NamespaceKind.Kind,
				Name: o.Ref.Namespace})) {
			continue
		}
		if !inside && !t.Selection.Everywhere && !k.res.Graph.IsGranted(k.GroupKind, p.Ref().Namespace, o.Ref) {
			forbidden = append(forbidden, o.Ref.FullName())
			continue
		}
		one := t
		one.Ref = o.Ref.WithSection(t.Ref.Section)
		found := slices.Concat(k.res.Graph.Lookup(one.Ref), k.listenersInSets(one))
		if t.Port != 0 {
			found = k.listenersByPort(t, found)
		}
		if len(found) > 0 && !(t.RuleNameOnly && k.res.IsUnnamedRule(found[0], t.Ref.Section)) {
			out = append(out, found...)
		}
	}
	kind := strings.ToLower(t.Ref.Kind)
	if len(forbidden) > 0 {
		warn(model.RefNotPermitted, "a ReferenceGrant in the namespace of the target must allow it",
			"no ReferenceGrant lets %s select %s: not attached there", p.Ref(), kind+" "+strings.Join(forbidden, ", "))
	}
	if len(out) > 0 {
		return out
	}
	if unread := k.unread(t); len(unread) > 0 {
		warn(model.NotEvaluated, "ask for the permission to list them",
			"cannot tell which objects the selector picks: %s forbidden", strings.Join(unread, ", "))
		return out
	}
	if t.Silent {
		return out
	}
	// a selector is no reference that dangles: what is included everywhere need not find anything
	none := model.Problem{Severity: model.Info, Code: model.TargetNotFound, Message: fmt.Sprintf(
		"no %s in namespace %s has the labels that the selector asks for", kind, t.Ref.Namespace)}
	if o := k.res.Snapshot.FindOmission(t.Ref.GroupKind(), t.Ref.Namespace); o != nil {
		none.Code = model.NotEvaluated
		none.Message = fmt.Sprintf("cannot tell which %ss the selector picks: %s", kind, o)
	}
	k.res.addRefProblem(p, t, none)
	return out
}

// labelIndex names an index: the objects of a kind by the value of a label, in the order of the
// input, and of each namespace apart if namespaced. Without a key, all objects have the value "".
type labelIndex struct {
	kind       model.GroupKind
	key        string
	namespaced bool
}

// labelKey is where objects stand in an index: a value of the label, in a namespace if these are
// apart.
type labelKey struct{ namespace, value string }

// selectorCandidates returns the objects of which a selector may pick some: of the namespace that
// it looks into, and with a label that it asks for.
func (k *attacher) selectorCandidates(t policy.TargetRef) []*model.Object {
	index := labelIndex{kind: t.Ref.GroupKind(), namespaced: !t.Selection.CanCrossNamespaces() &&
		!IsClusterScoped(t.Ref.GroupKind())}
	at := labelKey{}
	index.key, at.value = t.Selection.RequiredLabel()
	if index.namespaced {
		at.namespace = t.Ref.Namespace
	} else if index.key == "" {
		return k.res.Snapshot.OfKind(index.kind)
	}
	objects, ok := k.res.objectsByLabel[index]
	if !ok {
		objects = index.buildIndex(k.res.Snapshot)
		k.res.objectsByLabel[index] = objects
	}
	return objects[at]
}

func (x labelIndex) buildIndex(in *model.Snapshot) map[labelKey][]*model.Object {
	out := map[labelKey][]*model.Object{}
	for _, o := range in.OfKind(x.kind) {
		var at labelKey
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
