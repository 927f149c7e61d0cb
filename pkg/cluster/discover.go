package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"slices"
	"strings"
	"sync"
	"time"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// This file finds out what a server serves, as client-go's discovery does. That package registers
// every type of Kubernetes before the program begins, which every command would pay for.

// discoveryTypes is what a server is asked for: everything in two answers, and from servers before
// 1.27 the groups alone.
const discoveryTypes = runtime.ContentTypeJSON + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList," +
	runtime.ContentTypeJSON + ";g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList," + runtime.ContentTypeJSON

// discoveredKinds is what a server serves: the groups in its order, and what there is of the
// versions that answer.
type discoveredKinds struct {
	groups     []discoveredGroup
	kinds      map[schema.GroupVersion][]model.ServedKind // those that can be listed
	failed     map[schema.GroupVersion]error
	aggregated bool // the kinds came with the groups
}

type discoveredGroup struct {
	name     string
	versions []string // the preferred one first
}

// failedGroups are versions of groups that do not answer now. The others do.
type failedGroups map[schema.GroupVersion]error

func (f failedGroups) Error() string {
	var all []string
	for gv, err := range f {
		all = append(all, fmt.Sprintf("%s: %v", gv, err))
	}
	slices.Sort(all)
	return "unable to retrieve the complete list of server APIs: " + strings.Join(all, ", ")
}

// discoverKinds returns all kinds that can be listed, each in the first of the group's versions
// that serves it (the preferred one is first), sorted. A group whose own server does not answer is
// left out and named by the error (failedGroups), with which the other kinds come.
func (s *Server) discoverKinds(ctx context.Context) ([]model.ServedKind, error) {
	start := time.Now()
	var d discoveredKinds
	var err error
	for range 2 { // a group may come and go
		d, err = s.requestDiscovery(ctx)
		if err != nil || len(d.failed) == 0 {
			break
		}
	}
	if err == nil && len(d.failed) > 0 {
		err = failedGroups(d.failed)
	}
	s.log("discovery of %d groups %s in %d ms", len(d.groups), formatOutcome(err), time.Since(start).Milliseconds())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var out []model.ServedKind
	for _, group := range d.groups {
		seen := map[string]bool{}
		for _, version := range group.versions {
			for _, k := range d.kinds[schema.GroupVersion{Group: group.name, Version: version}] {
				if !seen[k.Kind] {
					seen[k.Kind] = true
					out = append(out, k)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b model.ServedKind) int { return a.GroupKind.Compare(b.GroupKind) })
	return out, err
}

// requestDiscovery asks once. Where one of the two answers has groups alone, every version of them
// is asked for its kinds.
func (s *Server) requestDiscovery(ctx context.Context) (discoveredKinds, error) {
	d := discoveredKinds{kinds: map[schema.GroupVersion][]model.ServedKind{}, failed: map[schema.GroupVersion]error{},
		aggregated: true}
	for _, path := range []string{"/api", "/apis"} {
		contentType := ""
		body, err := s.requestPath(ctx, path, discoveryTypes, &contentType)
		if path == "/api" && apierrors.IsNotFound(err) { // a server that serves only groups of its own
			continue
		}
		if err == nil {
			err = d.addAnswer(path, body, contentType)
		}
		if err != nil {
			return discoveredKinds{}, err
		}
	}
	if !d.aggregated {
		s.discoverEachVersion(ctx, &d)
	}
	return d, nil
}

// requestPath returns the answer to one request for what is served.
func (s *Server) requestPath(ctx context.Context, path, accept string, contentType *string) ([]byte, error) {
	result := s.rest.Get().AbsPath(path).SetHeader("Accept", accept).Do(ctx).ContentType(contentType)
	if err := result.Error(); err != nil { // with the server's own words
		return nil, err
	}
	return result.Raw()
}

// addAnswer takes in one answer.
func (d *discoveredKinds) addAnswer(path string, body []byte, contentType string) error {
	base, params, err := mime.ParseMediaType(contentType)
	if err == nil && base == runtime.ContentTypeJSON && params["g"] == apidiscovery.GroupName &&
		(params["v"] == "v2" || params["v"] == "v2beta1") && params["as"] == "APIGroupDiscoveryList" {
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return err
		}
		for _, group := range list.Items {
			d.addGroup(group)
		}
		return nil
	}
	d.aggregated = false
	if path == "/api" {
		var versions metav1.APIVersions
		if err := json.Unmarshal(body, &versions); err != nil {
			return err
		}
		d.groups = append(d.groups, discoveredGroup{"", versions.Versions})
		return nil
	}
	var list metav1.APIGroupList
	if err := json.Unmarshal(body, &list); err != nil {
		return err
	}
	for _, group := range list.Groups {
		g := discoveredGroup{name: group.Name}
		for _, v := range group.Versions {
			g.versions = append(g.versions, v.Version)
		}
		if i := slices.Index(g.versions, group.PreferredVersion.Version); i > 0 {
			g.versions = slices.Insert(slices.Delete(g.versions, i, i+1), 0, group.PreferredVersion.Version)
		}
		d.groups = append(d.groups, g)
	}
	return nil
}

// addGroup takes in a group that came with its kinds. The versions that are marked as stale are
// those of a server that does not answer.
func (d *discoveredKinds) addGroup(group apidiscovery.APIGroupDiscovery) {
	g := discoveredGroup{name: group.Name}
	for _, v := range group.Versions {
		gv := schema.GroupVersion{Group: group.Name, Version: v.Version}
		if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
			d.failed[gv] = fmt.Errorf("stale GroupVersion discovery: %v", gv)
			continue
		}
		g.versions = append(g.versions, v.Version)
		var kinds []model.ServedKind
		for _, r := range v.Resources {
			if r.ResponseKind != nil && *r.ResponseKind != (metav1.GroupVersionKind{}) &&
				slices.Contains(r.Verbs, "list") {
				kinds = append(kinds, model.ServedKind{GroupKind: model.GroupKind{Group: group.Name,
					Kind: r.ResponseKind.Kind}, Version: v.Version, Plural: r.Resource,
					Singular: r.SingularResource, ShortNames: r.ShortNames,
					Namespaced: r.Scope == apidiscovery.ScopeNamespace})
			}
		}
		d.kinds[gv] = kinds
	}
	d.groups = append(d.groups, g)
}

