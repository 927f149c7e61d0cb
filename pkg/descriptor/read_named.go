package descriptor

import (
	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// namingField reads which objects name policies, and where.
func (r attachmentReader) namingField(into *[]policy.NamingRule) form.Field {
	return func(n *yaml.Node) {
		r.List(n, func(e *yaml.Node) {
			var by policy.NamingRule
			var kind string
			r.Object(e, map[string]form.Field{"kind": r.Text(&kind), "at": r.Path(&by.At),
				"annotation": r.Text(&by.Annotation),
				"namespace":  eitherField(r.Reader, &by.Explicit, "own", "field"), "by": r.namingField(&by.NamedBy),
				"apart": r.Text(&by.Apart)})
			by.Kind = model.ParseGroupKind(kind)
			if by.Kind.Group == "" {
				by.Kind.Group = policy.DefaultGroup(by.Kind.Kind)
			}
			if kind == "" || (by.At == nil) == (by.Annotation == "") {
				r.Fail(e, "who names policies needs \"kind\", and \"at\" or \"annotation\"")
			}
			*into = append(*into, by)
		})
	}
}

// filterRoutes reads the kinds of routes whose filters name policies.
func (r attachmentReader) filterRoutes(n *yaml.Node, kinds []string) []string {
	if kinds == nil {
		return []string{"HTTPRoute"}
	}
	for _, kind := range kinds {
		if kind != "HTTPRoute" && kind != "GRPCRoute" {
			r.Fail(n, "%q is not one of HTTPRoute, GRPCRoute", kind)
		}
	}
	return kinds
}

// readEntries reads where a policy has settings for single routes.
func (r specReader) readEntries(n *yaml.Node) {
	e := &policy.Entries{}
	r.Object(n, map[string]form.Field{"at": r.Path(&e.At), "settings": r.Path(&e.Settings),
		"func": functionField(r.Reader, &e.Choose, r.funcs.Entries, "to choose entries")})
	if e.At == nil || e.Settings == nil || e.Choose == nil {
		r.Fail(n, "entries need \"at\", \"settings\" and \"func\"")
	}
	r.kind.Content.Entries = e
}
