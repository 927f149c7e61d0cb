// Package gitops answers what is deployed from a folder: it reads it as Flux, Argo CD and Helm do.
// Kustomizations are built, and what objects lead to is read as they say; what cannot be rendered
// is told. It contacts no cluster and fetches nothing.
package gitops
