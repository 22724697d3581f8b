import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { extract, pack } from 'tar-stream'

/** `e_machine` in the header of a program, by the image's name of the architecture. */
const machines = { amd64: 62, arm64: 183 }

/** Returns the architecture of a program or a library; undefined for any other file. */
function architectureOf(content) {
  if (content.length < 20 || content.readUInt32BE(0) !== 0x7f454c46) return undefined
  const machine = content.readUInt16LE(18)
  return Object.keys(machines).find((name) => machines[name] === machine) ?? `machine ${machine}`
}

/**
 * The files that a layer of an image adds. The same files result in the same bytes, in any order of adding.
 */
export class Layer {
  entries = new Map()

  /**
   * Adds an entry.
   *
   * @param entry `mode`, `uid`; `linkname` for a link of the `type` symlink or link; `type` directory
   */
  add(path, entry, content = Buffer.alloc(0)) {
    for (let parent = dirname(path); parent !== '.' && !this.entries.has(parent); parent = dirname(parent))
      this.entries.set(parent, { entry: { type: 'directory', mode: 0o755 }, content: Buffer.alloc(0) })
    this.entries.set(path, { entry: { type: 'file', mode: 0o644, ...entry }, content })
  }

  /**
   * Adds all files and links below a folder.
   *
   * @param modeOf the mode of a file, by its path below the folder
   */
  addFolder(folder, at, modeOf = () => 0o644) {
    for (const found of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const path = relative(folder, join(found.parentPath, found.name))
      const to = join(at, path)
      if (found.isSymbolicLink())
        this.add(to, { type: 'symlink', linkname: readlinkSync(join(folder, path)) })
      else if (found.isFile()) this.add(to, { mode: modeOf(path) }, readFileSync(join(folder, path)))
    }
  }

  /**
   * Adds the content of an archive.
   *
   * @param pathOf returns the target of a path of the archive; null: it is left out
   */
  async addTar(tar, pathOf) {
    const reader = extract()
    reader.end(tar)
    for await (const file of reader) {
      const content = await buffer(file)
      const { name, type, mode, linkname } = file.header
      const path = pathOf(name)
      if (path === null) continue
      const target = type === 'link' ? pathOf(linkname) : linkname
      if (type !== 'directory') this.add(path, { type, mode, ...(target && { linkname: target }) }, content)
      else if (!this.entries.has(path)) this.add(path, { type, mode })
    }
  }

  get(path) {
    return this.entries.get(path)?.content
  }

  /**
   * Refuses programs of other architectures.
   *
   * @throws Error when a program is of another architecture
   */
  refuseOtherThan(architecture) {
    for (const [path, { content }] of this.entries) {
      const found = architectureOf(content)
      if (found !== undefined && found !== architecture) throw new Error(`${path} is for ${found}`)
    }
  }

  async pack(mtime) {
    const tar = pack()
    // A hard link comes after its file.
    const order = ([path, { entry }]) => `${entry.type === 'link' ? 1 : 0}${path}`
    const sorted = [...this.entries].sort((a, b) => (order(a) < order(b) ? -1 : 1))
    for (const [path, { entry, content }] of sorted) {
      const name = entry.type === 'directory' ? `${path}/` : path
      tar.entry(
        { ...entry, name, mtime, uid: entry.uid ?? 0, gid: entry.uid ?? 0, size: content.length },
        content,
      )
    }
    tar.finalize()
    return buffer(tar)
  }
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex')

/**
 * Creates an archive of an image, which podman, skopeo and containerd load (OCI image layout). The same
 * layers result in the same bytes.
 *
 * @param image `name` with its tag, `architecture`, `created`, the `config` of its containers, and its
 * layers, the lowest first
 */
export async function makeOciArchive({ name, architecture, created, config, layers }) {
  const blobs = new Map()
  const addBlob = (mediaType, content) => {
    const digest = sha256(content)
    blobs.set(`blobs/sha256/${digest}`, content)
    return {
      mediaType: `application/vnd.oci.image.${mediaType}`,
      digest: `sha256:${digest}`,
      size: content.length,
    }
  }
  const addJson = (mediaType, value) => addBlob(mediaType, Buffer.from(JSON.stringify(value)))
  const diffIds = []
  const descriptors = []
  for (const layer of layers) {
    const tar = await layer.pack(created)
    diffIds.push(`sha256:${sha256(tar)}`)
    descriptors.push(addBlob('layer.v1.tar+gzip', gzipSync(tar, { level: 6 })))
  }
  const settings = addJson('config.v1+json', {
    created: created.toISOString(),
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: diffIds },
    history: diffIds.map(() => ({ created: created.toISOString(), created_by: 'pnpm release' })),
  })
  const manifest = addJson('manifest.v1+json', {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: settings,
    layers: descriptors,
  })
  const index = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.index.v1+json',
    manifests: [
      {
        ...manifest,
        platform: { architecture, os: 'linux' },
        annotations: { 'org.opencontainers.image.ref.name': name },
      },
    ],
  }
  const tar = pack()
  const add = (path, content) => tar.entry({ name: path, mode: 0o644, mtime: created }, content)
  add('oci-layout', '{"imageLayoutVersion":"1.0.0"}')
  add('index.json', JSON.stringify(index))
  for (const [path, content] of [...blobs].sort()) add(path, content)
  tar.finalize()
  return buffer(tar)
}
