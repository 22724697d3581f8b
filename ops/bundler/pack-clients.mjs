#!/usr/bin/env node
// Creates a tarball of each client that clients.json in the working folder lists, and index.json, which lists
// the tarballs. The target is dist/clients, or the folder of the argument. Package managers install a tarball
// by its address. The same sources result in the same bytes.
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleProgram } from './bundle-program.mjs'
import { gatherModules } from './gather-modules.mjs'
import { readManifest } from './packages-of.mjs'
import { makeTarball } from './tarball.mjs'

const target = process.argv[2] ?? 'dist/clients'
const licence = readFileSync(new URL('../../LICENSE', import.meta.url))

/**
 * Returns the versions of libraries that a client accepts: from the version that its tests use, up to the
 * next major one.
 */
function dependenciesOf(folder, names) {
  const { dependencies = {} } = readManifest(folder)
  return Object.fromEntries(
    [...names].sort().map((name) => {
      if (!(name in dependencies)) throw new Error(`${folder} uses ${name}, and does not depend on it`)
      return [name, `^${readManifest(join(folder, 'node_modules', name)).version}`]
    }),
  )
}

/** Reads a command. It is one file with its libraries, which runs without any installation. */
async function readCommand({ name, package: source }) {
  const folder = realpathSync(join('node_modules', source))
  const { version, description, license, bin, engines, exports } = readManifest(folder)
  const manifest = {
    name: `@switchyard/${name}`,
    version,
    description,
    license,
    type: 'module',
    bin,
    engines,
  }
  const { code, libraries, licences } = await bundleProgram(folder, exports['.'])
  const executables = Object.values(bin)
  const files = new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['README.md', readFileSync(join(folder, 'README.md'))],
    ['LICENSE', licence],
    ['LICENSES-OF-LIBRARIES', licences],
    ...executables.map((path) => [path, readFileSync(join(folder, path))]),
    ['dist/main.js', code],
  ])
  return { name, manifest, files, executables: new Set(executables), libraries }
}

function readClient({ name, package: source, entry = '.', readme = 'README.md', description }) {
  const folder = realpathSync(join('node_modules', source))
  const own = readManifest(folder)
  const { modules, libraries, main, types } = gatherModules(folder, own.exports[entry])
  const manifest = {
    name: `@switchyard/${name}`,
    version: own.version,
    description: description ?? own.description,
    license: own.license,
    type: 'module',
    exports: { '.': { types, default: main } },
    types,
    engines: { node: '>=20.19' },
    dependencies: dependenciesOf(folder, libraries),
  }
  const files = new Map([
    ['package.json', `${JSON.stringify(manifest, null, 2)}\n`],
    ['README.md', readFileSync(join(folder, readme))],
    ['LICENSE', licence],
    ...[...modules].sort(([one], [other]) => (one < other ? -1 : 1)),
  ])
  return { name, manifest, files }
}

rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const index = []
const bundled = []
for (const listed of JSON.parse(readFileSync('clients.json', 'utf8'))) {
  const {
    name,
    manifest,
    files,
    executables,
    libraries = [],
  } = await (listed.isCommand ? readCommand : readClient)(listed)
  const tarball = await makeTarball(files, executables)
  writeFileSync(join(target, `${name}.tgz`), tarball)
  bundled.push(...libraries)
  index.push({
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    file: `${name}.tgz`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  })
}
writeFileSync(join(target, 'index.json'), `${JSON.stringify(index, null, 2)}\n`)
// The packages in the commands, for the lists of parts of images and releases, beside the served folder.
writeFileSync(join(target, '../client-packages.json'), JSON.stringify(bundled))
