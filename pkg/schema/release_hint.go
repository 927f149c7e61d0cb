package schema

import (
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// explainRelease says which release of a vendor has what an object of a version has and its schema
// has not; "" if none is known to. The steps lead to the place in the schema.
func (c *Catalogue) explainRelease(v *version, steps []string, has func(*schema.Structural) bool) string {
	gk, used := v.definition.kind, v.definition.release
	var vendor *vendorReleases
	switch {
	case used != nil:
		vendor = used.vendor
	case c != nil:
		if at := slices.IndexFunc(c.vendors, func(v *vendorReleases) bool { return v.hasKind(gk) }); at >= 0 {
			vendor = c.vendors[at]
		}
	}
	if vendor == nil {
		return ""
	}
	var with []*Release // the newest first
	for _, r := range vendor.releases {
		if r.channel == "" && r.hasPart(gk, v.name, steps, has) {
			with = append(with, r)
		}
	}
	if len(with) == 0 {
		return ""
	}
	newest, oldest := with[0], with[len(with)-1]
	switch {
	case used == nil:
		return fmt.Sprintf("%s has it since %s", vendor.name, oldest.Name)
	case used.channel != "" &&
		slices.ContainsFunc(with, func(r *Release) bool { return slices.Equal(r.numbers, used.numbers) }):
		return fmt.Sprintf("%s has it in the experimental channel only", vendor.name)
	case slices.Compare(newest.numbers, used.numbers) < 0:
		return fmt.Sprintf("%s had it until %s", vendor.name, newest.Name)
	}
	for _, r := range slices.Backward(with) {
		if slices.Compare(r.numbers, used.numbers) > 0 {
			return fmt.Sprintf("it needs %s %s (%s is chosen)", vendor.name, r.Name, used.Name)
		}
	}
	return ""
}

// hasPart reports whether the schema of a kind in this release has what is asked for at a place.
func (r *Release) hasPart(gk model.GroupKind, apiVersion string, steps []string,
	has func(*schema.Structural) bool) bool {
	d := r.definitionOf(gk)
	if d == nil || d.versions[apiVersion] == nil {
		return false
	}
	v := d.versions[apiVersion]
	v.compileSchema()
	at := v.structural
	for _, step := range steps {
		if at == nil {
			return false
		}
		at = schemaAt(at, step)
	}
	return at != nil && has(at)
}

// isThere reports that there is a schema.
func isThere(*schema.Structural) bool { return true }

// takesValue returns what reports whether an enumeration has a value.
func takesValue(value any) func(*schema.Structural) bool {
	return func(s *schema.Structural) bool {
		return s.ValueValidation != nil &&
			slices.ContainsFunc(s.ValueValidation.Enum, func(known schema.JSON) bool { return known.Object == value })
	}
}

// schemaAt is the schema of the entry of a value at a key or an index, or nil.
func schemaAt(s *schema.Structural, step string) *schema.Structural {
	switch property, ok := s.Properties[step]; {
	case ok:
		return &property
	case s.Items != nil:
		return s.Items
	case s.AdditionalProperties != nil:
		return s.AdditionalProperties.Structural
	}
	return nil
}
