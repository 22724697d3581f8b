import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import { foldersOf, packagesOf, readManifest } from './packages-of.mjs'

/**
 * Bundles a program and its libraries into one file, for every version of Node that clients use.
 *
 * @param entry of the package in `folder`
 * @returns the code, the libraries in it, and the texts of their licences
 */
export async function bundleProgram(folder, entry) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: folder,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    minifyWhitespace: true,
    minifySyntax: true,
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
  })
  const files = Object.keys(metafile.inputs).map((file) => resolve(folder, file))
  return {
    code: outputFiles[0].contents,
    libraries: packagesOf(files),
    licences: foldersOf(files).map(licenceOf).sort().join('\n'),
  }
}

/** Returns the licence of a library, or its name when the library ships no text. */
function licenceOf(folder) {
  const { name, version, license } = readManifest(folder)
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  const text = file ? readFileSync(join(folder, file), 'utf8').trim() : license
  return `${name} ${version}\n\n${text}\n`
}
