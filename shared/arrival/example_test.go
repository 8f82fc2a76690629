package arrival_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/singleeffect/once/shared/arrival"
)

func Example() {
	provider := httptest.NewServer(nil)
	provider.Close() // nobody listens any more
	client := http.Client{Transport: arrival.Client(http.DefaultTransport.RoundTrip)}

	ctx, call := arrival.Track(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, provider.URL, strings.NewReader("amount=4999"))
	if err != nil {
		fmt.Println(err)
		return
	}
	response, err := client.Do(request)
	switch {
	case err == nil:
		_ = response.Body.Close()
		fmt.Println("read the answer")
	case call.MayHaveArrived():
		fmt.Println("unknown")
	default:
		fmt.Println("not applied")
	}
	// Output: not applied
}
