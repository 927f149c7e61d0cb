package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Delete deletes everything that was made through c so far, with everything of the same kinds in namespaces that were made, and returns when
// it is gone. Objects that existed before they were applied stay as they are now.
func (c *Cluster) Delete() error {
	var errs []error
	var own []string // namespaces that were made
	for _, o := range c.made {
		if o.resource == namespaces {
			own = append(own, o.name)
		}
	}
	var emptied []object // one object of each kind and namespace that has been emptied
	for _, o := range slices.Backward(c.made) {
		whole := object{resource: o.resource, namespace: o.namespace}
		switch {
		case o.resource == namespaces || o.resource == definitions:
			continue
		case !slices.Contains(own, o.namespace) || o.resource == services: // services have no way to delete all
			errs = append(errs, c.remove(o))
		case !slices.Contains(emptied, whole):
			emptied = append(emptied, whole)
			errs = append(errs, named(whole, c.at(whole).DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{})))
		}
	}
	for _, o := range slices.Backward(c.made) {
		switch o.resource {
		case namespaces:
			errs = append(errs, c.removeNamespace(o))
		case definitions:
			errs = append(errs, c.remove(o), c.gone(o))
			c.mapper.Reset()
		}
	}
	c.made = nil
	return errors.Join(errs...)
}

var services = schema.GroupVersionResource{Version: "v1", Resource: "services"}

// remove deletes one object; it is no fault if there is none.
func (s *server) remove(o object) error {
	err := s.at(o).Delete(context.Background(), o.name, metav1.DeleteOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return named(o, err)
}

// removeNamespace deletes a namespace, and says for the controller that is not there that nothing is left in it.
func (s *server) removeNamespace(o object) error {
	if err := s.remove(o); err != nil {
		return err
	}
	return eventually(o.String()+" gone", func(ctx context.Context) (bool, error) {
		client := s.dynamic.Resource(namespaces)
		ns, err := client.Get(ctx, o.name, metav1.GetOptions{})
		if err == nil && ns.GetDeletionTimestamp() != nil {
			ns.Object["spec"] = map[string]any{"finalizers": []any{}}
			_, err = client.Update(ctx, ns, metav1.UpdateOptions{}, "finalize")
		}
		return goneOrChanged(err)
	})
}

// gone waits until a deleted object is no longer there.
func (s *server) gone(o object) error {
	return eventually(o.String()+" gone", func(ctx context.Context) (bool, error) {
		_, err := s.at(o).Get(ctx, o.name, metav1.GetOptions{})
		return goneOrChanged(err)
	})
}

// goneOrChanged reads the answer to a look at an object that is going: yes if it is not there, no if it is or has been changed meanwhile.
func goneOrChanged(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return false, err
}

func named(o object, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("deleting %s: %w", o, err)
}
