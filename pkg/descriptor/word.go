package descriptor

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// word reads one of a set of words that have a type of their own; later ones belong to the schema but are not built yet.
func word[W ~string](r *form.Reader, into *W, now []W, later ...string) form.Field {
	return func(n *yaml.Node) {
		known := make([]string, len(now))
		for i, w := range now {
			known[i] = string(w)
		}
		text := string(*into)
		r.Word(&text, known, later...)(n)
		*into = W(text)
	}
}

// function finds the function that a text names among those that vendors registered. A name that nobody did is a mistake: it would leave the work
// undone without a word.
func function[F any](r *form.Reader, n *yaml.Node, known map[string]F, what string) F {
	var name string
	r.Text(&name)(n)
	return registered(r, n, name, known, what)
}

// named reads {func: NAME} and finds the function.
func named[F any](r *form.Reader, n *yaml.Node, known map[string]F, what string) F {
	var name string
	r.Object(n, map[string]form.Field{"func": r.Text(&name)})
	return registered(r, n, name, known, what)
}

func registered[F any](r *form.Reader, n *yaml.Node, name string, known map[string]F, what string) F {
	f, ok := known[name]
	if !ok {
		r.Fail(n, "there is no function %q %s", name, what)
	}
	return f
}

// functions reads a list of {func: NAME}.
func functions[F any](r *form.Reader, n *yaml.Node, known map[string]F, what string) []F {
	var out []F
	r.List(n, func(e *yaml.Node) { out = append(out, named(r, e, known, what)) })
	return out
}

// names are functions that are called elsewhere: here only their names count.
func names(known []string) map[string]string {
	out := make(map[string]string, len(known))
	for _, name := range known {
		out[name] = name
	}
	return out
}

// kinds reads a list of kinds, written Kind.group; those of policies have a group.
func (r reader) kinds(into *[]model.GroupKind, ofPolicies bool) form.Field {
	what := "not a kind"
	if ofPolicies {
		what = "no policy kind"
	}
	return func(n *yaml.Node) {
		r.List(n, func(e *yaml.Node) {
			var name string
			r.Text(&name)(e)
			gk := model.ParseGroupKind(name)
			if gk.Kind == "" || ofPolicies && gk.Group == "" {
				r.Fail(e, "%q is %s, written Kind.group", name, what)
			}
			*into = append(*into, gk)
		})
	}
}

// role reads a role of the families of traffic.
func (r reader) role(n *yaml.Node) (role topology.Role) {
	word(r.Reader, &role, []topology.Role{topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener, topology.Route, topology.Rule,
		topology.Backend, topology.Port, topology.Frontend, topology.Namespace, topology.Workload, topology.Cluster, policy.FilterLevel, policy.SectionLevel}, "mesh")(n)
	return role
}

// roles reads a list of roles of the families of traffic.
func roles[W ~string](r reader, into *[]W) form.Field {
	return func(n *yaml.Node) {
		*into = []W{}
		r.List(n, func(e *yaml.Node) { *into = append(*into, W(r.role(e))) })
	}
}

// openRoles reads roles, which may be those of linkers.
func (r reader) openRoles(into *[]topology.Role) form.Field {
	return func(n *yaml.Node) {
		var words []string
		r.Texts(&words)(n)
		for _, w := range words {
			*into = append(*into, topology.Role(w))
		}
	}
}
