#!/usr/bin/env bash
# Makes echarts.min.js beside this file from the released packages, in a folder of its own. Needs npm and its registry.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-save --prefix . echarts@6.1.0 zrender@6.1.0 tslib@2.3.0 esbuild@0.28.2
cp "$here/parts.js" .
npx esbuild parts.js --bundle --minify --format=iife --global-name=echarts --target=es2020 --legal-comments=eof \
  --banner:js='/*! Apache ECharts 6.1.0 (Apache-2.0), a build of some of its parts; see vendor/README.md */' \
  --outfile="$here/echarts.min.js"
