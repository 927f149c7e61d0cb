package dopolicy

import (
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/schema"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Options say how an Engine reads policies.
type Options struct {
	// PolicyKinds are files with PolicyKind documents (docs/policy-kinds.md). They replace
	// built-in descriptors of the same kinds.
	PolicyKinds []form.Source
	// Settings are vendor settings, each as VENDOR.NAME=VALUE (docs/policy-kinds.md).
	Settings []string
	// Schemas say how objects that no server has stored are read. Its catalogue is that of the
	// vendors, unless engines share one.
	Schemas schema.Options
	// Versions are the releases of vendors whose schemas are used, each as VENDOR=VERSION
	// (schema.Catalogue.FindRelease); others: the newest.
	Versions []string
	// ExternalAuthenticates assumes that services that are asked for authorization refuse
	// anonymous clients. Nothing in an input says so.
	ExternalAuthenticates bool
	// Workloads makes pods and workloads part of the graph, also where no policy targets them:
	// Connection needs them.
	Workloads bool
	// Points reads of a cluster what judges requests behind their Gateways, and the workloads there.
	Points bool
}

// Engine knows the policy kinds of vendors, and how their data planes treat requests. An Engine
// is for one input, or for the two sides of a comparison: kinds that are found in an input are
// remembered. It may be used by several goroutines.
type Engine struct {
	plugins     []plugin.Plugin
	catalog     *descriptor.Catalog
	normalizers []request.Normalizer
	profiles    request.Profiles
	judges      view.Judges
	admission   *schema.Admission
	workloads   bool
	points      bool
}

// New makes an engine of vendors (plugins.All() are the built-in ones). Mistakes in the user's
// descriptors are a *form.Error, unknown settings a *descriptor.SettingError.
func New(vendors []plugin.Plugin, o Options) (*Engine, error) {
	catalog, err := plugin.NewCatalog(vendors, o.PolicyKinds, o.Settings)
	if err != nil {
		return nil, err
	}
	return NewWithCatalog(vendors, catalog, o)
}

// NewWithCatalog is New with a catalogue that is already there.
func NewWithCatalog(vendors []plugin.Plugin, catalog *descriptor.Catalog, o Options) (*Engine, error) {
	judges := plugin.Judges(vendors)
	judges.Assume.External = o.ExternalAuthenticates
	schemas := o.Schemas
	var err error
	if schemas.Catalogue == nil {
		if schemas.Catalogue, err = plugin.Schemas(vendors); err != nil {
			return nil, err
		}
	}
	schemas.Releases = map[string]*schema.Release{}
	for _, chosen := range o.Versions {
		vendor, version, _ := strings.Cut(chosen, "=")
		if schemas.Releases[vendor], err = schemas.Catalogue.FindRelease(vendor, version); err != nil {
			return nil, err
		}
	}
	return &Engine{plugins: vendors, catalog: catalog, normalizers: plugin.Normalizers(vendors, catalog),
		profiles: plugin.RoutingProfiles(catalog),
		judges:   judges, admission: schema.NewAdmission(schemas), workloads: o.Workloads, points: o.Points}, nil
}

// Catalog is what the engine knows about policy kinds.
func (e *Engine) Catalog() *descriptor.Catalog { return e.catalog }

// StatusFunctions are what the vendors know about statuses.
func (e *Engine) StatusFunctions() status.Functions { return plugin.StatusFunctions(e.plugins) }

// Mappings are what the vendors know about their proxies.
func (e *Engine) Mappings() []audit.Mapping { return plugin.Mappings(e.plugins) }

// Rules document what a check can find.
func (e *Engine) Rules() check.Catalogue { return check.NewCatalogue(plugin.FindingRules(e.plugins)) }

// Resolve computes the effective policies of objects that were read.
func (e *Engine) Resolve(read *model.Snapshot) *Input {
	r := e.resolveSnapshot(read)
	return &Input{Resolution: r, Read: read, engine: e, readProxies: sync.OnceValue(func() []*ingress.Proxy {
		return plugin.ReadProxies(e.plugins, r.Snapshot)
	})}
}

// resolveSnapshot attaches and merges the policies of an input, and looks at the same time for what
// gets no traffic. Every caller gets the links of the catalogue: without them, vendors answer
// nothing.
func (e *Engine) resolveSnapshot(read *model.Snapshot) *resolve.Resolution {
	links := e.catalog.Links()
	in := e.catalog.WithGenerated(e.admission.Admit(read, e.findTreatments(read)))
	in = build.AddMakers(in, e.catalog.Settings(), links...)
	policies := resolve.StartDecoding(in, e.catalog)
	if e.workloads {
		links = append(links, func(b *build.Builder) { b.AddWorkloads(workload.Kinds()...) })
	}
	graph := build.Graph(in, e.catalog.Settings(), links...)
	idle := make(chan []model.Problem, 1)
	go func() { idle <- request.Lint(graph, e.catalog.Settings(), e.profiles) }()
	resolution := policies.Attach(graph)
	for _, p := range <-idle {
		if !resolve.IsAboutVariable(p) {
			resolution.Problems = append(resolution.Problems, p)
		}
	}
	return resolution
}

// findTreatments returns what is special about how the kinds of an input are read.
func (e *Engine) findTreatments(read *model.Snapshot) map[model.GroupKind]schema.Treatment {
	out := map[model.GroupKind]schema.Treatment{}
	for _, k := range e.catalog.DecidedKinds(read) {
		if k.AsWritten || k.Profile != "" {
			t := schema.Treatment{AsWritten: k.AsWritten, HasDialects: k.Profile != "", Advice: k.Advice}
			if k.Tolerant {
				t.Dialect = k.Profile
			}
			out[k.GroupKind] = t
		}
	}
	return out
}

// newMatcher finds what becomes of requests as the vendors' data planes read them, beside what may
// take them unread.
func (e *Engine) newMatcher(r *resolve.Resolution) *request.Matcher {
	m := request.NewMatcher(r.Graph, r.Settings).NormalizeWith(r, e.normalizers).RouteWith(e.profiles)
	m.SetUnreadInputs(unread.Inputs(r))
	return m
}

// Deciders decide about requests for requirements, without their spellings.
func (e *Engine) Deciders() requirement.Deciders {
	return requirement.Deciders{
		Prove: func(r *resolve.Resolution, q prove.Query) (*prove.Proof, error) {
			return prove.Prove(r, e.newMatcher(r), q, e.judges)
		},
		Protect: func(r *resolve.Resolution, asked []requests.Property) (*protection.Protections, error) {
			return protection.NewProtections(r, e.newMatcher(r), e.judges, asked)
		},
	}
}
