#!/usr/bin/env node
// Makes dist/bundle/main.js of the service in the working folder, or the programs that arguments name: `rebuild=dist/rebuild/main.js`. A thousand modules take Node a second to find and
// load, and `npm start` starts five services on the same cores; from a few files they load in a third of that.
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { lateModules } from './late-modules.mjs'
import { imported } from './outside.mjs'
import { keepOwnSourceMaps } from './own-source-maps.mjs'
import { packagesOf } from './packages-of.mjs'

// Files are named by their content: those of the last build would stay.
rmSync('dist/bundle', { recursive: true, force: true })
const workerFiles = readdirSync('dist', { recursive: true })
  .filter((file) => file.endsWith('.worker.js'))
  .map((file) => join('dist', file))
const named = process.argv.filter((argument) => argument.includes('=')).map((argument) => argument.split('='))
const programs = named.length > 0 ? named : [['main', 'dist/main.js']]

const { metafile } = await build({
  // Worker threads start from files of their own, which lie beside the bundle as they lie beside the module that names
  // them: `new URL('./name.worker.js', import.meta.url)`.
  entryPoints: Object.fromEntries([...programs, ...workerFiles.map((file) => [basename(file, '.js'), file])]),
  metafile: true,
  entryNames: '[name]',
  outdir: 'dist/bundle',
  bundle: true,
  minifyWhitespace: true,
  minifySyntax: true,
  // Errors are told apart by the names of their classes, in logs too. It costs a call for every closure that is made,
  // some percent of what is busy with small events.
  keepNames: process.argv.includes('--keep-names'),
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
  plugins: [lateModules],
  // The services that use them depend on them, so that Node finds them.
  external: imported,
  // CommonJS modules ask for Node's own ones by `require`, which modules of today do not have.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
})

keepOwnSourceMaps('dist/bundle')

// What is in the bundle, for the list of parts of an image.
const files = Object.keys(metafile.inputs).map((file) => resolve(file.replace('late-module:', '')))
writeFileSync('dist/bundle/packages.json', JSON.stringify(packagesOf(files)))
