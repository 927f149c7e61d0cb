package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// CreatedAt makes the server say that an object was created at a time, cut to seconds. The API has no way to choose it, so it is written
// to etcd; CreatedAt returns when the server gives it out.
func (c *Cluster) CreatedAt(ref model.Ref, at time.Time) {
	c.tb.Helper()
	mapping, err := c.mapping(schema.GroupVersionKind{Group: ref.Group, Kind: ref.Kind})
	if err == nil {
		err = c.setCreated(object{mapping.Resource, ref.Namespace, ref.Name}, at)
	}
	if err != nil {
		c.tb.Fatalf("changing the creation time of %s: %v", ref, err)
	}
}

func (s *server) setCreated(o object, at time.Time) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.etcdURL}, DialTimeout: patience})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stamp := at.UTC().Format(time.RFC3339)
	if err := restamp(ctx, client, o.key(), stamp); err != nil {
		return err
	}
	return eventually("the new creation time", func(ctx context.Context) (bool, error) {
		now, err := s.at(o).Get(ctx, o.name, metav1.GetOptions{})
		return err == nil && now.GetCreationTimestamp().UTC().Format(time.RFC3339) == stamp, err
	})
}

// restamp changes the creation time in a stored object, unless somebody else changes the object at the same time.
func restamp(ctx context.Context, client *clientv3.Client, key, stamp string) error {
	got, err := client.Get(ctx, key)
	if err != nil {
		return err
	}
	if len(got.Kvs) != 1 {
		return fmt.Errorf("etcd has nothing at %s", key)
	}
	stored := map[string]json.RawMessage{}
	if err := json.Unmarshal(got.Kvs[0].Value, &stored); err != nil {
		return fmt.Errorf("reading %s: %w", key, err)
	}
	metadata := map[string]json.RawMessage{}
	if err := json.Unmarshal(stored["metadata"], &metadata); err != nil {
		return fmt.Errorf("reading the metadata of %s: %w", key, err)
	}
	if metadata["creationTimestamp"], err = json.Marshal(stamp); err != nil {
		return err
	}
	if stored["metadata"], err = json.Marshal(metadata); err != nil {
		return err
	}
	value, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	unchanged := clientv3.Compare(clientv3.ModRevision(key), "=", got.Kvs[0].ModRevision)
	done, err := client.Txn(ctx).If(unchanged).Then(clientv3.OpPut(key, string(value))).Commit()
	if err == nil && !done.Succeeded {
		err = fmt.Errorf("%s was changed at the same time", key)
	}
	return err
}

// key is where etcd has an object. Custom resources lie below their group, most built-in kinds do not, and services have a folder more.
func (o object) key() string {
	group, resource := o.resource.Group, o.resource.Resource
	if scheme.Scheme.IsGroupRegistered(
		group) { // the client library knows the groups of built-in kinds, but for definitions
		group = ""
	}
	if o.resource == services {
		resource = "services/specs"
	}
	return path.Join("/registry", group, resource, o.namespace, o.name)
}
