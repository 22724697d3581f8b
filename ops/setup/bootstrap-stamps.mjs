// Fingerprints of the inputs of an installation and of the built parts.
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { listPackages } from './setup-parts.mjs'

const ignoredFolders = new Set(['node_modules', 'dist', '.turbo', 'generated', 'test'])
const isIgnored = (name) => ignoredFolders.has(name) || name.endsWith('.test.ts')

/**
 * Returns a fingerprint of the lockfile, the manifests, and the version of Node that runs install scripts.
 */
export function installStamp(root) {
  const hash = createHash('sha256').update(`${process.version} ${process.platform} ${process.arch}`)
  const manifests = ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', '.pnpmfile.cjs']
  for (const folder of listPackages(root)) manifests.push(join(folder, 'package.json'))
  for (const file of manifests.map((name) => join(root, name)).filter((file) => existsSync(file)))
    hash.update(relative(root, file)).update(readFileSync(file))
  return hash.digest('hex')
}

/**
 * Creates fingerprints of parts from the names and contents of their sources, equal for a copy of the
 * checkout at another path. Each source is read once.
 */
export function partStamps(root) {
  const common = createHash('sha256').update(installStamp(root))
  for (const name of ['tsconfig.base.json', 'tsconfig.json']) addTree(common, root, join(root, name))
  const start = common.digest('hex')
  const hashes = new Map()
  const hashOf = (source) => {
    if (!hashes.has(source)) {
      const hash = createHash('sha256')
      addTree(hash, root, join(root, source))
      hashes.set(source, hash.digest('hex'))
    }
    return hashes.get(source)
  }
  return ({ sources }) => {
    const hash = createHash('sha256').update(start)
    for (const source of sources) hash.update(hashOf(source))
    return hash.digest('hex')
  }
}

function addTree(hash, root, path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return
  if (!stat.isDirectory()) {
    hash.update(`${relative(root, path)} ${stat.size}\n`).update(readFileSync(path))
    return
  }
  for (const name of readdirSync(path).sort()) if (!isIgnored(name)) addTree(hash, root, join(path, name))
}
