package doctor

import "testing"

func TestAnyAccount(t *testing.T) {
	for pattern, want := range map[string]bool{
		"*":   true,
		"arn": false,
		"arn:aws:sns:eu-central-1:123456789012:orders": false,
		"arn:aws:sns:*:123456789012:*":                 false,
		"arn:aws:sns:eu-central-1:*:orders":            true,
		"arn:aws:sns:eu-central-1:12345678901?:orders": true,
		"arn:*":                 true,
		"arn:aws:s3:::uploads":  false,
		"arn:aws:s3:::uploads*": true,
		"${Orders}":             false,
		"${SenderArns}":         false,
		"arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*":        false,
		"arn:${AWS::Partition}:cloudwatch:${AWS::Region}:*:alarm:${AWS::StackName}-errors": true,
	} {
		if got := anyAccount(pattern); got != want {
			t.Errorf("%s: got %t, want %t", pattern, got, want)
		}
	}
}
