package environment

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/smithy-go/middleware"

	"github.com/singleeffect/once/shared/dynamo"
)

// awsConfig is the SDK's configuration out of what Lambda sets for each function:
// its Region and its role's credentials, as keys or as an address that gives them
// (AWS Lambda developer guide, "Defined runtime environment variables" and
// "Security for Lambda SnapStart"). The SDK's own loader also knows profiles, single
// sign-on and instance metadata; their clients were 2 MB of each binary and a quarter
// of its start.
func awsConfig(v *Variables) aws.Config {
	cfg := aws.Config{Region: v.Required("AWS_REGION"), APIOptions: append([]func(*middleware.Stack) error{dynamo.HideAnswers}, v.options...)}
	if v.Optional("AWS_ACCESS_KEY_ID") == "" && v.Optional("AWS_CONTAINER_CREDENTIALS_FULL_URI") != "" {
		address := v.Here("AWS_CONTAINER_CREDENTIALS_FULL_URI")
		keys := endpointcreds.New(address, func(o *endpointcreds.Options) {
			o.AuthorizationToken = v.Optional("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		})
		cfg.Credentials = aws.NewCredentialsCache(keys, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = renewal })
	} else {
		cfg.Credentials = credentials.NewStaticCredentialsProvider(
			v.Required("AWS_ACCESS_KEY_ID"), v.Required("AWS_SECRET_ACCESS_KEY"), v.Optional("AWS_SESSION_TOKEN"))
	}
	e := endpoints{
		of:         v.Optional,
		configured: !v.Switch("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"),
		fips:       v.Switch("AWS_USE_FIPS_ENDPOINT"),
		dualStack:  v.Switch("AWS_USE_DUALSTACK_ENDPOINT"),
	}
	cfg.ConfigSources = []any{e}
	// Where this one is set and a service's own is not, the clients ask no source.
	if url := v.Optional("AWS_ENDPOINT_URL"); url != "" && e.configured {
		cfg.BaseEndpoint = &url
	}
	return cfg
}

// renewal is how long before they expire keys are asked for anew: longer than an
// invocation and than clocks differ, as the SDK's loader has it.
const renewal = 5 * time.Minute

// endpoints tells a client where its service is, by the variables that all of AWS's
// SDKs have in common (AWS SDKs and Tools reference guide, "Service-specific
// endpoints" and "Dual-stack and FIPS endpoints"). The clients ask whoever is among a
// configuration's sources and has these methods.
type endpoints struct {
	of                          func(variable string) string
	configured, fips, dualStack bool
}

// GetServiceBaseEndpoint is asked with the service's name, such as "DynamoDB" or
// "Secrets Manager".
func (e endpoints) GetServiceBaseEndpoint(_ context.Context, service string) (url string, found bool, err error) {
	if e.configured {
		url = e.of("AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(service, " ", "_")))
	}
	return url, url != "", nil
}

func (e endpoints) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, e.fips, nil
}

func (e endpoints) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, e.dualStack, nil
}
