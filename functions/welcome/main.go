// Command welcome is the Lambda function that sends a user one e-mail through Amazon SES, at most
// once.
//
// SES knows no idempotency keys: SendEmail takes none
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html), and each call that it
// accepts is an e-mail. So the intent is claimed, the e-mail is sent, and the claim is completed in
// one transaction with a row in the e-mails table. Where a crash, a lost reply or a 5xx leaves open
// whether SES accepted the e-mail, the intent is in doubt, and nothing is sent again.
//
// There is no Probe, because SES cannot be asked whether it sent the e-mail of an intent.
// GetMessageInsights wants the message id, which only the lost reply had
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_GetMessageInsights.html). An export of
// message insights filters by recipient and subject, not by tag, and runs as a job
// (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_MessageInsightsFilters.html). And what
// neither of them shows may still be on its way: no answer of theirs is a no.
//
// An operator settles a doubt instead. Every e-mail carries the intent's downstream key, which is the
// row's email_id too, as the message tag "intent". Where the sending identity has a default
// configuration set (https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_CreateEmailIdentity.html)
// that publishes Send events, the event with this tag says that SES accepted the e-mail
// (https://docs.aws.amazon.com/ses/latest/dg/monitor-sending-activity.html): settle to completed. With
// no such event an hour later, or none published at all, it is a judgement: settled to completed there
// may be no e-mail, settled to released there may be two. A doubt that is settled to completed has no
// row.
package main

import (
	"context"
	"time"

	"github.com/singleeffect/once/shared/environment"
	"github.com/singleeffect/once/shared/intent"
	"github.com/singleeffect/once/shared/sqsbatch"
)

func main() { environment.Start(wire) }

func wire(_ context.Context, v *environment.Variables) (*sqsbatch.Batch, error) {
	users := v.Required("USERS_TABLE")
	emails := v.Required("EMAILS_TABLE")
	from := v.Required("EMAIL_FROM")
	f, err := environment.NewFunction(operation, v)
	if err != nil {
		return nil, err
	}
	if err := checkSender(from); err != nil {
		return nil, err
	}
	m := mailer{
		user:   usersTable{client: f.Client, name: users}.user,
		send:   newSES(f.AWS, from).send,
		emails: emailsTable(emails),
		now:    time.Now,
	}
	return f.Batch(&intent.Blind[greeting]{Config: f.Intent, Effect: m.welcome})
}
