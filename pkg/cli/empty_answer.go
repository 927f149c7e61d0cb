package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// checkNamespace refuses a namespace that does not exist. Where that cannot be known, it is
// accepted.
func (s *session) checkNamespace() error {
	name, cluster := s.flags.namespace, s.Snapshot.Cluster
	if name == "" || s.flags.allNamespaces || cluster != nil && !cluster.HasReadAll(model.GroupKind{Kind: "Namespace"}, "") {
		return nil
	}
	all := slices.Compact(slices.Sorted(slices.Values(listNamespaces(s, nil, ""))))
	if slices.Contains(all, name) {
		return nil
	}
	hint := ""
	switch near := form.Nearest(name, all); {
	case len(near) > 0:
		hint = "did you mean " + near[0] + "?"
	case len(all) > 0:
		hint = "there are: " + strings.Join(limitNames(all), ", ")
	}
	if err := s.printUnread(); err != nil {
		return err
	}
	where := "in the input"
	if cluster != nil {
		where = "in cluster " + cluster.Context
	}
	return newNoAnswerError(fmt.Sprintf("no namespace %q %s", name, where), hint)
}

// describeEmpty says that no route is selected, "" if one is: that no policy is in force then says
// nothing.
func (s *session) describeEmpty(targets []topology.NodeID, labels string) string {
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
	what += s.describeScope()
	if targets == nil {
		what += ": " + view.FormatCount(len(s.Snapshot.Objects), "object was|objects were") + " read"
	}
	return what
}

// emptyView is an answer that can have no content.
type emptyView interface{ Empty() bool }

// emptyAnswerMessage is what to print in place of an answer without content, "" if it has some.
func (f *outputFlags) emptyAnswerMessage(session *session, v render.View) string {
	e, ok := v.(emptyView)
	if !ok || !e.Empty() {
		return ""
	}
	if _, statuses := v.(*view.StatusList); statuses {
		return "no policies " + session.describeScope()
	}
	return f.emptyMessage
}

// writeEmptyAnswer prints the message; an answer for programs is written all the same.
func (f *outputFlags) writeEmptyAnswer(s Streams, session *session, what string, v render.View, e *view.Envelope) error {
	switch render.Format(f.format) {
	case render.Table, render.Wide, render.Tree, render.Name:
		if f.template.parsed != nil {
			break
		}
		for _, line := range append([]string{what}, e.IncompleteLines()...) {
			fmt.Fprintln(s.Err, render.Escape(line))
		}
		if f.strict && !e.Complete {
			return errIncomplete
		}
		return nil
	}
	fmt.Fprintln(s.Err, render.Escape(what))
	return f.writeOnly(s, session, "", v, e)
}
