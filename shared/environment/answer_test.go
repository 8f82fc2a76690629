package environment_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// C73: what a service answers may quote what it was sent, so an error has its code and its request's id, and not its text. Who asks for
// the error itself gets it.
func TestAnswersAreHiddenC73(t *testing.T) {
	const quoted = "The parameter cannot be converted to a numeric value: order-8821"
	for code, told := range map[string]bool{
		"com.amazon.coral.validate#ValidationException":                        false,
		"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException":     false,
		"com.amazonaws.dynamodb.v20120810#SomethingThatThisReleaseDoesNotKnow": false,
		"com.amazon.coral.service#AccessDeniedException":                       true, // it quotes the role, the action and the resource
		"com.amazonaws.sqs#AccessDenied":                                       true,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Amzn-RequestId", "request-1")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprintf(w, `{"__type":%q,"message":%q}`, code, quoted)
		}))
		f := wired(t, map[string]string{"AWS_ENDPOINT_URL_DYNAMODB": server.URL})
		_, err := f.Client.PutItem(t.Context(), &dynamodb.PutItemInput{
			TableName: aws.String("records"), Item: map[string]types.AttributeValue{"intent": &types.AttributeValueMemberS{Value: "1"}},
		})
		server.Close()
		_, name, _ := strings.Cut(code, "#")
		var answer smithy.APIError
		if !errors.As(err, &answer) || answer.ErrorMessage() != quoted || answer.ErrorCode() != name {
			t.Errorf("%s: got %v, want the service's error in it", name, err)
			continue
		}
		var failed *types.ConditionalCheckFailedException
		if errors.As(err, &failed) != strings.HasPrefix(name, "Conditional") {
			t.Errorf("%s: got %v, want the exception of its type in it", name, err)
		}
		for part, want := range map[string]bool{quoted: told, name: true, "request-1": true, "PutItem": true} {
			if strings.Contains(err.Error(), part) != want {
				t.Errorf("%s: got %q, want %q in it: %t", name, err, part, want)
			}
		}
	}
}
