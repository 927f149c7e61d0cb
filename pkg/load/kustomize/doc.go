// Package kustomize builds kustomizations offline, as kubectl does. It reads and checks everything
// that the library will look at, refuses what is remote or would run a program, and has the library
// build from nothing else. It does not know which kustomizations are deployed: that is gitops.
package kustomize
