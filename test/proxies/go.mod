module github.com/dopolicy/kubectl-dopolicy/test/proxies

go 1.26.0

require github.com/dopolicy/kubectl-dopolicy/test/differential v0.0.0

require (
	go.yaml.in/yaml/v2 v2.4.2 // indirect
	sigs.k8s.io/yaml v1.6.0 // indirect
)

replace github.com/dopolicy/kubectl-dopolicy/test/differential => ../differential
