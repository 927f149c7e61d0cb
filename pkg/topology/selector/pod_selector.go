package selector

// PodSelector selects workloads by their namespace and their labels. Those in the network of their
// node are never selected.
type PodSelector struct {
	In         string        // the one namespace that counts; "": those that Namespaces selects
	Namespaces LabelSelector // of namespaces
	Pods       LabelSelector
}
