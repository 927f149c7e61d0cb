module github.com/dopolicy/kubectl-dopolicy/test/differential/peers/envoygateway

go 1.26.0

require github.com/envoyproxy/gateway v1.9.1
