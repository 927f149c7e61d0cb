module github.com/dopolicy/kubectl-dopolicy/test/proxies/translators/envoygateway

go 1.26.0

require github.com/envoyproxy/gateway v1.9.1
