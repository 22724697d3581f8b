// Fingerprints of the inputs of an installation and a build.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'

const workspaceFolders = ['packages', 'services']
const generatedFolders = new Set(['node_modules', 'dist', '.turbo', 'generated', 'test'])

const projects = (root) =>
  workspaceFolders.flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(root, folder, entry.name)),
  )

/** A fingerprint of the lockfile, the manifests, and the version of Node that runs install scripts. */
export function installStamp(root) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`)
  const manifests = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'].map((name) => join(root, name))
  for (const project of projects(root)) manifests.push(join(project, 'package.json'))
  for (const file of manifests.filter((file) => existsSync(file)))
    hash.update(relative(root, file)).update(readFileSync(file))
  return hash.digest('hex')
}

/** Whether every workspace package has build output. */
export const hasOutputs = (root) =>
  projects(root).every(
    (project) => !existsSync(join(project, 'tsconfig.json')) || existsSync(join(project, 'dist')),
  )

/** A fingerprint of the names and contents of the sources, the same for a copy of the checkout at another path. */
export function buildStamp(root) {
  const hash = createHash('sha256').update(installStamp(root))
  const sources = [
    join(root, 'proto'),
    join(root, 'tsconfig.base.json'),
    join(root, 'tsconfig.json'),
    join(root, 'turbo.json'),
    ...projects(root),
  ]
  for (const source of sources) addTree(hash, root, source)
  return hash.digest('hex')
}

function addTree(hash, root, path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isDirectory()) {
    hash.update(`${relative(root, path)} ${stat.size}\n`).update(readFileSync(path))
    return
  }
  for (const name of readdirSync(path).sort())
    if (!generatedFolders.has(name)) addTree(hash, root, join(path, name))
}
