module github.com/dopolicy/kubectl-dopolicy/test/proxies/translators/istio

go 1.26.0

// Only the version: the program is built in a copy of this module, with the versions that Istio builds with.
require istio.io/istio v0.0.0-20260827124520-eed52ebb66ad
