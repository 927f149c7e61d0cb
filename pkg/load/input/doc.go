// Package input finds and reads the files of an input: files, folders, standard input, archives and
// saved snapshots, each once, within the limits. Its result is raw documents. What kustomizations
// and GitOps tools would make of the files it does not know: it only keeps their folders apart if
// asked to.
package input
