#!/usr/bin/env node
// Copies what runs of the package in the working folder: its bundle, the packages that the bundle leaves outside with
// their dependencies, and sbom.cdx.json, which lists the libraries of both and of pages. The argument names the new folder.
import { cpSync, existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { imported } from './outside.mjs'
import { packagesOf, readManifest } from './packages-of.mjs'
import { makeSbom, npmComponent, withComponents } from './sbom.mjs'

const [target] = process.argv.slice(2)
if (!target || existsSync(target)) throw new Error('usage: ship-bundle NEW_FOLDER')

const copied = new Map()

/** Copies a package without modules: its manifest, the folders that are published, and what `exports` names as files. */
function copyFiles(folder, to) {
  const { files = [], exports = {} } = readManifest(folder)
  const named = Object.values(exports).filter((path) => typeof path === 'string' && !/\*|\.ts$/.test(path))
  for (const path of ['package.json', ...files.filter((file) => !/^!?dist\b/.test(file)), ...named])
    cpSync(join(folder, path), join(to, path), { recursive: true })
}

/**
 * Copies a package with all that it depends on; optional packages of other systems are not installed. A second version
 * of a package lies below the package that needs it.
 */
function copyPackage(name, from, { parent, optional = false } = {}) {
  const link = findPackage(name, from)
  if (link === undefined && optional) return
  if (link === undefined) throw new Error(`${from} depends on ${name}, which is not installed`)
  const folder = realpathSync(link)
  const top = join(target, 'node_modules', name)
  if (copied.get(top) === folder) return
  const to = copied.has(top) ? join(parent, 'node_modules', name) : top
  copied.set(to, folder)
  if (name.startsWith('@switchyard/')) return copyFiles(folder, to)
  cpSync(folder, to, {
    recursive: true,
    filter: (path) => !path.endsWith('.map') && path !== join(folder, 'node_modules'),
  })
  const { dependencies, optionalDependencies = {} } = readManifest(folder)
  for (const dependency of Object.keys({ ...dependencies, ...optionalDependencies }))
    copyPackage(dependency, folder, { parent: to, optional: dependency in optionalDependencies })
}

/** Where Node finds a package from a folder. */
function findPackage(name, from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(path)) return path
    if (folder === dirname(folder)) return undefined
  }
}

const own = resolve('.')
const manifest = readManifest(own)
copyFiles(own, target)
for (const folder of ['dist/bundle', 'dist/clients', 'dist/web'])
  if (existsSync(folder)) cpSync(folder, join(target, folder), { recursive: true })
const direct = Object.keys(manifest.dependencies)
for (const name of imported) if (direct.includes(name)) copyPackage(name, own)
// Packages of which the bundle reads files, but loads no module.
for (const name of manifest.bundle.reads ?? []) copyPackage(name, own)

const readList = (file) => JSON.parse(readFileSync(file, 'utf8'))
const bundled = readList('dist/bundle/packages.json')
const browserFile = 'dist/browser-packages.json'
const ofPages = existsSync(browserFile) ? readList(browserFile) : []
const outside = packagesOf([...copied.values()].map((folder) => join(folder, 'package.json')))
// What is in the bundle and beside it, too, would be listed twice.
const list = withComponents(
  makeSbom(manifest, [...bundled, ...outside]),
  ofPages.map((item) => npmComponent(item)),
)
writeFileSync(join(target, 'sbom.cdx.json'), `${JSON.stringify(list, null, 2)}\n`)
