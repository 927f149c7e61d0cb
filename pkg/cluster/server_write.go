package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ListLabelled returns the objects of a kind that a selector of labels takes, as the server sends
// them, in one namespace or, with "", in all.
func (s *Server) ListLabelled(ctx context.Context, k *model.ServedKind, namespace, selector string,
	chunk int) ([]map[string]any, error) {
	var out []map[string]any
	query := url.Values{"labelSelector": {selector}}
	if chunk > 0 {
		query.Set("limit", strconv.Itoa(chunk))
	}
	for count := (pageCount{}); ; {
		body, err := s.getBody(ctx, collectionPath(k, namespace), query)
		if err != nil {
			return nil, &listError{k.Resource(), err}
		}
		var page struct {
			Metadata struct {
				Continue string `json:"continue"`
			} `json:"metadata"`
			APIVersion string           `json:"apiVersion"`
			Items      []map[string]any `json:"items"`
		}
		if err := json.Unmarshal(body, &page); err != nil {
			return nil, &listError{k.Resource(), errors.New("the server's answer cannot be read: " + err.Error())}
		}
		for _, o := range page.Items { // entries of lists need not say what they are
			o["apiVersion"], o["kind"] = page.APIVersion, k.Kind
		}
		out = append(out, page.Items...)
		switch {
		case page.Metadata.Continue == "":
			return out, nil
		case page.Metadata.Continue == query.Get("continue"):
			return nil,
				&listError{k.Resource(), errors.New("the server says that the list goes on where it went on before")}
		}
		if err := count.addPage(len(page.Items), chunk); err != nil {
			return nil, &listError{k.Resource(), err}
		}
		query.Set("continue", page.Metadata.Continue)
	}
}

// ErrManagedByOther is the error of an object that somebody else made.
var ErrManagedByOther = errors.New("an object of this name is there, and another program manages it")

// Apply makes an object as a manager of fields says it should be: fields of that manager that are
// not in the body go, and fields of others stay. An object that is to be new is not taken from
// somebody else.
func (s *Server) Apply(ctx context.Context, k *model.ServedKind, namespace, name, manager string, fresh bool,
	body []byte) error {
	path := collectionPath(k, namespace) + "/" + name
	err := s.sendRequest(ctx, "PATCH", path, func() *rest.Request {
		return s.rest.Patch(types.ApplyPatchType).AbsPath(path).Param("fieldManager", manager).Param("force",
			strconv.FormatBool(!fresh)).Body(body)
	}, nil)
	if fresh && apierrors.IsConflict(err) {
		return ErrManagedByOther
	}
	return err
}

// Delete deletes an object, if it is still the one with the UID.
func (s *Server) Delete(ctx context.Context, k *model.ServedKind, namespace, name, uid string) error {
	options := metav1.DeleteOptions{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"}}
	if uid != "" {
		options.Preconditions = metav1.NewUIDPreconditions(uid)
	}
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	path := collectionPath(k, namespace) + "/" + name
	err = s.sendRequest(ctx, "DELETE", path, func() *rest.Request {
		return s.rest.Delete().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body)
	}, nil)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // gone, or another one by now
		return nil
	}
	return err
}

// sendRequest makes a request that may be made twice, again if its failure may pass. The answer goes
// to answer, if that is not nil.
func (s *Server) sendRequest(ctx context.Context, verb, path string, request func() *rest.Request,
	answer *[]byte) error {
	pause := 100 * time.Millisecond
	for try := 1; ; try++ {
		start := time.Now()
		body, err := request().Do(ctx).Raw()
		if answer != nil {
			*answer = body
		}
		s.log("%s %s %s in %d ms", verb, path, formatOutcome(err), time.Since(start).Milliseconds())
		if err == nil || try == maxAttempts || ctx.Err() != nil || !isTemporary(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 3
	}
}
