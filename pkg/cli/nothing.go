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

// selection is what the flags of a command select of the input.
type selection struct{ *session }

// known refuses a namespace that is not there. Where that cannot be known, it may be.
func (s selection) known() error {
	name, cluster := s.flags.namespace, s.Snapshot.Cluster
	if name == "" || s.flags.allNamespaces || cluster != nil && !cluster.Knows(model.GroupKind{Kind: "Namespace"}, "") {
		return nil
	}
	all := unique(namespaceWords(s.session, nil, ""))
	if slices.Contains(all, name) {
		return nil
	}
	hint := ""
	switch near := form.Nearest(name, all); {
	case len(near) > 0:
		hint = "did you mean " + near[0] + "?"
	case len(all) > 0:
		hint = "there are: " + strings.Join(firstFew(all), ", ")
	}
	if err := s.tellUnread(); err != nil {
		return err
	}
	where := "in the input"
	if cluster != nil {
		where = "in cluster " + cluster.Context
	}
	return &noAnswer{fmt.Sprintf("no namespace %q %s", name, where), hint}
}

// nothing says that no route is selected, "" if one is: that no policy is in force then says nothing.
func (s selection) nothing(targets []topology.NodeID, labels string) string {
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
	what += s.where()
	if targets == nil {
		what += ": " + view.Counted(len(s.Snapshot.Objects), "object was|objects were") + " read"
	}
	return what
}

// vacant is an answer that can have nothing to say.
type vacant interface{ Empty() bool }

// nothingSaid is what to say in place of an answer without content, "" if it has some.
func (q *question) nothingSaid(session *session, v render.View) string {
	e, ok := v.(vacant)
	if !ok || !e.Empty() {
		return ""
	}
	if _, statuses := v.(*view.StatusList); statuses {
		return "no policies " + session.where()
	}
	return q.nothing
}

// writeNothing says so; an answer for programs is written all the same.
func (q *question) writeNothing(s Streams, session *session, what string, v render.View, e *view.Envelope) error {
	switch render.Format(q.format) {
	case render.Table, render.Wide, render.Tree, render.Name:
		if q.parsed != nil {
			break
		}
		for _, line := range append([]string{what}, e.Closing()...) {
			fmt.Fprintln(s.Err, render.Escape(line))
		}
		if q.strict && !e.Complete {
			return errIncomplete
		}
		return nil
	}
	fmt.Fprintln(s.Err, render.Escape(what))
	return q.writeOnly(s, session, "", v, e)
}
