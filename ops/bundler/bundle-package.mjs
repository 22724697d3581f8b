import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { lateModules } from './late-modules.mjs'
import { imported } from './outside.mjs'
import { keepOwnSourceMaps } from './own-source-maps.mjs'
import { packagesOf, readManifest } from './packages-of.mjs'

/**
 * Bundles a package into dist/bundle: one file for each of the `programs` that `bundle` in its manifest
 * names, and one for each `*.worker.ts`. Node takes seconds to find and load thousands of modules, and `npm
 * start` starts six services on the same cores. A few files load in a third of that time.
 */
export async function bundlePackage(folder) {
  const { programs, keepNames = false } = readManifest(folder).bundle
  const outdir = join(folder, 'dist/bundle')
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: { ...programs, ...workersOf(folder, programs) },
    metafile: true,
    entryNames: '[name]',
    outdir,
    bundle: true,
    minifyWhitespace: true,
    minifySyntax: true,
    // Errors are distinguished by the names of their classes, in logs too. Keeping names costs a call for
    // every new closure, which is some percent of the work with small events.
    keepNames,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [lateModules],
    // The packages that use these modules depend on them, so Node finds them.
    external: imported,
    // CommonJS modules load Node's own modules by `require`, which ES modules do not have.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  })
  // Files are named by their content, so files of the previous build are removed. When the sources have an
  // error, the previous build stays.
  const made = new Set(Object.keys(metafile.outputs).map((file) => basename(file)))
  for (const file of readdirSync(outdir)) if (!made.has(file)) rmSync(join(outdir, file))
  keepOwnSourceMaps(outdir)
  // The packages in the bundle, for the list of parts of an image.
  const files = Object.keys(metafile.inputs).map((file) => resolve(folder, file.replace('late-module:', '')))
  writeFileSync(join(outdir, 'packages.json'), JSON.stringify(packagesOf(files)))
}

/**
 * Finds the worker threads, which start from their own files. A worker lies beside the bundle as it lies
 * beside the module that names it: `new URL('./name.worker.js', import.meta.url)`.
 */
function workersOf(folder, programs) {
  const sources = new Set(Object.values(programs).map((file) => file.split('/')[0]))
  const files = [...sources].flatMap((source) =>
    readdirSync(join(folder, source), { recursive: true })
      .filter((file) => file.endsWith('.worker.ts'))
      .map((file) => join(source, file)),
  )
  return Object.fromEntries(files.map((file) => [basename(file, '.ts'), file]))
}
