package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// Trial is a server that is asked what it would make of objects. It keeps none of them. One goroutine at a time may use it.
type Trial struct {
	server *server
	client dynamic.Interface
	said   *warnings
}

// StartTrial starts a server of its own.
func StartTrial(ctx context.Context) (*Trial, error) {
	s, err := launch(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.trial()
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return t, nil
}

// trial asks a server that runs.
func (s *server) trial() (*Trial, error) {
	said := &warnings{}
	config := rest.CopyConfig(s.config)
	config.WarningHandlerWithContext, config.QPS, config.Burst = said, 1000, 1000
	client, err := dynamic.NewForConfig(config)
	return &Trial{server: s, client: client, said: said}, err
}

// Install makes the server serve what texts of CustomResourceDefinitions define.
func (t *Trial) Install(definitions ...string) error { return t.server.install(definitions) }

// Create is what the server would store of an object, in the namespace default, and what it says: why it refuses the object, and which fields
// it drops. A refused object is nil. The error is about the server.
func (t *Trial) Create(ctx context.Context, o *unstructured.Unstructured) (stored *unstructured.Unstructured,
	messages []string, err error) {
	return t.create(ctx, o, metav1.FieldValidationWarn)
}

// create is Create with the treatment of fields that are not known.
func (t *Trial) create(ctx context.Context, o *unstructured.Unstructured,
	unknown string) (stored *unstructured.Unstructured, messages []string, err error) {
	mapping, err := t.server.mapping(o.GroupVersionKind())
	if err != nil {
		return nil, nil, err
	}
	t.said.texts = nil
	var at dynamic.ResourceInterface = t.client.Resource(mapping.Resource)
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		at = t.client.Resource(mapping.Resource).Namespace(metav1.NamespaceDefault)
	}
	stored, refused := at.Create(ctx, o, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll},
		FieldValidation: unknown})
	if refused != nil {
		stored = nil
	}
	return stored, t.said.with(refused), nil
}

// Stop ends the server.
func (t *Trial) Stop() error { return t.server.stop() }

// warnings collects those of one request.
type warnings struct {
	sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeaderWithContext(_ context.Context, _ int, _, text string) {
	w.Lock()
	defer w.Unlock()
	w.texts = append(w.texts, text)
}

// with is what a server says to a request: its warnings, and why it refuses what it does. What it adds for people is left out: that rules were
// not evaluated, and of a number of the wrong type a second time that it is.
func (w *warnings) with(err error) []string {
	out := slices.Clone(w.texts)
	var status *apierrors.StatusError
	switch {
	case err == nil:
	case errors.As(err, &status) && apierrors.IsInvalid(err):
		for _, cause := range status.ErrStatus.Details.Causes {
			if strings.Contains(cause.Message, "some validation rules were not checked") ||
				isRepetition(cause, status.ErrStatus.Details.Causes) {
				continue
			}
			if cause.Field != "<nil>" {
				cause.Message = cause.Field + ": " + cause.Message
			}
			out = append(out, cause.Message)
		}
	default:
		_, message, decoding := strings.Cut(err.Error(), " cannot be handled as a ")
		if _, message, _ = strings.Cut(message, ": "); !decoding {
			message = err.Error()
		}
		out = append(out, message)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// isRepetition reports whether a cause says of a number, and of no field, what another says of its type.
func isRepetition(cause metav1.StatusCause, all []metav1.StatusCause) bool {
	return strings.Contains(cause.Message, "Checked value must be of type") &&
		slices.ContainsFunc(all, func(other metav1.StatusCause) bool {
			return other.Type == metav1.CauseTypeTypeInvalid && strings.HasSuffix(cause.Message, " in "+other.Field)
		})
}
