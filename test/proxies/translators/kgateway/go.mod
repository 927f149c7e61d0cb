module github.com/dopolicy/kubectl-dopolicy/test/proxies/translators/kgateway

go 1.26.0

require github.com/kgateway-dev/kgateway/v2 v2.4.0
