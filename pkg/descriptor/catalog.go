package descriptor

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

const descriptorVersion = "dopolicy.dev/v1alpha1"

// Catalog is the policy kinds and the settings that are described, before any object is looked at.
type Catalog struct {
	kinds          map[model.GroupKind]*policy.Kind
	settings       []Setting
	chosenSettings model.Settings
	builder        *builder
	cluster        []model.GroupKind
	routes         []routeKind

	knowledge Knowledge
	requests  []RequestNormalization // what data planes make of requests, by vendor
	routing   []RoutingProfile       // how data planes choose rules, by vendor
	reviews   map[string]Review      // by vendor
}

// autoValue is the value of a setting that leaves the decision to the loaded objects.
const autoValue = "auto"

// AutoFunc decides a setting for one kind by what the input says of the kind, as its definition
// does, and may report why.
type AutoFunc func(gk model.GroupKind, in *model.Snapshot) (value string, problems []model.Problem)

// Links returns what the vendors tell graphs that are about to be built, and which kinds of
// policies are about workloads.
func (c *Catalog) Links() []build.Linker {
	var about []model.GroupKind
	for _, k := range c.Kinds() {
		if k.HasResultsAtWorkloads() {
			about = append(append(about, k.GroupKind), k.Members...)
		}
	}
	return append(slices.Clone(c.builder.funcs.Links), func(b *build.Builder) { b.AddWorkloads(about...) },
		c.linkRoutes)
}

// NewCatalog reads descriptor files. Those of the vendors come first; a user's descriptor replaces
// a vendor's for the same kind. Settings are NAME=VALUE texts. Errors are *form.Error or
// *SettingError.
func NewCatalog(vendors, users []form.Source, settings []string, funcs Functions) (*Catalog, error) {
	b := &builder{raw: map[model.GroupKind]rawKind{}, replaced: map[model.GroupKind]rawKind{}, funcs: funcs,
		controllers: map[string][]string{}, dialects: map[model.GroupKind][]rawKind{},
		catalog: &Catalog{kinds: map[model.GroupKind]*policy.Kind{}, settings: coreSettings(), reviews: map[string]Review{},
			knowledge: Knowledge{kinds: map[model.GroupKind]bool{}}}}
	b.catalog.builder = b
	for i, read := range parseFiles(slices.Concat(vendors, users)) {
		vendor := ""
		if i >= len(vendors) {
			vendor = "user"
		}
		if err := b.registerFile(read, vendor); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(b.catalog.settings, func(x, y Setting) int { return strings.Compare(x.Name, y.Name) })
	if err := checkSettings(b.catalog.settings); err != nil {
		return nil, err
	}
	var err error
	if b.catalog.chosenSettings, err = parseSettings(b.catalog.settings, settings); err != nil {
		return nil, err
	}
	if err := b.registerLikeKinds(); err != nil {
		return nil, err
	}
	var wrong form.Error
	kinds, errs := make([]*policy.Kind, len(b.order)), make([]error, len(b.order))
	model.Parallel(len(b.order), 1, func(i int) {
		if kinds[i], errs[i] = b.readKind(b.order[i], b.catalog.chosenSettings); errs[i] == nil &&
			b.raw[b.order[i]].user {
			errs[i] = b.tryVariants(b.order[i])
		}
	})
	for i, gk := range b.order {
		if errs[i] != nil {
			wrong.Lines = append(wrong.Lines, strings.Split(errs[i].Error(), "\n")...)
			continue
		}
		b.catalog.kinds[gk] = kinds[i]
	}
	wrong.Lines = append(wrong.Lines, b.checkMembers()...)
	wrong.Lines = append(wrong.Lines, b.checkDialects()...)
	if wrong.Lines != nil {
		return nil, &wrong
	}
	return b.catalog, nil
}

// Settings returns the switches in force: what was chosen, and the defaults.
func (c *Catalog) Settings() model.Settings { return c.chosenSettings }

// ClusterScoped returns the described kinds without namespace, policies and others.
func (c *Catalog) ClusterScoped() []model.GroupKind {
	out := slices.Clone(c.cluster)
	for _, k := range c.Kinds() {
		if k.ClusterScoped {
			out = append(out, k.GroupKind)
		}
	}
	return out
}

// KnownSettings lists the switches, sorted by name.
func (c *Catalog) KnownSettings() []Setting { return slices.Clone(c.settings) }

// Kind returns the described kind, or nil.
func (c *Catalog) Kind(gk model.GroupKind) *policy.Kind { return c.kinds[gk] }

// Kinds lists the described kinds, sorted.
func (c *Catalog) Kinds() []*policy.Kind {
	var out []*policy.Kind
	for _, k := range c.kinds {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *policy.Kind) int { return a.GroupKind.Compare(b.GroupKind) })
	return out
}

