package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName names the context, the cluster and the user in every kubeconfig file.
const contextName = "test"

// users are the clients that a server has certificates for.
type users struct {
	sync.Mutex
	byName map[string]user
}

type user struct {
	groups []string
	config *rest.Config
}

// User makes a user in these groups, and "system:authenticated" as all users are. It outlives the test on a shared server: a second call
// for the name has to be for the same groups.
func (c *Cluster) User(name string, groups ...string) {
	c.tb.Helper()
	if err := c.addUser(name, groups); err != nil {
		c.tb.Fatalf("making user %s: %v", name, err)
	}
}

func (s *server) addUser(name string, groups []string) error {
	s.users.Lock()
	defer s.users.Unlock()
	if known, ok := s.users.byName[name]; ok {
		if !slices.Equal(known.groups, groups) {
			return fmt.Errorf("there is one in the groups %q", known.groups)
		}
		return nil
	}
	cert, key, err := s.authority.user(name, groups)
	if err != nil {
		return err
	}
	if s.users.byName == nil {
		s.users.byName = map[string]user{}
	}
	s.users.byName[name] = user{groups: groups, config: s.configFor(s.config.Host, cert, key)}
	return nil
}

func (s *server) userConfig(name string) (*rest.Config, error) {
	if name == admin {
		if err := s.addUser(admin, []string{masters}); err != nil {
			return nil, err
		}
	}
	s.users.Lock()
	defer s.users.Unlock()
	known, ok := s.users.byName[name]
	if !ok {
		return nil, fmt.Errorf("there is no user %s: call User first", name)
	}
	return rest.CopyConfig(known.config), nil
}

// Kubeconfig is the path of a kubeconfig file for the user, "admin" or one of User, with the namespace as the current one ("" for none).
// Its one context is called "test". The file is the test's own.
func (c *Cluster) Kubeconfig(user, namespace string) string {
	c.tb.Helper()
	config := c.Config(user)
	path, err := writeKubeconfig(c.tb.TempDir(), namespace, &clientcmdapi.Cluster{Server: config.Host,
		CertificateAuthorityData: config.CAData},
		&clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData})
	if err != nil {
		c.tb.Fatal(err)
	}
	return path
}

func writeKubeconfig(folder, namespace string, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) (string,
	error) {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = cluster
	config.AuthInfos[contextName] = user
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName,
		Namespace: namespace}
	config.CurrentContext = contextName
	f, err := os.CreateTemp(folder, "kubeconfig-*")
	if err != nil {
		return "", err
	}
	path := filepath.Clean(f.Name())
	if err := f.Close(); err != nil {
		return "", err
	}
	return path, clientcmd.WriteToFile(*config, path)
}

// Allow lets a user do what the rules say, in one namespace or, with "", everywhere, and returns when that is in force. It takes away
// nothing that was allowed before.
func (c *Cluster) Allow(user, namespace string, rules ...rbacv1.PolicyRule) {
	c.tb.Helper()
	role, binding := "Role", "RoleBinding"
	if namespace == "" {
		role, binding = "ClusterRole", "ClusterRoleBinding"
	}
	name := fmt.Sprintf("%s-%d", user, time.Now().UnixNano())
	objects := []map[string]any{
		{"kind": role, "rules": rules},
		{"kind": binding, "roleRef": map[string]any{"apiGroup": rbacv1.GroupName, "kind": role, "name": name},
			"subjects": []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": "User", "name": user}}},
	}
	for _, o := range objects {
		o["apiVersion"] = rbacv1.SchemeGroupVersion.String()
		o["metadata"] = map[string]any{"name": name, "namespace": namespace}
		text, err := json.Marshal(o)
		if err == nil {
			err = c.Apply(string(text))
		}
		if err != nil {
			c.tb.Fatalf("allowing %s: %v", user, err)
		}
	}
	for _, rule := range rules {
		if err := c.allowed(user, namespace, rule); err != nil {
			c.tb.Fatalf("allowing %s: %v", user, err)
		}
	}
}

// allowed waits until the server has read a rule: it follows its own roles with some delay.
func (s *server) allowed(user, namespace string, rule rbacv1.PolicyRule) error {
	client, err := authorization.NewForConfig(s.config)
	if err != nil {
		return err
	}
	first := func(list []string) string { return append(list, "")[0] }
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: user}}
	if len(rule.NonResourceURLs) > 0 {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: first(rule.NonResourceURLs),
			Verb: first(rule.Verbs)}
	} else {
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: first(rule.Verbs), Group: first(rule.APIGroups), Resource: first(
				rule.Resources), Name: first(rule.ResourceNames),
		}
	}
	return eventually(fmt.Sprintf("%s of %s in force", first(rule.Verbs), first(rule.Resources)),
		func(ctx context.Context) (bool, error) {
			answer, err := client.SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
			return err == nil && answer.Status.Allowed, err
		})
}

// patience is how long the harness waits for what a server does by itself.
const patience = 30 * time.Second

// eventually asks until the answer is yes. An error ends the waiting.
func eventually(what string, done func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		if ok, err := done(ctx); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
