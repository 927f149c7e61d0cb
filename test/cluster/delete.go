package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Delete deletes everything that was made through c so far, with everything of the same kinds in namespaces that were made, and returns
// when it is gone; finalizers do not hold it. What existed before it was applied becomes what it was, but for its status.
func (c *Cluster) Delete() error {
	var errs []error
	var own []string // namespaces that were made
	for _, o := range c.made {
		if o.resource == namespaces {
			own = append(own, o.name)
		}
	}
	var emptied []object // with no name: all of a kind in a namespace
	for _, o := range slices.Backward(c.made) {
		all := object{resource: o.resource, namespace: o.namespace}
		switch {
		case o.resource == namespaces || o.resource == definitions: // later
		case !slices.Contains(own, o.namespace):
			errs = append(errs, named(o, c.remove(o)))
		case !slices.Contains(emptied, all):
			emptied = append(emptied, all)
			errs = append(errs, named(all, c.empty(all)))
		}
	}
	for _, o := range slices.Backward(c.made) {
		switch o.resource {
		case namespaces:
			errs = append(errs, named(o, c.removeNamespace(o)))
		case definitions:
			errs = append(errs, named(o, c.remove(o)))
			c.mapper.Reset()
		}
	}
	for _, x := range c.changed {
		_, err := c.replace(context.Background(), x.at, x.before)
		errs = append(errs, named(x.at, err))
	}
	c.made, c.changed = nil, nil
	return errors.Join(errs...)
}

// empty deletes all objects of a kind in a namespace.
func (s *server) empty(all object) error {
	ctx := context.Background()
	err := s.at(all).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if apierrors.IsNotFound(err) { // the kind has gone
		return nil
	}
	if err != nil {
		return err
	}
	left, err := s.at(all).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range left.Items {
		if err := s.remove(object{all.resource, all.namespace, o.GetName()}); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes one object and waits until it is gone; it is no fault if there is none. The finalizers of tests are taken away, since no
// controller does; definitions have one of the server's own, which knows what it is for.
func (s *server) remove(o object) error {
	err := s.at(o).Delete(context.Background(), o.name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return eventually(o.String()+" gone", func(ctx context.Context) (bool, error) {
		left, err := s.at(o).Get(ctx, o.name, metav1.GetOptions{})
		if err == nil && len(left.GetFinalizers()) > 0 && o.resource != definitions {
			_, err = s.at(o).Patch(ctx, o.name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`),
				metav1.PatchOptions{})
		}
		return gone(err)
	})
}

// removeNamespace deletes a namespace, and says for the controller that is not there that nothing is left in it.
func (s *server) removeNamespace(o object) error {
	err := s.at(o).Delete(context.Background(), o.name, metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return eventually(o.String()+" gone", func(ctx context.Context) (bool, error) {
		left, err := s.at(o).Get(ctx, o.name, metav1.GetOptions{})
		if err == nil {
			left.Object["spec"] = map[string]any{"finalizers": []any{}}
			_, err = s.at(o).Update(ctx, left, metav1.UpdateOptions{}, "finalize")
		}
		return gone(err)
	})
}

// gone reads the answer to a look at an object that is going: yes if it is not there, not yet if it is or has been changed meanwhile.
func gone(err error) (bool, error) {
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	if apierrors.IsConflict(err) {
		return false, nil
	}
	return false, err
}

// named says of an error which object was to be deleted or put back.
func named(o object, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("tidying %s: %w", o, err)
}
