package cluster

import (
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

// object is where an object is on the server.
type object struct {
	resource        schema.GroupVersionResource
	namespace, name string
}

func (o object) String() string {
	return o.resource.Resource + "/" + strings.TrimPrefix(o.namespace+"/"+o.name, "/")
}

// change is an object that was there before the test, as it was.
type change struct {
	at     object
	before *unstructured.Unstructured
}

// store creates or replaces an object and its status, and notes which of the two for Delete.
func (c *Cluster) store(at object, o *unstructured.Unstructured) error {
	ctx := context.Background()
	stored, err := c.create(ctx, at, o)
	if apierrors.IsAlreadyExists(err) {
		stored, err = c.replace(ctx, at, o)
	}
	status, hasStatus := o.Object["status"]
	if err != nil || !hasStatus || at.resource == definitions {
		return err
	}
	stored.Object["status"] = status
	_, err = c.at(at).UpdateStatus(ctx, stored, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) { // without the subresource, the status has been stored with the rest
		err = nil
	}
	return err
}

// create makes an object, and its namespace if that is missing.
func (c *Cluster) create(ctx context.Context, at object, o *unstructured.Unstructured) (*unstructured.Unstructured,
	error) {
	stored, err := c.at(at).Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsNotFound(err) && at.namespace != "" {
		if err := c.ensureNamespace(ctx, at.namespace); err != nil {
			return nil, err
		}
		stored, err = c.at(at).Create(ctx, o, metav1.CreateOptions{})
	}
	if err == nil {
		c.made = append(c.made, at)
	}
	return stored, err
}

func (c *Cluster) ensureNamespace(ctx context.Context, name string) error {
	at := object{resource: namespaces, name: name}
	ns := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace",
		"metadata": map[string]any{"name": name}}}
	_, err := c.create(ctx, at, ns)
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// replace puts o in the place of the stored object of its name.
func (c *Cluster) replace(ctx context.Context, at object,
	o *unstructured.Unstructured) (stored *unstructured.Unstructured, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error { // the server itself writes to definitions
		old, err := c.at(at).Get(ctx, at.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !slices.Contains(c.made, at) && !slices.ContainsFunc(c.changed, func(x change) bool { return x.at == at }) {
			c.changed = append(c.changed, change{at, old})
		}
		stored, err = c.at(at).Update(ctx, successor(old, o), metav1.UpdateOptions{})
		return err
	})
	return stored, err
}

// successor is o with what the server alone gives and does not let go.
func successor(old, o *unstructured.Unstructured) *unstructured.Unstructured {
	out := o.DeepCopy()
	out.SetResourceVersion(old.GetResourceVersion())
	given, _, err := unstructured.NestedMap(old.Object, "spec")
	if spec, ok := out.Object["spec"].(map[string]any); ok && err == nil && o.GetKind() == "Service" {
		maps.DeleteFunc(given, func(k string, _ any) bool {
			return spec[k] != nil ||
				!strings.HasPrefix(k, "clusterIP")
		})
		maps.Copy(spec, given)
	}
	return out
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
