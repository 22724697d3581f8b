#!/usr/bin/env node
// Copies what a service needs to run, from the package in the working folder: its bundle, the packages
// outside of the bundle with their dependencies, and sbom.cdx.json, which lists the libraries of both and of
// pages. The argument names the new folder.
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CopiedPackages, copyFiles } from './copy-packages.mjs'
import { imported } from './outside.mjs'
import { packagesOf, readManifest } from './packages-of.mjs'
import { makeSbom, npmComponent, withComponents } from './sbom.mjs'

const [target] = process.argv.slice(2)
if (!target || existsSync(target)) throw new Error('usage: ship-bundle NEW_FOLDER')

const packages = new CopiedPackages(target)
const own = resolve('.')
const manifest = readManifest(own)
copyFiles(own, target)
for (const folder of ['dist/bundle', 'dist/clients', 'dist/web'])
  if (existsSync(folder)) cpSync(folder, join(target, folder), { recursive: true })
const direct = Object.keys(manifest.dependencies)
for (const name of imported) if (direct.includes(name)) packages.add(name, own)
// Packages of which the bundle reads files, but loads no module.
for (const name of manifest.bundle.reads ?? []) packages.add(name, own)

const readList = (file) => JSON.parse(readFileSync(file, 'utf8'))
const bundled = readList('dist/bundle/packages.json')
const ofPages = ['dist/browser-packages.json', 'dist/client-packages.json']
  .filter((file) => existsSync(file))
  .flatMap(readList)
const outside = packagesOf(packages.manifests())
// A package that is both in the bundle and beside it would be listed twice.
const list = withComponents(
  makeSbom(manifest, [...bundled, ...outside]),
  ofPages.map((item) => npmComponent(item)),
)
writeFileSync(join(target, 'sbom.cdx.json'), `${JSON.stringify(list, null, 2)}\n`)
