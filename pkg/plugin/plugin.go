// Package plugin is what a vendor package hands over, and the catalogue made of it.
package plugin

import (
	"io/fs"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Plugin is one vendor: its name, its descriptor file, and the functions that the file names, by
// the phase of a run in which they are called.
type Plugin struct {
	Name  string
	Kinds []byte // the documents of its kinds.yaml as a JSON list

	// Schemas has the definitions of its kinds: schemas/NAME/RELEASE.zip (schema.NewCatalogue). nil:
	// it has none.
	Schemas fs.FS
	// Types are kinds of Kubernetes itself that it reads, by Kind.group, as values of their Go types.
	// Secrets cannot be among them: their values are taken out when they are read.
	Types map[string]any

	Reading   descriptor.Reading   // objects become policies
	Attaching descriptor.Attaching // policies find the nodes where they hold
	Merging   descriptor.Merging   // the policies of a path become one result
	Judging   descriptor.Judging   // faults and findings of policies
	Status    status.Functions     // conditions and marks are predicted

	// Evaluators judge requests and connections.
	Evaluators evaluate.Evaluators
	// Points finds and judges the points behind the first proxy; nil: the vendor has none.
	Points point.LayerMaker
	// Proxies finds the proxies of the vendor's Gateways; nil: that is not known.
	Proxies point.ProxyFinder
	// Ingresses reads the Ingress objects of its controller; nil: it has none.
	Ingresses ingress.Reader
	// Effects says what its policies and filters do to requests; nil: what gates tell is all.
	Effects ingress.EffectReader
	// Equivalents are what its policies have for features of other proxies.
	Equivalents ingress.Equivalents
	// Gates complete what descriptors say of how settings keep requests out.
	Gates protect.Functions
	// Words are what the input says that decides what becomes of requests before they are compared,
	// by the names in descriptors.
	RequestWords map[string]WordFunc
	// Audit is what it knows about its proxies; nil: nothing.
	Audit *audit.Mapping
	// Findings are the sorts of problems that only this vendor has.
	Findings []Finding
}

// Finding is one sort of problem: what documents it, and what looks for it.
type Finding struct {
	model.Rule
	// Find looks where it takes all folds to see: only what judges a whole input asks for it. It
	// folds what it needs; the folds are kept. nil: a function that the descriptors name reports
	// it, or Find of another one.
	Find func(*resolve.Resolution) []model.Problem
}

// FindingRules returns the documentation of what only one vendor finds.
func FindingRules(plugins []Plugin) []model.Rule {
	var out []model.Rule
	for _, p := range plugins {
		for _, f := range p.Findings {
			out = append(out, f.Rule)
		}
	}
	return out
}

// FindProblems returns the findings of all vendors, in their order, and what statuses have no room
// for.
func FindProblems(plugins []Plugin, r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, p := range plugins {
		for _, f := range p.Findings {
			if f.Find != nil {
				out = append(out, f.Find(r)...)
			}
		}
	}
	return append(out, status.Limits(r, StatusFunctions(plugins))...)
}

// StatusFunctions returns the status functions of all vendors, by name.
func StatusFunctions(plugins []Plugin) status.Functions {
	out := status.Functions{Writers: map[string]status.Writer{}, KindWriters: map[string]status.KindWriter{},
		CustomWriters: map[string]status.CustomWriter{}, Markers: map[string]status.Marker{}}
	for _, p := range plugins {
		maps.Copy(out.Writers, p.Status.Writers)
		maps.Copy(out.KindWriters, p.Status.KindWriters)
		maps.Copy(out.CustomWriters, p.Status.CustomWriters)
		maps.Copy(out.Markers, p.Status.Markers)
		out.Revisers = append(out.Revisers, p.Status.Revisers...)
	}
	return out
}

// Mappings returns what the vendors know about their proxies.
func Mappings(plugins []Plugin) []audit.Mapping {
	var out []audit.Mapping
	for _, p := range plugins {
		if p.Audit != nil {
			out = append(out, *p.Audit)
		}
	}
	return out
}

// Evaluators returns those of all vendors, by name.
func Evaluators(plugins []Plugin) evaluate.Evaluators {
	out := evaluate.Evaluators{}
	for _, p := range plugins {
		maps.Copy(out, p.Evaluators)
	}
	return out
}

// Judges returns what all vendors know about requests.
func Judges(plugins []Plugin) view.Judges {
	out := view.Judges{Evaluators: Evaluators(plugins), Gates: protect.Functions{},
		Equivalents: map[string]ingress.Equivalents{}}
	for _, p := range plugins {
		maps.Copy(out.Gates, p.Gates)
		if p.Effects != nil {
			out.Effects = append(out.Effects, p.Effects)
		}
		if p.Equivalents != nil {
			out.Equivalents[p.Name] = p.Equivalents
		}
		if p.Points != nil {
			out.Points.Layers = append(out.Points.Layers, p.Points)
		}
		if p.Proxies != nil {
			out.Points.Proxies = append(out.Points.Proxies, p.Proxies)
		}
	}
	return out
}

// ReadProxies makes the proxies of the Ingress objects of an input.
func ReadProxies(plugins []Plugin, s *model.Snapshot) []*ingress.Proxy {
	var out []*ingress.Proxy
	for _, p := range plugins {
		if p.Ingresses == nil {
			continue
		}
		if proxy := p.Ingresses(s); proxy != nil {
			out = append(out, proxy)
		}
	}
	return out
}

// NewCatalog reads the descriptors of the vendors and the user's own, which replace them, and the
// chosen settings (NAME=VALUE texts). Errors are *form.Error or *descriptor.SettingError.
func NewCatalog(plugins []Plugin, user []form.Source, settings []string) (*descriptor.Catalog, error) {
	builtin, funcs := collectDescriptors(plugins)
	return descriptor.NewCatalog(builtin, user, settings, funcs)
}

// collectDescriptors returns the descriptors of the vendors, and the functions that these name.
func collectDescriptors(plugins []Plugin) (builtin []form.Source, funcs descriptor.Functions) {
	for _, p := range plugins {
		funcs.Add(descriptor.Functions{Reading: p.Reading, Attaching: p.Attaching, Merging: p.Merging,
			Judging: p.Judging})
		funcs.Writers = slices.AppendSeq(funcs.Writers, maps.Keys(p.Status.Writers))
		funcs.Writers = slices.AppendSeq(funcs.Writers, maps.Keys(p.Status.KindWriters))
		funcs.Writers = slices.AppendSeq(funcs.Writers, maps.Keys(p.Status.CustomWriters))
		funcs.Evaluators = slices.AppendSeq(funcs.Evaluators, maps.Keys(p.Evaluators))
		funcs.Gates = slices.AppendSeq(funcs.Gates, maps.Keys(p.Gates))
		funcs.Markers = slices.AppendSeq(funcs.Markers, maps.Keys(p.Status.Markers))
		builtin = append(builtin, form.Source{Name: p.Name + "/kinds.yaml", Text: p.Kinds, JSON: true})
	}
	return builtin, funcs
}

// Schemas opens the definitions that the vendors hand over.
func Schemas(plugins []Plugin) (*schema.Catalogue, error) {
	var sources []fs.FS
	for _, p := range plugins {
		if p.Schemas != nil {
			sources = append(sources, p.Schemas)
		}
	}
	out, err := schema.NewCatalogue(sources)
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		out.AddTypes(p.Types)
	}
	return out, nil
}
