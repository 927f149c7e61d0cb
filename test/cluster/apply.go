package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

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
			return fmt.Errorf("applying %s %s: %w", o.GetKind(), strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(),
				"/"), err)
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
	if err := c.store(at, o); err != nil {
		return err
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
