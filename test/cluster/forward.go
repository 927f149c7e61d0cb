package cluster

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authorization "k8s.io/client-go/kubernetes/typed/authorization/v1"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
)

// forwarder stands in front of a server and forwards ports of pods, which a server without kubelets cannot. Everybody is its user: whether they
// may is the server's answer, and so is everything else.
type forwarder struct {
	tb      testing.TB
	client  authorization.AuthorizationV1Interface
	rest    http.Handler
	answers map[string]func(httpstream.Stream) // by the pod's name
}

// forwarder starts one that asks the server as the user, and is the path of a kubeconfig file for it.
func (c *Cluster) forwarder(user string, answers map[string]func(httpstream.Stream)) string {
	c.tb.Helper()
	client, err := authorization.NewForConfig(c.Config(user))
	if err != nil {
		c.tb.Fatal(err)
	}
	server := httptest.NewServer(&forwarder{tb: c.tb, client: client, rest: c.Proxy(user, nil), answers: answers})
	c.tb.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	path, err := writeKubeconfig(c.tb.TempDir(), "", &clientcmdapi.Cluster{Server: server.URL},
		&clientcmdapi.AuthInfo{})
	if err != nil {
		c.tb.Fatal(err)
	}
	return path
}

// ServeHTTP handles one request.
func (f *forwarder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/") // api v1 namespaces NAMESPACE pods NAME portforward
	if len(parts) != 7 || parts[6] != "portforward" {
		f.rest.ServeHTTP(w, r)
		return
	}
	review, err := f.client.SelfSubjectAccessReviews().Create(r.Context(),
		&authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: parts[3], Name: parts[5], Verb: "create",
				Resource: "pods", Subresource: "portforward"},
		}}, metav1.CreateOptions{})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	case !review.Status.Allowed:
		r.Header.Del("Upgrade") // which HTTP/2 does not have
		r.Header.Del("Connection")
		f.rest.ServeHTTP(w, r) // the server refuses it in its own words
		return
	case r.Header.Get("Upgrade") != "SPDY/3.1":
		http.Error(w, "only SPDY is spoken here", http.StatusBadRequest)
		return
	}
	if _, err := httpstream.Handshake(r, w, []string{"portforward.k8s.io"}); err != nil {
		return
	}
	streams := make(chan httpstream.Stream, 2)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, _ <-chan struct{}) error {
		streams <- stream
		return nil
	})
	if conn == nil {
		return
	}
	defer conn.Close()
	for {
		select {
		case stream := <-streams:
			if stream.Headers().Get("streamType") == "data" {
				f.answers[parts[5]](stream)
			}
			_ = stream.Close()
		case <-conn.CloseChan():
			return
		}
	}
}
