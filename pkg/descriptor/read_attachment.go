package descriptor

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// attachmentReader reads how the policies of a kind find their targets.
type attachmentReader struct{ reader }

func (r attachmentReader) fieldReaders() map[string]form.Field {
	a := &r.kind.Attachment
	return map[string]form.Field{"targets": r.targetsField(&a.Targets),
		"mayTarget": r.targetsField(&a.MayTarget), "refs": r.readRefs,
		"namespaces": wordField(r.Reader, &a.Namespaces, []policy.Namespaces{policy.OwnNamespace, policy.WithGrant,
			policy.AnyNamespace}),
		"contest": funcObjectField(r.Reader, &a.Contest, r.funcs.Contests, "to tell which policies meet"),
		"labels":  funcObjectField(r.Reader, &a.Labels, r.funcs.Labels, "to complete labels"),
		"discovers": funcObjectField(r.Reader, &a.DiscoverNamespaces, r.funcs.Discovers,
			"to tell which namespaces are seen")}
}

func (r attachmentReader) targetsField(to *[]policy.TargetForm) form.Field {
	return func(n *yaml.Node) {
		r.List(n, func(e *yaml.Node) {
			var s string
			r.Text(&s)(e)
			name, section, _ := strings.Cut(s, "/")
			t := policy.TargetForm{GroupKind: model.ParseGroupKind(name), Section: topology.Role(section)}
			if t.GroupKind.Group == "" {
				t.GroupKind.Group = policy.DefaultGroup(t.GroupKind.Kind)
			}
			if want := policy.SectionRole(t.GroupKind); section != "" && topology.Role(section) != want {
				r.Fail(e, "%s has no section %q", t.GroupKind.Kind, section)
			}
			*to = append(*to, t)
		})
	}
}

func (r attachmentReader) readRefs(n *yaml.Node) {
	r.kind.Refs = nil
	r.List(n, func(e *yaml.Node) {
		var f policy.RefForm
		sort := "ref"
		var on []string
		var by []policy.NamingRule
		var routes []string
		var listeners, port string
		r.Object(e, map[string]form.Field{"at": r.Path(&f.At),
			"form": r.Word(&sort, []string{"ref", "selector", "filter", "subject", "named"}), "by": r.namingField(&by),
			"routes": r.Texts(&routes),
			"unless": r.Path(&f.Unless), "missing": eitherField(r.Reader, &f.Silent, "report",
				"silent"), "func": r.attacherField(&f), "on": r.Texts(&on),
			"empty": eitherField(r.Reader, &f.EmptyNone, "all", "none"), "unlabelled": eitherField(r.Reader,
				&f.NeverUnlabelled, "may", "never"),
			"namespaces": eitherField(r.Reader, &f.NamespacesField, "own",
				"field"), "everywhereFrom": r.Text(&f.Everywhere), "rules": eitherField(r.Reader, &f.RuleNameOnly,
				"any", "named"), "coreGroup": r.Text(&f.CoreName),
			"listeners": r.Word(&listeners, []string{"own", "sets", "overSets"}), "port": r.Word(&port,
				[]string{"ignored", "listeners"})})
		f.InListenerSets, f.OutranksListenerSets, f.ByPort = listeners == "sets" ||
			listeners == "overSets", listeners == "overSets", port == "listeners"
		if sort == "filter" {
			r.kind.Filters = r.filterRoles(e, on, f)
			r.kind.FilterRoutes = r.filterRoutes(e, routes)
			return
		}
		if (sort == "named") != (by != nil) {
			r.Fail(e, "a reference of the form \"named\" needs \"by\", and no other has it")
		}
		if sort == "named" {
			f.Search, f.NamedBy = policy.NewNamedSearch(r.kind, by), by
			r.kind.NamedByRoutes = slices.ContainsFunc(by,
				func(n policy.NamingRule) bool { return slices.Contains(gatewayapi.RouteKinds(), n.Kind) })
		}
		if f.At == nil && !f.HasVendorSearch() {
			r.Fail(e, "field \"at\" is missing")
		}
		if sort == "subject" && f.At != nil {
			f.Attach = policy.NewSubjectAttacher(f.At)
		}
		f.Selector = sort == "selector"
		r.kind.Refs = append(r.kind.Refs, f)
	})
}

// attacherField reads the function that finds targets.
func (r attachmentReader) attacherField(f *policy.RefForm) form.Field {
	return func(n *yaml.Node) {
		var name string
		r.Text(&name)(n)
		if f.Attach, f.Search = r.funcs.Attach[name], r.funcs.Search[name]; !f.HasVendorSearch() {
			r.Fail(n, "there is no function %q to find targets", name)
		}
	}
}

// filterRoles reads where filters of routes name policies.
func (r attachmentReader) filterRoles(n *yaml.Node, on []string, f policy.RefForm) []topology.Role {
	if f.At != nil || f.Unless != nil {
		r.Fail(n, "a filter is a field of a route: \"at\" and \"unless\" have no meaning")
	}
	if on == nil {
		return []topology.Role{topology.Rule}
	}
	var out []topology.Role
	for _, s := range on {
		if s != string(topology.Rule) && s != string(topology.Backend) {
			r.Fail(n, "%q is not one of rule, backend", s)
		}
		out = append(out, topology.Role(s))
	}
	return out
}
