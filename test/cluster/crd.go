package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

var (
	definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
		Resource: "customresourcedefinitions"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	services   = schema.GroupVersionResource{Version: "v1", Resource: "services"}
)

// gatewayAPI is the module that has the custom resource definitions.
const gatewayAPI = "sigs.k8s.io/gateway-api"

// InstallGatewayAPI makes the server serve the Gateway API, with the fields of the experimental channel, until the server stops.
func (c *Cluster) InstallGatewayAPI() {
	c.tb.Helper()
	if err := c.installGatewayAPI(); err != nil {
		c.tb.Fatalf("installing the Gateway API: %v", err)
	}
}

// InstallPolicyKinds makes the server serve the policy kinds that are built in, with any content, until the server stops.
func (c *Cluster) InstallPolicyKinds() {
	c.tb.Helper()
	if err := c.installPolicyKinds(); err != nil {
		c.tb.Fatalf("installing the policy kinds: %v", err)
	}
}

func (s *server) installGatewayAPI() error {
	texts, err := gatewayDefinitions()
	if err != nil {
		return err
	}
	return s.install(texts)
}

// gatewayDefinitions are the texts of the definitions of the module: those of the experimental channel, and of the standard one where
// there is no other of the file's name. The files hold an admission policy as well, against changing the channel, which is left out.
func gatewayDefinitions() ([]string, error) {
	folder, err := moduleFolder(gatewayAPI)
	if err != nil {
		return nil, err
	}
	var texts, seen []string
	for _, channel := range []string{"experimental", "standard"} {
		files, err := filepath.Glob(filepath.Join(folder, "config", "crd", channel, "*.yaml"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if slices.Contains(seen, filepath.Base(file)) {
				continue
			}
			seen = append(seen, filepath.Base(file))
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if strings.Contains(string(text), "\nkind: CustomResourceDefinition\n") {
				texts = append(texts, string(text))
			}
		}
	}
	if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, consts.BundleVersion) }) {
		return nil, fmt.Errorf("%s has no definitions of %s %s", folder, gatewayAPI, consts.BundleVersion)
	}
	return texts, nil
}

func (s *server) installPolicyKinds() error {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		return err
	}
	own, err := gatewayDefinitions()
	if err != nil {
		return err
	}
	var texts []string
	for _, kind := range catalog.Kinds() {
		name := "name: " + kind.Plural + "." + kind.GroupKind.Group + "\n"
		if slices.Contains(builtIn, kind.GroupKind.Group) ||
			slices.ContainsFunc(own, func(text string) bool {
				return strings.Contains(text,
					name)
			}) { // served with the Gateway API
			continue
		}
		text, err := json.Marshal(definition(kind))
		if err != nil {
			return err
		}
		texts = append(texts, string(text))
	}
	for _, kind := range besides(catalog) {
		text, err := json.Marshal(definition(kind))
		if err != nil {
			return err
		}
		texts = append(texts, string(text))
	}
	return s.install(texts)
}

// besides are the kinds of the vendors' own objects that decide something about policies.
func besides(catalog *descriptor.Catalog) []*policy.Kind {
	var out []*policy.Kind
	for _, k := range catalog.Kinds() {
		for _, gk := range k.Reads {
			known := strings.HasSuffix(gk.Group, "k8s.io") || slices.Contains(builtIn, gk.Group) ||
				catalog.Kind(gk) != nil ||
				slices.ContainsFunc(out, func(o *policy.Kind) bool { return o.GroupKind == gk })
			if !known {
				out = append(out, &policy.Kind{GroupKind: gk, Plural: descriptor.PluralOf(gk.Kind),
					ClusterScoped: slices.Contains(catalog.ClusterScoped(), gk) ||
						strings.HasPrefix(gk.Kind, "Cluster")})
			}
		}
	}
	return out
}

// servedVersion is the version of kinds, or of all kinds of a group, that are not served as v1: descriptors do not know versions.
var servedVersion = map[string]string{"TokenRateLimitPolicy.kuadrant.io": "v1alpha1",
	"XTelemetryPolicy.gateway.networking.x-k8s.io": "v1alpha1",
	"TelemetryPolicy.gateway.networking.k8s.io":    "v1alpha1", "gateway.kgateway.dev": "v1alpha1",
	"gateway.envoyproxy.io": "v1alpha1", "kuma.io": "v1alpha1",
	"gateway.nginx.org": "v1alpha1", "NginxProxy.gateway.nginx.org": "v1alpha2",
	"ObservabilityPolicy.gateway.nginx.org": "v1alpha2",
	"extensions.istio.io":                   "v1alpha1", "EnvoyFilter.networking.istio.io": "v1alpha3",
	"ProxyConfig.networking.istio.io": "v1beta1",
	"policy.networking.k8s.io":        "v1alpha1", "ClusterNetworkPolicy.policy.networking.k8s.io": "v1alpha2",
	"cluster.open-cluster-management.io": "v1beta1", "ManagedCluster.cluster.open-cluster-management.io": "v1",
	"PolicySet.policy.open-cluster-management.io": "v1beta1"}

