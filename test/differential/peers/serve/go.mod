module github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve

go 1.24
