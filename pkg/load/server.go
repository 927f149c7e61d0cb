package load

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Server is a Kubernetes API server, as far as reading needs it.
type Server struct {
	rest rest.Interface
	log  func(format string, args ...any)
}

// NewServer is the server that a kubeconfig's entry describes. Every request is told to log, if that is not nil. Requests are not
// throttled here: there are few of them, and the server says itself when it is too many. All answers together are bounded like files.
func NewServer(config *rest.Config, limits Limits, log func(format string, args ...any)) (*Server, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"}) // Status, in which servers say what is wrong
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.GroupVersion = &schema.GroupVersion{}
	config.AcceptContentTypes, config.ContentType = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	client = guarded(client, limits)
	r, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = func(string, ...any) {}
	}
	return &Server{rest: r, log: log}, nil
}

// attempts is how often a request is made that fails for reasons that may pass: a connection that breaks, an error within the server.
// Where the server says when to come back (Retry-After), the client does so by itself and it counts once.
const attempts = 4

// get is the body of the answer to a GET request.
func (s *Server) get(ctx context.Context, path string, query url.Values) ([]byte, error) {
	pause := 100 * time.Millisecond
	for try := 1; ; try++ {
		request := s.rest.Get().AbsPath(path)
		for name, values := range query {
			request.Param(name, values[0])
		}
		start := time.Now()
		result := request.Do(ctx)
		body, err := result.Raw()
		if err != nil {
			err = result.Error() // with the server's own words
		}
		s.log("GET %s %s in %d ms, %d bytes", pathOf(path, query), outcomeOf(err), time.Since(start).Milliseconds(), len(body))
		if err == nil || try == attempts || ctx.Err() != nil || !passes(err) {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause *= 3
	}
}

// passes reports whether the same request may be answered when it is made again: the connection broke, or the server failed. A server
// that does not answer at all, or with too much, is not asked again.
func passes(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= 500 || apierrors.IsTooManyRequests(err)
	}
	if given := guardError(""); errors.As(err, &given) {
		return false
	}
	var dial *net.OpError
	return !errors.As(err, &dial) || dial.Op != "dial"
}

func pathOf(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func outcomeOf(err error) string {
	if err == nil {
		return "200 OK"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason)
	}
	return "failed: " + err.Error()
}

// collection is the path of the objects of a kind, in all namespaces if the name is "".
func collection(k *model.ServedKind, namespace string) string {
	path := "/apis/" + k.Group + "/" + k.Version
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + k.Plural
}
