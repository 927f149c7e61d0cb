package schema

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Catalogue is the definitions that come with the program: those of several vendors, each in
// several releases. It is opened without reading any of them, and may be used by several
// goroutines.
type Catalogue struct {
	vendors []*vendorReleases // by name
	builtIn map[model.GroupKind]*definition
}

// vendorReleases is the releases of one vendor, the newest first.
type vendorReleases struct {
	name     string
	releases []*Release
}

// Release is the definitions of one release of a vendor.
type Release struct {
	Vendor  string // such as gatewayapi
	Name    string // such as 1.9.1; with a channel that is not the default one: 1.7.0-standard
	numbers []int
	channel string

	open        func() map[string]*zip.File // by KIND.GROUP
	vendor      *vendorReleases
	lock        sync.Mutex
	definitions map[model.GroupKind]*definition
}

// SameAs is what an archive has in the place of a definition that another release has too.
func SameAs(release string) []byte { return []byte(`{"sameAs":"` + release + `"}`) }

// NewCatalogue opens what vendors hand over: files schemas/VENDOR/RELEASE.zip, in which every entry
// is a definition, named KIND.GROUP.
func NewCatalogue(sources []fs.FS) (*Catalogue, error) {
	c := &Catalogue{}
	for _, files := range sources {
		found, err := fs.Glob(files, "schemas/*/*.zip")
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			name, archive := path.Base(path.Dir(file)), path.Base(file)
			v := c.findVendor(name)
			if v == nil {
				v = &vendorReleases{name: name}
				c.vendors = append(c.vendors, v)
			}
			r := newRelease(v, strings.TrimSuffix(archive, ".zip"))
			r.open = sync.OnceValue(func() map[string]*zip.File { return openArchive(files, file) })
			v.releases = append(v.releases, r)
		}
	}
	for _, v := range c.vendors {
		slices.SortFunc(v.releases, func(a, b *Release) int {
			return cmp.Or(-slices.Compare(a.numbers, b.numbers), strings.Compare(a.channel, b.channel))
		})
	}
	slices.SortFunc(c.vendors, func(a, b *vendorReleases) int { return strings.Compare(a.name, b.name) })
	return c, nil
}

// openArchive lists the entries of an archive. One that cannot be read has none: the program is
// built with it, and a test opens all.
func openArchive(files fs.FS, file string) map[string]*zip.File {
	out := map[string]*zip.File{}
	text, err := fs.ReadFile(files, file)
	if err != nil {
		return out
	}
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return out
	}
	for _, entry := range archive.File {
		out[entry.Name] = entry
	}
	return out
}

func newRelease(v *vendorReleases, name string) *Release {
	numbers, channel := splitRelease(name)
	return &Release{Vendor: v.name, Name: name, numbers: numbers, channel: channel, vendor: v,
		definitions: map[model.GroupKind]*definition{}}
}

// splitRelease splits 1.7.0-standard into its numbers and the channel.
func splitRelease(name string) (numbers []int, channel string) {
	version, channel, _ := strings.Cut(strings.TrimPrefix(name, "v"), "-")
	for text := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, ""
		}
		numbers = append(numbers, n)
	}
	return numbers, channel
}

func (c *Catalogue) findVendor(name string) *vendorReleases {
	if c == nil {
		return nil
	}
	for _, v := range c.vendors {
		if v.name == name {
			return v
		}
	}
	return nil
}

// Vendors lists the vendors whose definitions come with the program.
func (c *Catalogue) Vendors() []string {
	var out []string
	for _, v := range c.vendors {
		out = append(out, v.name)
	}
	return out
}

// Releases lists the releases of a vendor, the newest first.
func (c *Catalogue) Releases(vendor string) []*Release {
	if v := c.findVendor(vendor); v != nil {
		return v.releases
	}
	return nil
}

// ReleaseError is a vendor or a release that the catalogue does not have.
type ReleaseError struct {
	Message string
	Known   []string // what there is instead
}

func (e *ReleaseError) Error() string { return e.Message }