// discoverEachVersion asks every version of every group for its kinds, in parallel.
func (s *Server) discoverEachVersion(ctx context.Context, d *discoveredKinds) {
	clear(d.kinds)
	clear(d.failed)
	var one sync.Mutex
	var all sync.WaitGroup
	for _, group := range d.groups {
		for _, version := range group.versions {
			gv := schema.GroupVersion{Group: group.name, Version: version}
			all.Go(func() {
				kinds, err := s.listKinds(ctx, gv)
				one.Lock()
				defer one.Unlock()
				if err != nil {
					d.failed[gv] = err
					return
				}
				d.kinds[gv] = kinds
			})
		}
	}
	all.Wait()
}

// listKinds returns the kinds of one version of a group that can be listed.
func (s *Server) listKinds(ctx context.Context, gv schema.GroupVersion) ([]model.ServedKind, error) {
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	body, err := s.requestPath(ctx, path, runtime.ContentTypeJSON, new(string))
	if err != nil {
		return nil, err
	}
	var list metav1.APIResourceList
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, err
	}
	var out []model.ServedKind
	for _, r := range list.APIResources {
		if strings.Contains(r.Name, "/") || !slices.Contains([]string(r.Verbs), "list") {
			continue
		}
		out = append(out, model.ServedKind{GroupKind: model.GroupKind{Group: gv.Group, Kind: r.Kind},
			Version: gv.Version, Plural: r.Name,
			Singular: r.SingularName, ShortNames: r.ShortNames, Namespaced: r.Namespaced})
	}
	return out, nil
}
