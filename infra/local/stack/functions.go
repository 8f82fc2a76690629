package stack

import (
	"maps"
	"slices"

	"github.com/singleeffect/once/infra/template"
)

// Functions are the template's, with the environment that they have on this
// machine.
func (s *Stack) Functions() []template.Function {
	functions := slices.Clone(s.Template.Functions)
	for i, f := range functions {
		functions[i].Environment = s.environment(f)
	}
	return functions
}

// Unreachable gives the functions as they are on a machine where none of the
// services can be reached. Nothing is started.
func Unreachable(o Options) ([]template.Function, error) {
	// Port 1 belongs to a service that nobody runs: connections are refused.
	const nowhere = "http://127.0.0.1:1"
	s := &Stack{options: o, DynamoDB: nowhere, SQS: nowhere, account: account{queues: nowhere}}
	var err error
	if s.Template, err = s.account.parse(o.Root, o.Name, o.Parameters); err != nil {
		return nil, err
	}
	return s.Functions(), nil
}

// environment is the template's, with the local endpoints in it.
func (s *Stack) environment(f template.Function) map[string]string {
	environment := maps.Clone(f.Environment)
	local := map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": s.DynamoDB, "AWS_ENDPOINT_URL_SQS": s.SQS}
	maps.Copy(local, s.options.Environment)
	for name, value := range local {
		if _, declared := environment[name]; declared {
			environment[name] = value
		}
	}
	environment["AWS_REGION"] = Region
	return environment
}
