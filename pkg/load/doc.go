// Package load reads files, folders, standard input and kustomizations into a model.Snapshot.
//
// Reading never guesses silently and never gives up early: a document that is broken, too large or
// not a Kubernetes object costs itself and leaves a problem that says where it stands; all others
// are read. Only when no answer is possible (a path is missing, a folder holds no manifests, no
// document at all is readable) is there an error.
//
// What a document means is what kubectl would make of it: plain words such as on and no are
// booleans, 0777 is octal, keys are text, timestamps stay text. (The letters y and n stay text as
// well, where kubectl would read booleans; as keys they are warned of.) Every object knows its file
// and line, and finds the lines of its parts when asked.
//
// A kustomization is built offline. Everything that it names is read before, and what is remote or
// would run a program is an error; the library that builds it sees no other file.
//
// This package is the front: what to read, and one Snapshot of all that was read. Below it, each
// importing only those before it: document (text to objects with lines), input (files, folders,
// archives, snapshots), helm (charts), kustomize (kustomizations), gitops (what Flux, Argo CD and
// Helm deploy of a folder). Clusters are read by pkg/cluster.
//
// The values of Secrets are not kept; what remains is which keys there are and whether each holds
// PEM.
package load
