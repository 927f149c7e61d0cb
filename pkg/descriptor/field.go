package descriptor

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// wordField reads one of a set of words that have a type of their own; later ones belong to the
// schema but are not built yet.
func wordField[W ~string](r *form.Reader, into *W, words []W) form.Field {
	return func(n *yaml.Node) {
		known := make([]string, len(words))
		for i, w := range words {
			known[i] = string(w)
		}
		text := string(*into)
		r.Word(&text, known)(n)
		*into = W(text)
	}
}

// eitherField reads one of two words, and whether it is the second; later ones belong to the schema
// but are not built yet.
func eitherField(r *form.Reader, into *bool, no, yes string) form.Field {
	return func(n *yaml.Node) {
		text := no
		r.Word(&text, []string{no, yes})(n)
		*into = text == yes
	}
}

// functionField finds the function that a text names among those that vendors registered. A name
// that nobody registered is a mistake: the work would be left undone silently.
func functionField[F any](r *form.Reader, into *F, known map[string]F, what string) form.Field {
	return func(n *yaml.Node) {
		var name string
		r.Text(&name)(n)
		findFunction(r, n, into, name, known, what)
	}
}

// funcObjectField reads {func: NAME} and finds the function.
func funcObjectField[F any](r *form.Reader, into *F, known map[string]F, what string) form.Field {
	return func(n *yaml.Node) {
		var name string
		r.Object(n, map[string]form.Field{"func": r.Text(&name)})
		findFunction(r, n, into, name, known, what)
	}
}

func findFunction[F any](r *form.Reader, n *yaml.Node, into *F, name string, known map[string]F, what string) {
	f, ok := known[name]
	if *into = f; !ok {
		r.Fail(n, "there is no function %q %s", name, what)
	}
}

// functionListField reads a list of {func: NAME}.
func functionListField[F any](r *form.Reader, into *[]F, known map[string]F, what string) form.Field {
	return func(n *yaml.Node) {
		*into = nil
		r.List(n, func(e *yaml.Node) {
			var f F
			funcObjectField(r, &f, known, what)(e)
			*into = append(*into, f)
		})
	}
}

// remoteFuncField reads {func: NAME} of a function that is called elsewhere: here only its name
// counts.
func (r reader) remoteFuncField(into *string, known []string, what string) form.Field {
	return func(n *yaml.Node) { r.Object(n, map[string]form.Field{"func": r.remoteNameField(into, known, what)}) }
}

func (r reader) remoteNameField(into *string, known []string, what string) form.Field {
	return func(n *yaml.Node) {
		r.Text(into)(n)
		if *into != "" && !slices.Contains(known, *into) {
			r.Fail(n, "there is no function %q %s", *into, what)
		}
	}
}

// kindsField reads a list of kinds, written Kind.group; those of policies have a group.
func (r reader) kindsField(into *[]model.GroupKind, ofPolicies bool) form.Field {
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

// readRole reads a role of the families of traffic.
func (r reader) readRole(n *yaml.Node) (role topology.Role) {
	wordField(r.Reader, &role, []topology.Role{topology.GatewayClass, topology.Gateway, topology.ListenerSet,
		topology.Listener, topology.Route, topology.Rule,
		topology.Backend, topology.Port, topology.Frontend, topology.Namespace, topology.Workload, topology.Cluster,
		policy.FilterLevel, policy.SectionLevel, policy.PortLevel, policy.InlineRule, policy.InlineBackend,
		policy.InlinePort})(n)
	return role
}

// rolesField reads a list of roles of the families of traffic.
func rolesField[W ~string](r reader, into *[]W) form.Field {
	return func(n *yaml.Node) {
		*into = []W{}
		r.List(n, func(e *yaml.Node) { *into = append(*into, W(r.readRole(e))) })
	}
}

// openRolesField reads roles, which may be those of linkers.
func (r reader) openRolesField(into *[]topology.Role) form.Field {
	return func(n *yaml.Node) {
		var words []string
		r.Texts(&words)(n)
		for _, w := range words {
			*into = append(*into, topology.Role(w))
		}
	}
}
