// Bundles src/element into dist/banner.js: one small script without dependencies.
import { renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist', 'banner.js')
// A reader of the file sees either the old file or the new one, never a part.
const partial = `${target}.${process.pid}.partial`

await build({
  entryPoints: [join(root, 'src', 'element', 'embed.ts')],
  outfile: partial,
  bundle: true,
  minify: true,
  format: 'iife',
  // Browsers of the last four years.
  target: ['es2022', 'chrome99', 'firefox101', 'safari16.4'],
  legalComments: 'none',
  charset: 'utf8',
  banner: { js: '/* Switchyard banner, MIT licensed */' },
  logLevel: 'warning',
})
renameSync(partial, target)
