package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// object is where an object is on the server.
type object struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func (o object) String() string {
	return o.resource.Resource + "/" + strings.TrimPrefix(o.namespace+"/"+o.name, "/")
}

// Apply makes the objects of YAML or JSON texts, lists included, or replaces those that exist. Custom resource definitions come first, and
// are served when Apply returns; then namespaces, and whatever else in the order of the texts. Namespaces that are missing are made, and
// an object without one is in "default". A status is stored as it is given, and so is a creation time, which a server would not take over
// itself. The error names the object that the server refused; nothing behind it is made.
func (c *Cluster) Apply(texts ...string) error {
	var objects []*unstructured.Unstructured
	for _, text := range texts {
		more, err := parse(text)
		if err != nil {
			return err
		}
		objects = append(objects, more...)
	}
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int { return cmp.Compare(turn(a), turn(b)) })
	for _, o := range objects {
		if err := c.applyOne(o); err != nil {
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"), err)
		}
	}
	return nil
}

// MustApply is Apply for objects that the server has to take.
func (c *Cluster) MustApply(texts ...string) {
	c.tb.Helper()
	if err := c.Apply(texts...); err != nil {
		c.tb.Fatal(err)
	}
}

// ApplyFiles is MustApply for files, and for the .yaml files of folders.
func (c *Cluster) ApplyFiles(paths ...string) {
	c.tb.Helper()
	var texts []string
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			c.tb.Fatal(err)
		} else if info.IsDir() {
			files, _ = filepath.Glob(filepath.Join(path, "*.yaml")) // fails only for a bad pattern
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				c.tb.Fatal(err)
			}
			texts = append(texts, string(text))
		}
	}
	c.MustApply(texts...)
}

// turn is when an object is applied: what it needs comes before it.
func turn(o *unstructured.Unstructured) int {
	switch o.GetKind() {
	case "CustomResourceDefinition":
		return 0
	case "Namespace":
		return 1
	}
	return 2
}

// parse reads the documents of a text, and takes lists apart.
func parse(text string) ([]*unstructured.Unstructured, error) {
	decoder := yaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	var out []*unstructured.Unstructured
	for {
		var raw runtime.RawExtension
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if len(raw.Raw) == 0 || string(raw.Raw) == "null" {
			continue // comments only
		}
		o := &unstructured.Unstructured{}
		if err := o.UnmarshalJSON(raw.Raw); err != nil {
			return nil, err
		}
		if !o.IsList() {
			out = append(out, o)
			continue
		}
		list, err := o.ToList()
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			out = append(out, &list.Items[i])
		}
	}
}

func (c *Cluster) applyOne(o *unstructured.Unstructured) error {
	mapping, err := c.mapping(o.GroupVersionKind())
	if err != nil {
		return err
	}
	if mapping.Scope.Name() != meta.RESTScopeNameNamespace {
		o.SetNamespace("")
	} else {
		o.SetNamespace(cmp.Or(o.GetNamespace(), "default"))
	}
	at := object{mapping.Resource, o.GetNamespace(), o.GetName()}
	created := o.GetCreationTimestamp()
	made, err := c.store(at, o)
	if err != nil {
		return err
	}
	if made {
		c.made = append(c.made, at)
	}
	if turn(o) == 0 {
		if err := c.served(o); err != nil {
			return err
		}
	}
	if created.IsZero() {
		return nil
	}
	return c.setCreated(at, created.Time)
}

// store creates or replaces an object and its status. It reports whether the object was not there before.
func (c *Cluster) store(at object, o *unstructured.Unstructured) (made bool, err error) {
	ctx := context.Background()
	client := c.at(at)
	status, hasStatus := o.Object["status"]
	stored, err := client.Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) && at.namespace != "" {
		if err := c.ensureNamespace(at.namespace); err != nil {
			return false, err
		}
		stored, err = client.Create(ctx, o, metav1.CreateOptions{})
	}
	made = err == nil
	if apierrors.IsAlreadyExists(err) {
		stored, err = c.replace(ctx, client, o)
	}
	if err != nil || !hasStatus || turn(o) == 0 {
		return made, err
	}
	stored.Object["status"] = status
	_, err = client.UpdateStatus(ctx, stored, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) { // without the subresource, the status has been stored with the rest
		err = nil
	}
	return made, err
}

// replace puts o in the place of the stored object of its name, and keeps what the server alone gives.
func (c *Cluster) replace(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	old, err := client.Get(ctx, o.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	fresh := o.DeepCopy()
	fresh.SetResourceVersion(old.GetResourceVersion())
	if spec, ok := fresh.Object["spec"].(map[string]any); ok && o.GetKind() == "Service" {
		given, _, err := unstructured.NestedMap(old.Object, "spec")
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(given, func(k string, _ any) bool { return spec[k] != nil || !strings.HasPrefix(k, "clusterIP") })
		maps.Copy(spec, given)
	}
	return client.Update(ctx, fresh, metav1.UpdateOptions{})
}

func (c *Cluster) ensureNamespace(name string) error {
	at := object{resource: namespaces, name: name}
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}}
	_, err := c.at(at).Create(context.Background(), ns, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err == nil {
		c.made = append(c.made, at)
	}
	return err
}

// at is the client for the object's kind in its namespace.
func (s *server) at(o object) dynamic.ResourceInterface {
	if o.namespace == "" {
		return s.dynamic.Resource(o.resource)
	}
	return s.dynamic.Resource(o.resource).Namespace(o.namespace)
}

// mapping finds the resource of a kind; kinds that were not there when the server was last asked are looked for again.
func (s *server) mapping(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	m, err := s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if meta.IsNoMatchError(err) {
		s.mapper.Reset()
		m, err = s.mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	}
	return m, err
}
