// Makes dist/banner.js of src/element: one script without dependencies, as small as it gets.
import { renameSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'dist', 'banner.js')
// Whoever reads the file meanwhile sees the old one or the new one, never a part.
const partial = `${target}.${process.pid}.partial`

await build({
  entryPoints: [join(root, 'src', 'element', 'embed.ts')],
  outfile: partial,
  bundle: true,
  minify: true,
  format: 'iife',
  // What browsers of the last four years run.
  target: ['es2022', 'chrome99', 'firefox101', 'safari16.4'],
  legalComments: 'none',
  charset: 'utf8',
  banner: { js: '/* Switchyard banner, MIT licensed */' },
  logLevel: 'warning',
})
renameSync(partial, target)
