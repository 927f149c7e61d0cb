package descriptor

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestRequests: what a descriptor says of the spelling of requests, and what is wrong with one.
func TestRequests(t *testing.T) {
	const head = "apiVersion: dopolicy.dev/v1alpha1\nkind: Vendor\nname: acme\ncontrollers: [a/b]\nsettings: [{name: raw, doc: raw paths}]\nrequests:\n"
	read := func(text string) ([]RequestNormalization, error) {
		c, err := NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(head + text)}}, nil, Functions{})
		if err != nil {
			return nil, err
		}
		return c.RequestNormalizations(), nil
	}
	got, err := read(
		"  source: docs\n  dots: resolve\n  decode: all\n  changes:\n  - {setting: raw, values: {\"true\": {dots: keep}}}\n  - {policy: P.x.io, field: a.b, values: {z: {slashes: merge}}}\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []RequestNormalization{{Vendor: "acme", Source: "docs", Controllers: []string{"a/b"},
		Aspects: map[string]string{"dots": "resolve", "decode": "all"}, Changes: []RequestChange{
			{Setting: "acme.raw", Values: map[string]map[string]string{"true": {"dots": "keep"}}},
			{Kind: model.GroupKind{Group: "x.io", Kind: "P"}, Field: "a.b",
				Values: map[string]map[string]string{"z": {"slashes": "merge"}}}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	for text, wrong := range map[string]string{
		"  dots: resolve\n":                                                `"source" is missing`,
		"  source: docs\n  dots: yes\n":                                    "resolve, keep",
		"  source: docs\n  case: fold\n":                                   `"case"`,
		"  source: docs\n  changes: [{setting: raw}]\n":                    `needs "values"`,
		"  source: docs\n  changes: [{values: {a: {dots: keep}}}]\n":       `needs "values"`,
		"  source: docs\n  changes: [{setting: raw, values: [a]}]\n":       "an object of values",
		"  source: docs\n  changes: [{policy: P.x.io, values: {a: {}}}]\n": `needs "values"`,
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
	}
}
