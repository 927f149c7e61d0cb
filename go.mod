module github.com/dopolicy/kubectl-dopolicy

go 1.26