// rawKind is a PolicyKind document before variants and extension are applied.
type rawKind struct {
	node         *yaml.Node
	file, vendor string
	user         bool
}

type builder struct {
	raw         map[model.GroupKind]rawKind
	replaced    map[model.GroupKind]rawKind // built-in descriptors that a user's takes the place of
	order       []model.GroupKind
	controllers map[string][]string // by vendor: its controllers
	dialects    map[model.GroupKind][]rawKind
	funcs       Functions
	catalog     *Catalog
}

// registerFile registers the documents of one descriptor file; vendor is the name for files without
// a Vendor document.
func (b *builder) registerFile(src parsedFile, vendor string) error {
	if src.err != nil {
		return src.err
	}
	docs := src.documents
	r := &form.Reader{File: src.Name}
	user, named := vendor != "", false
	for _, n := range docs {
		if form.TextOf(n, "kind") != "Vendor" {
			continue
		}
		v := &vendorReader{Reader: r, funcs: b.funcs, knowledge: &b.catalog.knowledge}
		v.readVendor(n)
		if named {
			r.Fail(n, "a file has one Vendor")
		}
		vendor, named = v.name, true
		b.catalog.settings = append(b.catalog.settings, v.settings...)
		b.controllers[v.name] = v.controllers
		if v.review != (Review{}) {
			b.catalog.reviews[v.name] = v.review
		}
		b.catalog.cluster = append(b.catalog.cluster, v.cluster...)
		b.catalog.routes = append(b.catalog.routes, v.routes...)
		if v.requests != nil {
			v.requests.setVendor(v.name)
			v.requests.Controllers = v.controllers
			b.catalog.requests = append(b.catalog.requests, *v.requests)
		}
		b.registerRouting(v)
	}
	for _, n := range docs {
		kind := form.TextOf(n, "kind")
		switch {
		case form.TextOf(n, "apiVersion") != descriptorVersion:
			r.Fail(n, "apiVersion must be %s", descriptorVersion)
		case kind == "PolicyKind" && isDialect(n):
			b.registerDialect(rawKind{node: n, file: src.Name, vendor: vendor, user: user})
		case kind == "PolicyKind":
			b.registerKind(r, rawKind{node: n, file: src.Name, vendor: vendor, user: user})
		case kind != "Vendor":
			r.Fail(n, "kind must be PolicyKind or Vendor, not %q", kind)
		}
	}
	return r.Err()
}

// parsedFile is a descriptor file that has been parsed.
type parsedFile struct {
	form.Source
	documents []*yaml.Node
	err       error
}

// parseFiles parses descriptor files in parallel, because every command waits for it.
func parseFiles(sources []form.Source) []parsedFile {
	out := make([]parsedFile, len(sources))
	model.Parallel(len(sources), 1, func(i int) {
		out[i].Source = sources[i]
		out[i].documents, out[i].err = sources[i].ReadDocuments()
	})
	return out
}

