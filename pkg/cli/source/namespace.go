package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ListNamespaces returns the namespaces of the input.
func ListNamespaces(s *Session, _ []string, _ string) []string {
	var out []string
	for _, ref := range s.Snapshot.Refused() {
		if ref.Namespace != "" {
			out = append(out, ref.Namespace)
		}
	}
	for _, o := range s.Snapshot.Objects {
		switch {
		case o.Ref.Namespace != "":
			out = append(out, o.Ref.Namespace)
		case o.Ref.Group == "" && o.Ref.Kind == "Namespace":
			out = append(out, o.Ref.Name)
		}
	}
	return out
}

// CheckNamespace refuses a namespace that does not exist. Where that cannot be known, it is
// accepted.
func (s *Session) CheckNamespace() error {
	name, cluster := s.Flags.Namespace, s.Snapshot.Cluster
	if name == "" || s.Flags.AllNamespaces || cluster != nil &&
		!cluster.HasReadAll(model.GroupKind{Kind: "Namespace"}, "") {
		return nil
	}
	all := slices.Compact(slices.Sorted(slices.Values(ListNamespaces(s, nil, ""))))
	if slices.Contains(all, name) {
		return nil
	}
	hint := ""
	switch near := form.Nearest(name, all); {
	case len(near) > 0:
		hint = "did you mean " + near[0] + "?"
	case len(all) > 0:
		hint = "there are: " + strings.Join(LimitNames(all), ", ")
	}
	if err := s.PrintUnread(); err != nil {
		return err
	}
	where := "in the input"
	if cluster != nil {
		where = "in cluster " + cluster.Context
	}
	return failure.NoAnswer(fmt.Sprintf("no namespace %q %s", name, where), hint)
}

// DescribeEmpty says that no route is selected, "" if one is: that no policy is in force then says
// nothing.
func (s *Session) DescribeEmpty(targets []topology.NodeID, labels string) string {
	route := func(id topology.NodeID) bool {
		role := s.Node(id).Role
		return role == topology.Route || role == topology.Rule
	}
	if targets == nil {
		for id := range s.Graph.Len() {
			if route(topology.NodeID(id)) {
				return ""
			}
		}
	} else if slices.ContainsFunc(targets, route) {
		return ""
	}
	what := "no routes "
	if labels != "" {
		what += "with the labels " + labels + " "
	}
	what += s.DescribeScope()
	if targets == nil {
		what += ": " + view.FormatCount(s.Snapshot.CountRead(), "object was|objects were") + " read"
		if n := len(s.Snapshot.Refused()); n > 0 {
			what += fmt.Sprintf(", %d of them refused by the API server", n)
		}
	}
	return what
}
