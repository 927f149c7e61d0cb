package schema

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// scalePaths is where objects of a version have what its subresource scale is about; empty: it has
// none.
type scalePaths struct{ specReplicas, statusReplicas, selector string }

func readScalePaths(subresources model.Body) scalePaths {
	scale := subresources.At("scale")
	return scalePaths{specReplicas: scale.Text("specReplicasPath"), statusReplicas: scale.Text("statusReplicasPath"),
		selector: scale.Text("labelSelectorPath")}
}

// validateScale finds what the API server could not scale by. It has no function for it that others
// can call.
func (s scalePaths) validateScale(content map[string]any) (errs apifield.ErrorList) {
	for _, path := range []string{s.specReplicas, s.statusReplicas} {
		if path == "" {
			continue
		}
		switch n, _, err := unstructured.NestedInt64(content, splitScalePath(path)...); {
		case err != nil:
			errs = append(errs, apifield.Invalid(apifield.NewPath(path), n, err.Error()))
		case n < 0:
			errs = append(errs, apifield.Invalid(apifield.NewPath(path), n, "should be a non-negative integer"))
		case n > math.MaxInt32:
			errs = append(errs, apifield.Invalid(apifield.NewPath(path), n,
				fmt.Sprintf("should be less than or equal to %v", math.MaxInt32)))
		}
	}
	if s.selector != "" {
		if text, _, err := unstructured.NestedString(content, splitScalePath(s.selector)...); err != nil {
			errs = append(errs, apifield.Invalid(apifield.NewPath(s.selector), text, err.Error()))
		}
	}
	return errs
}

func splitScalePath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