func (b *builder) registerKind(r *form.Reader, k rawKind) {
	gk := model.ParseGroupKind(form.TextOf(k.node, "for"))
	before, again := b.raw[gk]
	switch {
	case gk.Kind == "" || gk.Group == "":
		r.Fail(k.node, "field \"for\" must be Kind.group")
		return
	case again && before.user == k.user:
		r.Fail(k.node, "%s is described twice, in %s:%d as well", gk, before.file, before.node.Line)
		return
	case !again:
		b.order = append(b.order, gk)
	}
	if again {
		b.replaced[gk] = before
	}
	b.raw[gk] = k
}

// readKind applies extension and variants, and reads the descriptor, under the given settings.
func (b *builder) readKind(gk model.GroupKind, settings model.Settings) (*policy.Kind, error) {
	return b.readDescriptor(gk, settings, nil)
}

// readDescriptor is readKind, in a dialect if there is one, whole or its outline.
func (b *builder) readDescriptor(gk model.GroupKind, settings model.Settings, d *rawKind) (*policy.Kind, error) {
	raw := b.raw[gk]
	r := &form.Reader{File: raw.file}
	node, publishable := raw.node, form.Member(raw.node, "publishable") != nil
	if base := form.TextOf(node, "extends"); base != "" {
		under, ok := b.baseOf(gk, model.ParseGroupKind(base))
		switch {
		case !ok:
			r.Fail(form.Member(node, "extends"), "there is no descriptor %q to extend", base)
		case form.Member(under.node, "extends") != nil:
			r.Fail(form.Member(node, "extends"), "%s extends another descriptor itself: one level only", base)
		default:
			node = replaceFields(b.resolveVariants(r, under, settings), node)
		}
	}
	raw.node = node
	node = b.resolveVariants(r, raw, settings)
	if d != nil {
		r.File = d.file
		node = d.applyDialect(node)
	}
	k := usualKind()
	k.Vendor, k.Source, k.Settings = raw.vendor, raw.file, settings
	k.Profile = settings.Text(raw.vendor + ".profile")
	k.Controllers, k.HasDialects = b.controllerNames(raw.vendor, settings), b.dialects[gk] != nil && !raw.user
	(&kindReader{reader: reader{r, k, &b.funcs, node}}).readKind(node)
	k.Publishable = k.Publishable && publishable // not inherited: what else the kind sets may be a credential
	return k, r.Err()
}

// PluralOf returns the English plural of a kind in lower case, as CRDs are usually named.
func PluralOf(kind string) string {
	s := strings.ToLower(kind)
	switch {
	case strings.HasSuffix(s, "y") && !strings.ContainsAny(s[max(0, len(s)-2):len(s)-1], "aeiou"):
		return s[:len(s)-1] + "ies"
	case strings.HasSuffix(s, "s"), strings.HasSuffix(s, "x"), strings.HasSuffix(s, "ch"):
		return s + "es"
	}
	return s + "s"
}

// checkMembers checks that the members of kinds are described, each in one kind, and have no
// results of their own.
func (b *builder) checkMembers() []string {
	var wrong []string
	leader := map[model.GroupKind]model.GroupKind{}
	for _, k := range b.catalog.Kinds() {
		r := &form.Reader{File: b.raw[k.GroupKind].file}
		at := form.Member(b.raw[k.GroupKind].node, "members")
		for _, gk := range k.Members {
			m := b.catalog.kinds[gk]
			other, again := leader[gk]
			switch {
			case m == nil:
				r.Fail(at, "there is no descriptor of member %s", gk)
			case gk == k.GroupKind || m.Members != nil || m.Scopes != nil:
				r.Fail(at, "%s cannot be a member: it has members, or scopes of its own", gk)
			case again:
				r.Fail(at, "%s is a member of %s already", gk, other)
			}
			leader[gk] = k.GroupKind
		}
		if err := r.Err(); err != nil {
			wrong = append(wrong, strings.Split(err.Error(), "\n")...)
		}
	}
	return wrong
}
