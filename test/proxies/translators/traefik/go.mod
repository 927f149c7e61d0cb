module github.com/dopolicy/kubectl-dopolicy/test/proxies/translators/traefik

go 1.26.0

require github.com/traefik/traefik/v3 v3.7.13
