#!/bin/sh
# Holds template.yaml to cdk-nag's packs, as SAM translates it with and without a gradual deployment, and with all that parameters add. npm
# installs what the lock file names into the user's cache directory, once, never into the tree.
set -eu

missing() {
	if [ "${CI:-}" = true ]; then
		echo "template.yaml was not held to cdk-nag: $1" >&2
		exit 1
	fi
	echo "template.yaml not held to cdk-nag: $1"
	exit 0
}
command -v npm >/dev/null || missing 'npm is not installed'
python3 -c 'import samtranslator' 2>/dev/null || missing "Python's aws-sam-translator, which cfn-lint brings, is not installed"

here=$(cd "$(dirname "$0")" && pwd)
lock=$(cksum <"$here/package-lock.json" | tr ' ' -)
home=${XDG_CACHE_HOME:-$HOME/.cache}/once/nag-$lock
if [ ! -d "$home" ]; then
	mkdir -p "$(dirname "$home")"
	new=$(mktemp -d "$home.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cp "$here/package.json" "$here/package-lock.json" "$new"
	(cd "$new" && npm ci --no-audit --no-fund --ignore-scripts >&2)
	mv "$new" "$home" 2>/dev/null || [ -d "$home" ] # somebody else was faster
fi
work=$(mktemp -d)
trap 'rm -rf "$work" ${new:+"$new"}' EXIT
translate() {
	name=$1
	shift
	python3 "$here/translate.py" "$here/../../template.yaml" "$@" >"$work/$name.json"
}
translate gradual
translate at-once GradualDeployment=false
translate whole Tracing=Active EmailFrom=shop@example.com NotificationEmail=ops@example.com ReservedConcurrency=10 \
	SenderArns=arn:aws:iam::123456789012:role/shop \
	StripeSecretArn=arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf
# Node looks for packages beside the program.
cp "$here/check.mjs" "$here/accepted.mjs" "$work"
ln -s "$home/node_modules" "$work/node_modules"
node "$work/check.mjs" "$work/gradual.json" "$work/at-once.json" "$work/whole.json"
