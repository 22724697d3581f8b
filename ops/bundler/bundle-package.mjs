import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { lateModules } from './late-modules.mjs'
import { imported } from './outside.mjs'
import { keepOwnSourceMaps } from './own-source-maps.mjs'
import { packagesOf, readManifest } from './packages-of.mjs'

/**
 * Makes dist/bundle of a package from its sources: one file for each of the `programs` that `bundle` in its
 * manifest names, and one for each `*.worker.ts`. Thousands of modules take Node seconds to find and load,
 * and `npm start` starts six services on the same cores; from a few files they load in a third of that.
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
    // Errors are told apart by the names of their classes, in logs too. It costs a call for every closure
    // that is made, some percent of what is busy with small events.
    keepNames,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
    plugins: [lateModules],
    // The packages that use them depend on them, so that Node finds them.
    external: imported,
    // CommonJS modules ask for Node's own ones by `require`, which modules of today do not have.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
  })
  // Files are named by their content, so those of the last build are left. Sources with an error leave it as
  // it is.
  const made = new Set(Object.keys(metafile.outputs).map((file) => basename(file)))
  for (const file of readdirSync(outdir)) if (!made.has(file)) rmSync(join(outdir, file))
  keepOwnSourceMaps(outdir)
  // What is in the bundle, for the list of parts of an image.
  const files = Object.keys(metafile.inputs).map((file) => resolve(folder, file.replace('late-module:', '')))
  writeFileSync(join(outdir, 'packages.json'), JSON.stringify(packagesOf(files)))
}

/**
 * Worker threads start from files of their own, which lie beside the bundle as they lie beside the module
 * that names them: `new URL('./name.worker.js', import.meta.url)`.
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
