package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

var (
	errNothingAllowed = errors.New("nothing may be listed (Forbidden)")
	errNoGatewayAPI   = errors.New("the cluster serves no Gateway API: there is no kind of " + gatewayGroup)
)

// explainFailure says why a cluster could not be read, and what to do about it.
func explainFailure(ctx context.Context, name string, err error) error {
	e := &document.Error{What: "reading cluster " + name, Err: err}
	var listing *listError
	var request *url.Error
	given := limitError("")
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errNoGatewayAPI):
		e.Hint = "install its CRDs (gateway-api.sigs.k8s.io), choose another cluster with --context, or read manifests with -f"
	case apierrors.IsUnauthorized(err):
		e.Err, e.Hint = errors.New("you must be logged in to the server (Unauthorized)"),
			"renew the credentials of the context, or choose another with --context"
	case errors.Is(err, errNothingAllowed), apierrors.IsForbidden(err):
		e.Hint = "ask for the rights that this command prints with --print-rbac"
	case errors.As(err, &given) && !errors.As(err, &listing):
		e.Err = given
		e.Hint = "see the requests with -v 6, choose another cluster with --context, or read manifests with -f"
	case errors.As(err, &request) && !errors.As(err, &listing):
		e.Err = fmt.Errorf("the server %s cannot be reached: %w", serverAddress(request), request.Err)
		e.Hint = "check the kubeconfig's server, or choose another with --context; manifests are read with -f"
	case errors.As(err, &listing):
		e.Hint = "nothing is answered from a part of a list; try again, or see the requests with -v 6"
	default:
		e.Hint = "check the kubeconfig's server, or choose another with --context; manifests are read with -f"
	}
	return e
}

// serverAddress returns the address that a request went to, without its path.
func serverAddress(request *url.Error) string {
	u, err := url.Parse(request.URL)
	if err != nil {
		return request.URL
	}
	return u.Scheme + "://" + u.Host
}

// listError is a list that failed.
type listError struct {
	what  string
	cause error
}

func (e *listError) Error() string { return fmt.Sprintf("listing %s: %s", e.what, e.cause) }
func (e *listError) Unwrap() error { return e.cause }
