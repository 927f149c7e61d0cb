package policy

import (
	"errors"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// ReadPodSelector reads which pods a policy, or an entry of it, is about: {namespaces: SELECTOR}
// for all pods of some namespaces, or {pods: {namespaceSelector, podSelector}} for some of their
// pods. The error says why it cannot be read; it selects nothing then.
func ReadPodSelector(v model.Body) (selector.PodSelector, error) {
	namespaces, pods := v.Field("namespaces"), v.Field("pods")
	var none selector.PodSelector
	switch {
	case !v.IsObject():
		return none, errors.New("it is no object")
	case namespaces.IsNull() == pods.IsNull():
		return none, errors.New("it has to have one of namespaces and pods")
	case !namespaces.IsNull():
		s, err := selector.ReadLabelSelector(namespaces)
		if err != nil {
			return none, fmt.Errorf("namespaces: %w", err)
		}
		return selector.PodSelector{Namespaces: s, Pods: selector.Everything()}, nil
	case !pods.IsObject():
		return none, errors.New("pods is no object")
	}
	out := selector.PodSelector{}
	for _, part := range []struct {
		name string
		into *selector.LabelSelector
	}{{"namespaceSelector", &out.Namespaces}, {"podSelector", &out.Pods}} {
		field := pods.Field(part.name)
		if field.IsNull() {
			return none, fmt.Errorf("pods.%s is missing", part.name)
		}
		s, err := selector.ReadLabelSelector(field)
		if err != nil {
			return none, fmt.Errorf("pods.%s: %w", part.name, err)
		}
		*part.into = s
	}
	return out, nil
}

// NewSubjectAttacher returns an Attacher that finds the workloads which the subject of a policy
// selects.
func NewSubjectAttacher(at []string) Attacher {
	return func(p *Policy, g *topology.Graph, _ *model.Snapshot, _ model.Settings) ([]Attached, []model.Problem) {
		s, err := ReadPodSelector(p.Object.Body.At(at...))
		if err != nil {
			return nil, []model.Problem{UnreadableProblem(p, at, err)}
		}
		return AttachPods(p, at, s, g)
	}
}

// UnreadableProblem says that a policy does not attach because of what stands at a path.
func UnreadableProblem(p *Policy, at []string, err error) model.Problem {
	return model.Problem{Severity: model.Warning, Code: model.WrongType,
		Message: fmt.Sprintf("%s cannot be read (%s): the policy does not attach", strings.Join(at, "."),
			err)}.At(p.Object, at...)
}

// AttachPods attaches a policy to the workloads that a selector, which stands at a path, selects.
// Where that is not known it does not attach, and says so once.
func AttachPods(p *Policy, at []string, s selector.PodSelector, g *topology.Graph) ([]Attached, []model.Problem) {
	var out []Attached
	var unknown []string
	for _, ns := range g.Order(topology.Namespaced) {
		if g.Node(ns).Role != topology.Namespace || g.SelectsPodsIn(s, g.Node(ns).Ref.Name) == selector.No {
			continue
		}
		maybe := false
		for _, id := range g.WorkloadsIn(ns) {
			switch g.SelectsWorkload(s, id) {
			case selector.Yes:
				out = append(out, Attached{Policy: p, Node: id, Ref: -1})
			case selector.Maybe:
				maybe = true
			}
		}
		if maybe {
			unknown = append(unknown, g.Node(ns).Ref.Name)
		}
	}
	if len(unknown) == 0 {
		return out, nil
	}
	problem := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Hint: "add the manifests of the Namespaces",
		Message: fmt.Sprintf(
			"cannot tell whether it selects pods of %s: the labels of the namespace are not in the input",
			strings.Join(unknown, ", "))}.At(p.Object, at...)
	return out, []model.Problem{problem}
}