// builtIn are the groups that the server has without definitions.
var builtIn = []string{"", "apps", "batch", "networking.k8s.io"}

// definition is a custom resource definition that takes any spec and status, without subresources.
func definition(kind *policy.Kind) map[string]any {
	version := cmp.Or(servedVersion[kind.Name()], servedVersion[kind.GroupKind.Group], "v1")
	scope := "Namespaced"
	if kind.ClusterScoped {
		scope = "Cluster"
	}
	name := kind.GroupKind.Kind
	anything := map[string]any{"x-kubernetes-preserve-unknown-fields": true}
	return map[string]any{
		"apiVersion": definitions.GroupVersion().String(), "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": kind.Plural + "." + kind.GroupKind.Group,
			"annotations": map[string]any{
				"api-approved.kubernetes.io": "unapproved, for tests"}}, // the server wants it of groups below k8s.io
		"spec": map[string]any{
			"group": kind.GroupKind.Group, "scope": scope,
			"names": map[string]any{
				"kind": name, "listKind": name + "List", "plural": kind.Plural, "singular": strings.ToLower(name),
				"shortNames": kind.ShortNames,
			},
			"versions": []any{map[string]any{
				"name": version, "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": map[string]any{
						"spec": anything, "status": anything},
				}},
			}},
		},
	}
}

// install creates all definitions, then waits for each: the server sets them up at the same time.
func (s *server) install(texts []string) error {
	var all []*unstructured.Unstructured
	for _, text := range texts {
		objects, err := parse(text)
		if err != nil {
			return err
		}
		for _, o := range objects {
			_, err := s.dynamic.Resource(definitions).Create(context.Background(), o, metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				return fmt.Errorf("installing %s: %w", o.GetName(), err)
			}
		}
		all = append(all, objects...)
	}
	for _, o := range all {
		if err := s.served(o); err != nil {
			return err
		}
	}
	return nil
}

// served waits until the server serves a definition's objects, and says so to clients that ask what it serves.
func (s *server) served(crd *unstructured.Unstructured) error {
	disco, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group") // a definition that the server took has one
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	s.mapper.Reset()
	err = eventually(crd.GetName()+" established", func(ctx context.Context) (bool, error) {
		now, err := s.dynamic.Resource(definitions).Get(ctx, crd.GetName(), metav1.GetOptions{})
		if err != nil || !established(now) {
			return false, err
		}
		_, err = s.dynamic.Resource(definitions).UpdateStatus(ctx, now, metav1.UpdateOptions{})
		if apierrors.IsConflict(err) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return err
	}
	return eventually(crd.GetName()+" served", func(context.Context) (bool, error) {
		for _, v := range versions {
			if version := v.(map[string]any); version["served"] == true {
				ok, err := listed(disco, schema.GroupVersionResource{Group: group, Version: version["name"].(string),
					Resource: plural})
				if !ok || err != nil {
					return false, err
				}
			}
		}
		return true, nil
	})
}

// established reports whether a definition has that condition, and sets its time back: the server lets objects wait for two seconds that are
// made in the first two seconds after it.
func established(crd *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	for _, c := range conditions {
		condition, ok := c.(map[string]any)
		if ok && condition["type"] == "Established" && condition["status"] == "True" {
			condition["lastTransitionTime"] = time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
			return unstructured.SetNestedSlice(crd.Object, conditions, "status", "conditions") == nil
		}
	}
	return false
}

// listed reports whether a resource is in both of the lists that clients read: the one of its group and the one of everything.
func listed(disco *discovery.DiscoveryClient, resource schema.GroupVersionResource) (bool, error) {
	has := func(list *metav1.APIResourceList) bool {
		return list != nil && slices.ContainsFunc(list.APIResources,
			func(r metav1.APIResource) bool { return r.Name == resource.Resource })
	}
	own, err := disco.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if apierrors.IsNotFound(err) || err == nil && !has(own) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, all, failed, err := disco.GroupsAndMaybeResources()
	if err != nil {
		return false, err
	}
	return failed[resource.GroupVersion()] == nil && has(all[resource.GroupVersion()]),
		nil // one that failed is not made yet
}
