module github.com/singleeffect/once/infra/doctor

go 1.26.6

require (
	github.com/aws/aws-sdk-go-v2/service/dynamodb v1.74.0
	github.com/singleeffect/once v0.0.0
	github.com/singleeffect/once/infra/local v0.0.0
	go.yaml.in/yaml/v3 v3.0.6
)

require (
	github.com/aws/aws-sdk-go-v2 v1.48.0 // indirect
	github.com/aws/aws-sdk-go-v2/internal/configsources v1.5.12 // indirect
	github.com/aws/aws-sdk-go-v2/internal/endpoints/v2 v2.8.12 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/accept-encoding v1.13.25 // indirect
	github.com/aws/aws-sdk-go-v2/service/internal/endpoint-discovery v1.13.12 // indirect
	github.com/aws/smithy-go v1.28.9 // indirect
)

replace (
	github.com/singleeffect/once => ../..
	github.com/singleeffect/once/infra/local => ../local
)
