// The parts that the setup builds, each with its sources, so that a change rebuilds only the affected parts.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { release } from './installed.mjs'

const node = process.execPath
const bundler = 'ops/bundler'
const pagesFolder = 'services/console'
/** The name of the part that every bundle needs. */
export const databaseClient = 'database client'
const typesOfApi = 'types of the API'
const typesOfCommand = 'types of the API for the command'

const manifestOf = (root, folder) => JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))

/** Lists the folders of all packages and services. */
export const listPackages = (root) =>
  ['packages', 'services'].flatMap((parent) =>
    readdirSync(join(root, parent))
      .map((name) => `${parent}/${name}`)
      .filter((folder) => existsSync(join(root, folder, 'package.json'))),
  )

/** Returns the folders of a package and of all packages of this workspace that it depends on. */
function closureOf(root, folder, found = new Set()) {
  if (found.has(folder)) return found
  found.add(folder)
  for (const name of Object.keys(manifestOf(root, folder).dependencies ?? {}))
    if (name.startsWith('@switchyard/')) closureOf(root, name.replace('@switchyard', 'packages'), found)
  return found
}

/**
 * Returns all parts by their names. A part has `sources`, files and folders; `output`, a file or folder that
 * exists when it is built; a `command`, which runs in the folder `cwd`; and `after`, the part that has to be
 * built before. A bundle has the name of its folder and no command, because one process builds all bundles.
 */
export function listParts(root) {
  const parts = new Map()
  parts.set(databaseClient, {
    sources: ['packages/db/prisma/schema.prisma', 'packages/db/prisma.config.ts', 'packages/db/scripts'],
    output: 'packages/db/src/generated',
    cwd: 'packages/db',
    command: [node, 'scripts/generate.mjs'],
  })
  parts.set('banner', {
    sources: ['packages/banner'],
    output: 'packages/banner/dist/banner.js',
    cwd: 'packages/banner',
    command: [node, 'scripts/bundle.mjs'],
  })
  parts.set('pages', {
    sources: [
      `${pagesFolder}/web`,
      `${pagesFolder}/package.json`,
      'packages/banner',
      'packages/domain',
      bundler,
    ],
    output: `${pagesFolder}/dist/web`,
    cwd: pagesFolder,
    env: { NODE_ENV: 'production' },
    command: [node, 'node_modules/vite/bin/vite.js', 'build', 'web', '--logLevel', 'warn'],
  })
  parts.set(typesOfApi, {
    sources: [`${pagesFolder}/openapi-ts.config.ts`, 'packages/contracts/openapi.json'],
    output: `${pagesFolder}/web/src/generated`,
    cwd: pagesFolder,
    command: [node, 'node_modules/@hey-api/openapi-ts/bin/run.js'],
  })
  parts.set(typesOfCommand, {
    sources: ['packages/cli/package.json', 'packages/contracts/openapi.json'],
    output: 'packages/cli/src/generated',
    cwd: 'packages/cli',
    command: [
      node,
      'node_modules/openapi-typescript/bin/cli.js',
      '../contracts/openapi.json',
      '--default-non-nullable=false',
      '--output',
      'src/generated/api.d.ts',
    ],
  })
  parts.set('clients', {
    sources: [`${pagesFolder}/clients.json`, 'LICENSE', bundler, ...clientsOf(root)],
    output: `${pagesFolder}/dist/clients`,
    cwd: pagesFolder,
    command: [node, '../../ops/bundler/pack-clients.mjs'],
  })
  for (const folder of listPackages(root).filter((each) => manifestOf(root, each).bundle))
    parts.set(folder, {
      sources: [bundler, ...bundledFolders(root, folder)],
      output: `${folder}/dist/bundle`,
      after: databaseClient,
    })
  return parts
}

/** Returns the folders of a bundle. The pages and the clients are not part of the bundle of the console. */
const bundledFolders = (root, folder) =>
  folder === pagesFolder
    ? [`${folder}/src`, `${folder}/package.json`, ...closureOf(root, 'packages/service-kit')]
    : closureOf(root, folder)

function clientsOf(root) {
  const clients = JSON.parse(readFileSync(join(root, pagesFolder, 'clients.json'), 'utf8'))
  return new Set(
    clients.flatMap((client) => [...closureOf(root, client.package.replace('@switchyard', 'packages'))]),
  )
}

/** Returns the other parts. A release is already built, and has no sources. */
const except = (root, names) =>
  release ? [] : [...listParts(root).keys()].filter((name) => !names.includes(name))

/** Returns the names of the parts that `npm start` runs. The backup is built when it is requested. */
export const partsOfStart = (root) => except(root, [typesOfApi, typesOfCommand, 'packages/backup'])

/** Returns the names of all parts that run, in tests and in a release. */
export const partsThatRun = (root) => except(root, [typesOfApi, typesOfCommand])

/** The names of the parts that checks read. */
export const partsOfChecks = [databaseClient, 'banner', typesOfApi, typesOfCommand]
