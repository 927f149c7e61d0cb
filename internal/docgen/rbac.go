package main

import (
	"bytes"
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

const rbacHead = `# Everything that kubectl dopolicy reads in a cluster: lists of these kinds, and no Secrets. "watch" is only for --watch.
# Policy kinds without a descriptor are found by their definitions; add a rule for each of them.
# Generated from the descriptors (make docs).
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubectl-dopolicy
rules:
`

// rbacProxies is what asking proxies takes beside: nothing else in the program needs it.
const rbacProxies = `---
# For "audit --proxies" only, which asks the admin port of proxies for their configuration: whoever may forward ports can reach anything
# that the pods listen on. A Role in the namespaces of the proxies does as well.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: kubectl-dopolicy-proxies
rules:
- apiGroups: [""]
  resources:
  - pods/portforward
  verbs: [create, get]
- apiGroups: [""]
  resources:
  - pods
  verbs: [list]
`

// deployedRoles are where the role is for whoever reads from within a cluster, from the folder of the
// documentation.
func deployedRoles() []string {
	return []string{"../deploy/publish/reader.yaml", "../deploy/metrics/reader.yaml"}
}

// rbac is the least ClusterRole with which every answer about a cluster is complete.
func rbac() []byte {
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		panic(err) // the built-in descriptors are tested
	}
	kinds := append(dopolicy.ReadKinds(catalog, nil),
		model.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"})
	var groups []string
	resources := map[string][]string{}
	for _, gk := range kinds {
		plural := descriptor.PluralOf(gk.Kind)
		if k := catalog.Kind(gk); k != nil {
			plural = k.Plural
		}
		if resources[gk.Group] == nil {
			groups = append(groups, gk.Group)
		}
		resources[gk.Group] = append(resources[gk.Group], plural)
	}
	out := bytes.NewBufferString(rbacHead)
	for _, group := range groups {
		fmt.Fprintf(out, "- apiGroups: [%q]\n  resources:\n", group)
		for _, r := range resources[group] {
			fmt.Fprintf(out, "  - %s\n", r)
		}
		fmt.Fprintln(out, "  verbs: [list, watch]")
	}
	return out.Bytes()
}
