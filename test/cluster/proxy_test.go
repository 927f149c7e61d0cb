package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

// TestServerFaults: what each fault is for a client.
func TestServerFaults(t *testing.T) {
	c := Shared(t)
	c.MustApply("{apiVersion: kuadrant.io/v1, kind: AuthPolicy, metadata: {name: one, namespace: faults}, spec: {}}")
	status := func(code int) func(error) bool {
		return func(err error) bool {
			var answer apierrors.APIStatus
			return errors.As(err, &answer) && answer.Status().Code == int32(code)
		}
	}
	none := func(err error) bool { return err == nil }
	says := func(part string) func(error) bool {
		return func(err error) bool { return err != nil && strings.Contains(err.Error(), part) }
	}
	for name, f := range map[string]struct {
		fault Fault
		want  func(error) bool
	}{
		"none":      {Fault{}, none},
		"busy":      {TooManyRequests(0), status(http.StatusTooManyRequests)},
		"error":     {InternalError(), status(http.StatusInternalServerError)},
		"nonsense":  {Answer(http.StatusOK, "text/html", "<p>sign in</p>"), says("invalid character")},
		"expired":   {Expired(), apierrors.IsResourceExpired},
		"slow":      {SlowBody(time.Millisecond), none},
		"late":      {SlowStart(time.Millisecond), none},
		"reset":     {ResetBody(), says("reset by peer")},
		"closed":    {CloseBody(), says("unexpected EOF")},
		"truncated": {TruncateBody(), says("unexpected end of JSON input")},
	} {
		t.Run(name, func(t *testing.T) {
			p := c.Proxy("admin", func(*http.Request, int) Fault { return f.fault })
			resp, err := http.Get(p.URL() + "/apis/kuadrant.io/v1/namespaces/faults/authpolicies")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			err = readList(resp)
			if !f.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// readList is what a client without retries makes of an answer.
func readList(resp *http.Response) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode == http.StatusOK {
		return json.Unmarshal(body, &metav1.List{})
	}
	failure := &apierrors.StatusError{}
	if err := json.Unmarshal(body, &failure.ErrStatus); err != nil {
		return err
	}
	return failure
}

// TestServerRetry: the client library takes a refusal for what it is, tries again and succeeds.
func TestServerRetry(t *testing.T) {
	c := Shared(t)
	p := c.Proxy("admin", func(_ *http.Request, n int) Fault {
		if n == 1 {
			return TooManyRequests(1)
		}
		return Fault{}
	})
	count(t, clientFor(t, &rest.Config{Host: p.URL()}), authPolicies)
	if n := len(p.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}
