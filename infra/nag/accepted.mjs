// What cdk-nag finds and is as it is meant to be: each with the resources that it is found in, and why. What finds nothing any more
// fails, too.
const functions = '(Charge|Adjust|Ship|Clearcart|Welcome)';

export const accepted = [
  {
    rule: /^Serverless-LambdaDLQ$/,
    resources: new RegExp(`/${functions}Function$`),
    reason: 'Lambda sends to it what was invoked asynchronously and failed. These functions are fed by queues, which have one each.',
  },
  {
    rule: /^Serverless-LambdaEventSourceMappingDestination$/,
    resources: new RegExp(`/${functions}FunctionQueue$`),
    reason: 'A destination is for streams. A queue gives up by its own redrive policy (AWS Lambda developer guide, "SQS event source").',
  },
  {
    rule: /^Serverless-SQSRedrivePolicy$/,
    resources: new RegExp(`/${functions}DeadLetterQueue$`),
    reason: 'It is where redrive policies end.',
  },
  {
    rule: /^Serverless-LambdaTracing$/,
    resources: new RegExp(`/${functions}Function$`),
    reason: 'The parameter Tracing says whether, since X-Ray is billed by what it keeps.',
  },
  {
    rule: /^Serverless-SNSRedrivePolicy$/,
    resources: /\/AlarmSubscription$/,
    reason: 'SNS delivers e-mails as best it can and takes no dead-letter queue for what a mail server loses; the alarm stays in ALARM.',
  },
  {
    rule: /^AwsSolutions-IAM4\[Policy::arn:[^:]+:iam::aws:policy\/service-role\/AWSCodeDeployRoleForLambda\]$/,
    resources: /\/CodeDeployServiceRole$/,
    reason: "SAM makes CodeDeploy's role, with the policy that AWS keeps for it.",
  },
  {
    rule: /^(AwsSolutions-IAM5\[Resource::\*\]|Serverless-LambdaStarPermissions)$/,
    resources: new RegExp(`/${functions}Role$`),
    reason: 'With Tracing=Active alone: X-Ray knows no resource that could be named. The doctor finds any other wildcard (role-wildcards).',
  },
  {
    rule: /^AwsSolutions-IAM5\[Resource::arn:.+:ses:.+:(identity|configuration-set)\/\*\]$/,
    resources: /\/WelcomeRole$/,
    reason: 'Which identity SES finds for the sender is not known beforehand. A condition holds them all to one address (role-wildcards).',
  },
];
