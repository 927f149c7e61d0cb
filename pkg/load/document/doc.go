// Package document turns text into Kubernetes objects that know the lines they stand on. It cuts a
// text into its documents as kubectl does, parses YAML and JSON, refuses what costs too much, hides
// the values of Secrets, and tells what is wrong with each document. The errors and limits that all
// of reading shares are here too. It opens no file, sends no request, and knows nothing of
// kustomizations, GitOps tools and clusters: its input is bytes.
package document
