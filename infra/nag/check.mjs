// Runs cdk-nag's packs AwsSolutions and Serverless over CloudFormation templates, and prints what they find that accepted.mjs does not
// give a reason for; and each reason for which nothing is found in any of them.
import { readFileSync } from 'node:fs';
import { App, Stack } from 'aws-cdk-lib';
import { CfnInclude } from 'aws-cdk-lib/cloudformation-include';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import { accepted } from './accepted.mjs';

const found = [];
for (const templateFile of process.argv.slice(2)) {
  const app = new App();
  new CfnInclude(new Stack(app, 'once'), 'template', { templateFile });
  for (const Pack of [AwsSolutionsChecks, ServerlessChecks]) {
    for (const { ruleName, description, violatingResources } of new Pack(app).validateScope(app).violations) {
      found.push(...violatingResources.map((r) => ({ rule: ruleName, resource: r.constructPath, what: description })));
    }
  }
}

const used = new Set();
let faults = 0;
for (const { rule, resource, what } of found) {
  const i = accepted.findIndex((a) => a.rule.test(rule) && a.resources.test(resource));
  if (i >= 0) {
    used.add(i);
    continue;
  }
  faults++;
  console.error(`${resource}: ${rule}: ${what}`);
}
accepted.forEach((a, i) => {
  if (used.has(i)) return;
  faults++;
  console.error(`accepted.mjs: nothing of ${a.rule} is found in ${a.resources}`);
});
process.exit(faults > 0 ? 1 : 0);
