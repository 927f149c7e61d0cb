package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Server is a Kubernetes API server, as far as reading needs it.
type Server struct {
	rest  rest.Interface
	log   func(format string, args ...any)
	waits *retryWaits
}

// NewServer returns the server that a kubeconfig's entry describes. Every request is passed to log,
// if that is not nil. Requests are not throttled here: there are few of them, and the server says
// itself when it is too many. All answers together are bounded like files.
func NewServer(config *rest.Config, limits document.Limits, log func(format string, args ...any)) (*Server, error) {
	waits := &retryWaits{}
	s, err := newServer(config, func(client *http.Client) *http.Client { return boundClient(client, limits, waits) }, log)
	if err != nil {
		return nil, err
	}
	s.waits = waits
	return s, nil
}

// ReportWaits has report called when the server asks to be asked again after a while.
func (s *Server) ReportWaits(report func(after time.Duration)) { s.waits.report = report }

// newServer is NewServer with the guards of a client.
func newServer(config *rest.Config, guards func(*http.Client) *http.Client,
	log func(format string, args ...any)) (*Server, error) {
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
	client = guards(client)
	r, err := rest.UnversionedRESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, err
	}
	if log == nil {
		log = func(string, ...any) {}
	}
	return &Server{rest: r, log: log}, nil
}

// maxAttempts is how often a request is made that fails for reasons that may pass: a connection
// that breaks, an error within the server. Where the server says when to come back (Retry-After),
// the client does so by itself and it counts once.
const maxAttempts = 4

// metadataOnlyType asks for a list without the specs of its objects.
const metadataOnlyType = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io, application/json"

// getBody returns the body of the answer to a GET request.
func (s *Server) getBody(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return s.getBodyAs(ctx, "", path, query)
}

// getBodyAs is getBody in another form than the server's usual one, if the form is not "".
func (s *Server) getBodyAs(ctx context.Context, form, path string, query url.Values) ([]byte, error) {
	pause := 100 * time.Millisecond
	for try := 1; ; try++ {
		request := s.rest.Get().AbsPath(path)
		if form != "" {
			request.SetHeader("Accept", form)
		}
		for name, values := range query {
			request.Param(name, values[0])
		}
		start := time.Now()
		body, err := readBody(request.Stream(ctx))
		if given := limitError(""); errors.As(err, &given) {
			err = given // it says all; the address of the request does not help
		}
		s.log("GET %s %s in %d ms, %d bytes", formatPath(path, query), formatOutcome(err),
			time.Since(start).Milliseconds(), len(body))
		if err == nil || try == maxAttempts || ctx.Err() != nil || !isTemporary(err) {
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

// readBody returns all of an answer.
func readBody(answer io.ReadCloser, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	defer answer.Close()
	const least, most = 4 << 10, 4 << 20
	var parts [][]byte // a slice that grows would leave its smaller copies behind
	part := make([]byte, 0, least)
	for {
		n, err := answer.Read(part[len(part):cap(part)])
		part = part[:len(part)+n]
		switch {
		case err == io.EOF: //nolint:errorlint // an error that wraps it is not the end
			if parts == nil {
				return part, nil
			}
			return slices.Concat(append(parts, part)...), nil
		case err != nil:
			return nil, err
		}
		if len(part) == cap(part) {
			parts = append(parts, part)
			part = make([]byte, 0, min(2*cap(part), most))
		}
	}
}

// isTemporary reports whether the same request may be answered when it is made again: the
// connection broke, or the server failed. A server that does not answer at all, or with too much,
// is not asked again.
func isTemporary(err error) bool {
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return status.Status().Code >= 500 || apierrors.IsTooManyRequests(err)
	}
	if given := limitError(""); errors.As(err, &given) {
		return false
	}
	var dial *net.OpError
	return !errors.As(err, &dial) || dial.Op != "dial"
}

func formatPath(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

func formatOutcome(err error) string {
	if err == nil {
		return "200 OK"
	}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		return fmt.Sprintf("%d %s", status.Status().Code, status.Status().Reason)
	}
	return "failed: " + err.Error()
}

// collectionPath returns the path of the objects of a kind, in all namespaces if the name is "".
func collectionPath(k *model.ServedKind, namespace string) string {
	path := "/apis/" + apiVersionOf(k)
	if k.Group == "" {
		path = "/api/" + k.Version
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	return path + "/" + k.Plural
}

// apiVersionOf returns what objects of a kind say of it.
func apiVersionOf(k *model.ServedKind) string {
	if k.Group == "" {
		return k.Version
	}
	return k.Group + "/" + k.Version
}
