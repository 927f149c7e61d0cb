package cluster

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

const vendors = "../../testdata/vendors"

// vector is what is read of the head of a vector.
type vector struct {
	Base     string
	Settings map[string]any
}

// fewestVectors is how many of all vectors the server has to take at least: those with objects that it refuses cannot be asked of a cluster.
const fewestVectors = 128

// someVectors are asked unless all are: two of each vendor, which together have policies at every level, ages that decide, references that
// lead nowhere or to other namespaces, listener sets, meshes, pods, delegation, and kinds that only their definition tells about.
var someVectors = []string{
	"envoygateway/connections", "envoygateway/selectors",
	"gatewayapi/listenerset-conflict-by-age", "gatewayapi/mesh-policies",
	"gep713/merge-entries", "gep713/same-level-overrides",
	"gloo/choices", "gloo/delegation",
	"istio/attach-references", "istio/jwt-rules",
	"kgateway/delegation", "kgateway/policy-merge",
	"kuadrant/four-levels", "kuadrant/same-level-defaults-by-age",
	"kuma/outbound-levels", "kuma/role-producer-and-consumer",
	"networkpolicy/pass-ends-the-tier", "networkpolicy/shadowed",
	"nginx/limits", "nginx/same-age",
	"ocm/bindings-union", "ocm/set-status",
}

// allVectors reports whether the environment asks for all of them (make test-cluster VECTORS=all).
func allVectors() bool { return os.Getenv("VECTORS") == "all" }

// openOffline are the vectors about what manifests leave open and a cluster does not, or the reverse, in ways that change more of the answer
// than settled mends.
var openOffline = map[string]string{
	"gatewayapi/client-validation":         "ConfigMaps are not read from a cluster",
	"gatewayapi/certificate-content":       "ConfigMaps are not read from a cluster",
	"gatewayapi/listenerset-unknown":       "what is not in the input does not exist in a cluster",
	"gep713/generic-by-shape":              "a definition without fields does not tell that its objects name targets: they are not read from a cluster",
	"istio/core-backend-tls":               "the root namespace is assumed to exist, and does not in this cluster",
	"istio/core-backend-traffic":           "the root namespace is assumed to exist, and does not in this cluster",
	"istio/destination-exports":            "the root namespace is assumed to exist, and does not in this cluster",
	"istio/destination-hosts":              "the root namespace is assumed to exist, and does not in this cluster",
	"istio/destination-rules":              "the root namespace is assumed to exist, and does not in this cluster",
	"kuadrant/profile-by-kind":             "the server has definitions of these kinds already",
	"kuadrant/profile-definition-operator": "the server has definitions of these kinds already",
	"kuadrant/profile-definition-rfc":      "the server has definitions of these kinds already",
	"kgateway/faults":                      "what is not in the input does not exist in a cluster",
	"ocm/undecided":                        "a PlacementRule of a cluster without a status has chosen nothing yet",
}

// computed is the setting of a vendor whose control plane completes labels.
const computed = "kuma.labels"

// TestLiveVectors applies vectors, and asks the cluster and a dump of it the same: the answers are the same.
func TestLiveVectors(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(vendors, "*", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	var refused []string
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "base") {
			continue
		}
		name := strings.TrimSuffix(filepath.ToSlash(strings.TrimPrefix(file, filepath.FromSlash(vendors)+
			string(filepath.Separator))), ".yaml")
		if !allVectors() && !slices.Contains(someVectors, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if why := openOffline[name]; why != "" {
				t.Skip(why)
			}
			c := Shared(t)
			args, texts := readVector(t, file)
			c.defineMissing(texts)
			if err := c.Apply(texts...); err != nil {
				refused = append(refused, name)
				t.Skipf("the server refuses the vector: %v", err)
			}
			ran++
			sameLiveAndOffline(t, c, args)
		})
	}
	fewest := len(someVectors) // none of them is refused
	if allVectors() {
		fewest = fewestVectors
	}
	if ran < fewest {
		t.Errorf("the server took %d vectors, want at least %d; it refused %s", ran, fewest,
			strings.Join(refused, ", "))
	}
	t.Logf("%d vectors, and %d that the server refused", ran, len(refused))
}

// TestLiveDemo is TestLiveVectors for the demo.
func TestLiveDemo(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	sameLiveAndOffline(t, c, nil)
}

