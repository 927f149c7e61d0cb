package gitops_test

import (
	"slices"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/loadtest"
)

// What overlays make of one manifest is told as that, not as two manifests of which one should go.
func TestOverlaysOfOneManifest(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"base/kustomization.yaml": "resources: [a.yaml]\n",
		"base/a.yaml":             bare("a"),
		"dev/kustomization.yaml":  "resources: [../base]\ncommonAnnotations: {stage: dev}\n",
		"prod/kustomization.yaml": "resources: [../base]\ncommonAnnotations: {stage: prod}\n",
		"c.yaml":                  loadtest.Thing("c"),
	})
	s := rendered(t, ".")
	if want := "error DuplicateObject: base/a.yaml:1: thing/default/a: base/a.yaml:1 is deployed more than once, each time differently; none is used"; !slices.Contains(told(s), want) {
		t.Errorf("got %q", told(s))
	}
}

// Whatever several clusters or overlays make of manifests has one cause.
func TestOverlaysOfManyManifests(t *testing.T) {
	loadtest.Write(t, map[string]string{
		"base/kustomization.yaml": "resources: [a.yaml, b.yaml]\n",
		"base/a.yaml":             bare("a"),
		"base/b.yaml":             bare("b"),
		"dev/kustomization.yaml":  "resources: [../base]\ncommonAnnotations: {stage: dev}\n",
		"prod/kustomization.yaml": "resources: [../base]\ncommonAnnotations: {stage: prod}\n",
		"c.yaml":                  loadtest.Thing("c"),
	})
	s := rendered(t, ".")
	if want := "error DuplicateObject: base/a.yaml:1: 2 objects of base/a.yaml and base/b.yaml are deployed more than once, each time differently; none of them is used: thing/default/a and thing/default/b"; !slices.Contains(told(s), want) {
		t.Errorf("got %q", told(s))
	}
}
