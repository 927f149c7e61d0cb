package workload

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// PodMetadata returns the labels and the annotations of a workload's pods.
func PodMetadata(o *model.Object) (labels, annotations map[string]string) {
	at, template := podTemplates[o.Ref.GroupKind()]
	if !template {
		return o.Labels, o.Annotations
	}
	annotations = map[string]string{}
	for key, value := range o.Body.At(at...).At("metadata", "annotations").Fields {
		annotations[key] = value.Text()
	}
	return PodLabels(o), annotations
}

// PodSpec returns the spec of a workload's pods.
func PodSpec(o *model.Object) model.Body {
	spec, _ := podSpec(o)
	return spec
}
