module github.com/singleeffect/once/infra/local

go 1.26

require github.com/singleeffect/once v0.0.0

replace github.com/singleeffect/once => ../..