// readVector is what the program is called with for a vector, and the manifests.
func readVector(t *testing.T, file string) (args, texts []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, _ := bytes.Cut(text, []byte("\n---\n"))
	var v vector
	if err := yaml.Unmarshal(head, &v); err != nil {
		t.Fatal(err)
	}
	texts = []string{string(rest)}
	if v.Base != "" {
		base, err := os.ReadFile(filepath.Join(filepath.Dir(file), v.Base))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(base))
	}
	for name, value := range v.Settings {
		args = append(args, "--vendor-setting", fmt.Sprintf("%s=%v", name, value))
	}
	if _, said := v.Settings[computed]; !said && filepath.Base(filepath.Dir(file)) == strings.Split(computed, ".")[0] {
		args = append(args, "--vendor-setting", computed+"=compute") // no control plane writes the labels here
	}
	return args, texts
}

// defineMissing makes definitions for the kinds of objects that the server does not serve, unless the texts have them themselves: they take
// anything, and look like those of policies if the kinds are called so.
func (c *Cluster) defineMissing(texts []string) {
	c.tb.Helper()
	var objects []*unstructured.Unstructured
	defined := map[string]bool{}
	for _, text := range texts {
		more, err := parse(text)
		if err != nil {
			c.tb.Fatal(err)
		}
		objects = append(objects, more...)
	}
	for _, o := range objects {
		if turn(o) == 0 {
			kind, _, _ := unstructured.NestedString(o.Object, "spec", "names", "kind")
			defined[kind] = true
		}
	}
	for _, o := range objects {
		gvk := o.GroupVersionKind()
		if _, err := c.mapping(gvk); !meta.IsNoMatchError(err) || defined[gvk.Kind] {
			continue
		}
		defined[gvk.Kind] = true
		c.MustApply(asJSON(c.tb, permissive(gvk)))
	}
}

// permissive is the definition of a kind that no descriptor describes.
func permissive(gvk schema.GroupVersionKind) map[string]any {
	kind := &policy.Kind{}
	kind.GroupKind = model.GroupKind{Group: gvk.Group, Kind: gvk.Kind}
	kind.Plural, kind.ClusterScoped = descriptor.PluralOf(gvk.Kind), strings.HasPrefix(gvk.Kind, "Cluster")
	crd := definition(kind)
	version := crd["spec"].(map[string]any)["versions"].([]any)[0].(map[string]any)
	version["name"] = gvk.Version
	if strings.HasSuffix(gvk.Kind, "Policy") {
		text := map[string]any{"type": "string"}
		open := func(properties map[string]any) map[string]any {
			return map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true,
				"properties": properties}
		}
		properties := version["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)["properties"].(map[string]any)
		properties["spec"] = open(map[string]any{"targetRef": open(map[string]any{"group": text, "kind": text,
			"name": text})})
	}
	return crd
}

// questions are those whose answers are compared.
var questions = [][]string{{"effective", "-A", "--show-none"}, {"overridden", "-A"}, {"status", "-A"}}

// sameLiveAndOffline asks the cluster, and the objects that it has as manifests.
func sameLiveAndOffline(t *testing.T, c *Cluster, args []string) {
	t.Helper()
	kubeconfig, file := c.Kubeconfig("admin", ""), c.dump()
	for _, question := range questions {
		question := slices.Concat(question, args)
		offline := askJSON(t, "", slices.Concat(question, []string{"-f", file})...)
		live := askJSON(t, kubeconfig, question...)
		offline.settled()
		sameAnswer(t, strings.Join(question, " "), offline, live)
	}
}

// settled is what manifests leave open and a cluster does not (gatewayapi G10): a parent that is not in there does not exist, and nothing is
// proposed to add the manifest of. Secrets and ConfigMaps are read from neither.
func (a *answer) settled() {
	const absent, gone = " is not in the input", " does not exist"
	a.Problems = slices.DeleteFunc(a.Problems, func(p map[string]any) bool {
		message := p["message"].(string)
		return strings.Contains(message, absent+"; no path through it") ||
			strings.Contains(message, absent+" and counts as missing")
	})
	for _, p := range a.Problems {
		if hint, _ := p["hint"].(string); hint == "add its manifest if it exists" ||
			strings.HasPrefix(hint, "add the manifests of the Secrets") {
			delete(p, "hint")
		}
		if p["code"] == "NotReached" {
			p["message"] = strings.ReplaceAll(p["message"].(string), absent, gone)
		}
	}
	for _, item := range a.Items {
		ancestors, _ := item["ancestors"].([]any) // of an answer to status
		for _, ancestor := range ancestors {
			for _, c := range ancestor.(map[string]any)["conditions"].([]any) {
				condition := c.(map[string]any)
				name, open := strings.CutSuffix(condition["message"].(string), absent)
				if withheld := strings.HasPrefix(name, "secret/") || strings.HasPrefix(name, "configmap/"); open &&
					!withheld {
					condition["message"], condition["status"] = name+gone, "False"
				}
			}
		}
	}
}