// FindRelease returns the release of a vendor that a version means: "1.8" is the newest 1.8 that is
// there, "1.8.2" the newest that is not newer than it, and "1.7-standard" the same of a channel.
// Errors are *ReleaseError.
func (c *Catalogue) FindRelease(vendor, version string) (*Release, error) {
	v := c.findVendor(vendor)
	if v == nil {
		return nil, &ReleaseError{Message: fmt.Sprintf("no schemas of vendor %q come with the program", vendor),
			Known: c.Vendors()}
	}
	numbers, channel := splitRelease(version)
	known := &ReleaseError{Message: fmt.Sprintf("no schemas of %s %s come with the program", vendor, version)}
	for _, r := range v.releases {
		known.Known = append(known.Known, r.Name)
		if len(numbers) < 2 || r.channel != channel || len(r.numbers) < 2 || !slices.Equal(numbers[:2], r.numbers[:2]) {
			continue
		}
		if len(numbers) == 2 || slices.Compare(r.numbers, numbers) <= 0 {
			return r, nil
		}
	}
	return nil, known
}

// findDefinition returns the definition of a kind that an object of an API version goes by: that of
// the chosen release of its vendor, else of the newest one that serves the version, else of the
// newest one that has the kind. nil: no vendor has it.
func (c *Catalogue) findDefinition(gk model.GroupKind, apiVersion string, chosen map[string]*Release) *definition {
	if c == nil {
		return nil
	}
	if d := c.builtIn[gk]; d != nil && d.versions[apiVersion] != nil {
		return d
	}
	if isBuiltIn(gk.Group) {
		return nil
	}
	for _, v := range c.vendors {
		if r := chosen[v.name]; r != nil {
			if d := r.definitionOf(gk); d != nil {
				return d
			}
			if v.hasKind(gk) {
				return &definition{kind: gk, release: r, namespaced: true, missing: true}
			}
			continue
		}
		var newest *definition
		for _, r := range v.releases {
			if r.channel != "" {
				continue
			}
			d := r.definitionOf(gk)
			if d != nil && d.versions[apiVersion] != nil {
				return d
			}
			if newest == nil {
				newest = d
			}
		}
		if newest != nil {
			return newest
		}
	}
	return nil
}

// findInChannel returns a served version of a kind in the newest release of a channel, or nil.
func (c *Catalogue) findInChannel(gk model.GroupKind, apiVersion, channel string) *version {
	for _, v := range c.vendors {
		for _, r := range v.releases {
			if r.channel != channel {
				continue
			}
			if d := r.definitionOf(gk); d != nil {
				return d.versions[apiVersion]
			}
		}
	}
	return nil
}

// hasKind reports whether a release of the vendor defines a kind.
func (v *vendorReleases) hasKind(gk model.GroupKind) bool {
	return slices.ContainsFunc(v.releases, func(r *Release) bool { return r.open()[gk.String()] != nil })
}

// definitionOf returns the definition of a kind, or nil.
func (r *Release) definitionOf(gk model.GroupKind) *definition {
	entry := r.open()[gk.String()]
	if entry == nil {
		return nil
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	if d, read := r.definitions[gk]; read {
		return d
	}
	d := r.readDefinition(gk, entry)
	r.definitions[gk] = d
	return d
}

// packedDefinition is the form of an entry.
type packedDefinition struct {
	SameAs   string `json:"sameAs"`
	Scope    string `json:"scope"`
	Versions []struct {
		Name         string                     `json:"name"`
		Served       bool                       `json:"served"`
		Schema       map[string]json.RawMessage `json:"schema"`
		Subresources map[string]json.RawMessage `json:"subresources"`
	} `json:"versions"`
}

func (r *Release) readDefinition(gk model.GroupKind, entry *zip.File) *definition {
	in, err := entry.Open()
	if err != nil {
		return nil
	}
	defer in.Close()
	text, err := io.ReadAll(in)
	if err != nil {
		return nil
	}
	var p packedDefinition
	if err := json.Unmarshal(text, &p); err != nil {
		return nil
	}
	if p.SameAs != "" {
		for _, other := range r.vendor.releases {
			if other.Name == p.SameAs {
				if d := other.definitionOf(gk); d != nil {
					return d.ofRelease(r)
				}
			}
		}
		return nil
	}
	d := &definition{kind: gk, release: r, namespaced: p.Scope != "Cluster", versions: map[string]*version{}}
	for _, v := range p.Versions {
		if v.Served {
			_, hasStatus := v.Subresources["status"]
			d.versions[v.Name] = &version{definition: d, name: v.Name, dropsStatus: hasStatus,
				schemaText: v.Schema["openAPIV3Schema"]}
		}
	}
	return d
}
