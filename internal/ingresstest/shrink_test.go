package ingresstest

import (
	"maps"
	"slices"
	"testing"

	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// shrinkCluster leaves out of a cluster what the difference at a request does not need.
func shrinkCluster(t *testing.T, c *cluster, r *request.Request) *cluster {
	for {
		smaller := slices.IndexFunc(c.listSmaller(), func(s *cluster) bool {
			return findDifference(t, s, []*request.Request{r}, tally{}) != nil
		})
		if smaller < 0 {
			return c
		}
		c = c.listSmaller()[smaller]
	}
}

// listSmaller lists the clusters with one thing less.
func (c *cluster) listSmaller() []*cluster {
	var out []*cluster
	for i, ing := range c.ingresses {
		if len(c.ingresses) > 1 {
			one := *c
			one.ingresses = slices.Delete(slices.Clone(c.ingresses), i, i+1)
			out = append(out, &one)
		}
		for _, smaller := range listSmallerIngresses(ing) {
			one := *c
			one.ingresses = slices.Clone(c.ingresses)
			one.ingresses[i] = smaller
			out = append(out, &one)
		}
	}
	return append(out, c.listSmallerSettings()...)
}

func (c *cluster) listSmallerSettings() []*cluster {
	var out []*cluster
	if c.settings == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(c.settings.Data)) {
		one := *c
		one.settings = &core.ConfigMap{TypeMeta: c.settings.TypeMeta, ObjectMeta: c.settings.ObjectMeta,
			Data: maps.Clone(c.settings.Data)}
		delete(one.settings.Data, key)
		out = append(out, &one)
	}
	return out
}

// listSmallerIngresses lists copies of an Ingress with one thing less.
func listSmallerIngresses(ing *networking.Ingress) []*networking.Ingress {
	var out []*networking.Ingress
	for _, name := range slices.Sorted(maps.Keys(ing.Annotations)) {
		if name == prefix+"canary" { // the Services of canaries are no others'
			continue
		}
		one := ing.DeepCopy()
		delete(one.Annotations, name)
		out = append(out, one)
	}
	if ing.Spec.TLS != nil {
		one := ing.DeepCopy()
		one.Spec.TLS = nil
		out = append(out, one)
	}
	if ing.Spec.DefaultBackend != nil && len(ing.Spec.Rules) > 0 {
		one := ing.DeepCopy()
		one.Spec.DefaultBackend = nil
		out = append(out, one)
	}
	for i, rule := range ing.Spec.Rules {
		if len(ing.Spec.Rules) > 1 {
			one := ing.DeepCopy()
			one.Spec.Rules = slices.Delete(one.Spec.Rules, i, i+1)
			out = append(out, one)
		}
		for j := 0; rule.HTTP != nil && len(rule.HTTP.Paths) > 1 && j < len(rule.HTTP.Paths); j++ {
			one := ing.DeepCopy()
			one.Spec.Rules[i].HTTP.Paths = slices.Delete(one.Spec.Rules[i].HTTP.Paths, j, j+1)
			out = append(out, one)
		}
	}
	return out
}
